import type { Logger } from 'pino';
import type { IdKind } from '../../entities/ids.ts';
import type { RunEvent } from '../../entities/run-event.ts';
import type { Settings } from '../../settings.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Knowledge } from '../knowledge/knowledge.ts';
import type { ModelRouter } from '../models/router.ts';
import type { ServerTools } from '../tools/server-tool.ts';
import { ActiveRuns } from './active-runs.ts';
import { createUsageLedger } from './ledger.ts';
import { type LoopDeps, runLoop } from './loop.ts';
import type { RunEngine, RunPlan } from './run-engine.ts';
import { RunScope } from './scope.ts';
import { eventStream } from './stream.ts';

export interface RunEngineDeps {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly models: ModelRouter;
  readonly knowledge: Pick<Knowledge, 'search'>;
  readonly jobs: Pick<Jobs, 'every'>;
  readonly logger: Logger;
  /** Tools that run here; none by default. */
  readonly tools?: ServerTools;
  now(): Date;
  newId(kind: IdKind): string;
}

/** Makes the engine of all runs of this process. */
export function createRunEngine(deps: RunEngineDeps): Pick<RunEngine, 'runStateless'> {
  const { settings } = deps;
  const ledger = createUsageLedger({ ...deps, store: deps.storage.usage });
  const active = new ActiveRuns(settings.RUNS_ACTIVE_MAX);
  const loopDeps: LoopDeps = {
    models: deps.models,
    ledger,
    tools: deps.tools ?? new Map(),
    roundsMax: settings.TOOL_ROUNDS_MAX,
    logger: deps.logger,
    newId: deps.newId,
    retrieve: (plan, signal) =>
      deps.knowledge.search(
        plan.orgId,
        plan.dataSourceIds,
        plan.question,
        { passagesMax: settings.RETRIEVAL_PASSAGES_MAX, tokensMax: settings.RETRIEVAL_TOKENS_MAX },
        signal,
      ),
  };

  async function* stateless(plan: RunPlan, signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    active.enter();
    const scope = new RunScope(settings.RUN_TIMEOUT_MS, signal);
    try {
      const start = { runId: plan.charge.runId ?? deps.newId('run'), firstSequence: 0, isEager: false, secrets: {} };
      yield* runLoop(plan, start, loopDeps, scope.signal);
    } finally {
      scope.close();
      active.leave();
    }
  }

  return {
    runStateless: (plan, signal) => eventStream(stateless(plan, signal)),
  };
}
