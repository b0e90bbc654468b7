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
import { RunStop } from './stop.ts';
import { StoredRuns } from './stored/stored-runs.ts';
import { eventStream } from './stream.ts';

/** Time for runs that were stopped to write their end. */
const lastWordsMs = 3_000;

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
export function createRunEngine(deps: RunEngineDeps): RunEngine {
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

  const scopes = new Set<RunScope>();
  const stored = new StoredRuns({ ...deps, loop: loopDeps, active });

  async function* stateless(plan: RunPlan, signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    active.requireRoom();
    active.enter();
    const scope = new RunScope(settings.RUN_TIMEOUT_MS, signal);
    scopes.add(scope);
    try {
      const start = { runId: plan.charge.runId ?? deps.newId('run'), firstSequence: 0, isEager: false, secrets: {} };
      yield* runLoop(plan, start, loopDeps, scope.signal);
    } finally {
      scopes.delete(scope);
      scope.close();
      active.leave();
    }
  }

  return {
    runStateless: (plan, signal) => eventStream(stateless(plan, signal)),
    requireRoom: () => active.requireRoom(),
    startStored: (runId, secrets = {}) => stored.start(runId, secrets),
    follow: (runId, afterSequence, signal) => eventStream(stored.follow(runId, afterSequence, signal)),
    cancel: (runId) => stored.cancel(runId),
    async stop(graceMs) {
      stored.stopTaking();
      await active.idle(graceMs);
      stored.stopAll();
      for (const scope of scopes) scope.stop(new RunStop('shutdown', 'The service was stopped'));
      await active.idle(lastWordsMs);
      stored.close();
      await ledger.stop(graceMs);
    },
  };
}
