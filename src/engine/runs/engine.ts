import { createHmac, randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { RunStatus } from '../../entities/conversations/runs/event.ts';
import type { IdKind } from '../../entities/ground/ids.ts';
import { Counter } from '../../lib/flow/counter.ts';
import type { Settings } from '../../settings.ts';
import type { UsageJournal } from '../../storage/operations/usage/journal.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Knowledge } from '../knowledge/knowledge.ts';
import type { ModelRouter } from '../models/router.ts';
import type { Retrieve, RewriteQuestion } from '../plan/plan.ts';
import type { Pools } from '../sharing/pools.ts';
import type { AgentTools } from '../tools/agents/agent-tools.ts';
import type { SubagentPlan } from '../tools/agents/subagents.ts';
import type { AgentServers } from '../tools/mcp/agent-servers.ts';
import { ToolRegistry } from '../tools/registry.ts';
import { createGuards, type Guards } from '../tools/secrets/guards/guards.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { UsageLedger } from '../usage/ledger.ts';
import type { UsageLimits } from '../usage/limits.ts';
import { RunTimings } from '../usage/timings.ts';
import { openRunFiles } from './calls/run-files.ts';
import { ActiveRuns } from './control/active-runs.ts';
import type { LoopDeps } from './control/loop-deps.ts';
import { eventStream } from './events/stream.ts';
import { countInputTokens } from './loop/input-tokens.ts';
import { withFileImages } from './model/file-images.ts';
import { createRewriteQuestion } from './model/rewrite.ts';
import type { RunEngine } from './run-engine.ts';
import { StoredRuns } from './stored/stored-runs.ts';
import { RecordedWork } from './unstored/recorded-work.ts';
import { StatelessRuns } from './unstored/stateless-runs.ts';

/** Time of one subagent. */
const subagentTimeoutMs = 120_000;
/** Tokens that a subagent may write in one model call. */
const subagentOutputTokensMax = 4_096;
/** Tokens of passages given to a model for one question. */
const passageTokensMax = 4_000;

/** Time for stopped runs to write their end, and for readers to receive it. */
const endingMsMax = 3_000;

/** The part of a process's `graceMs` that is kept for that. */
export function endingMs(graceMs: number): number {
  return Math.min(endingMsMax, graceMs / 4);
}

/** Model calls of one subagent: it answers one question. */
const subagentRoundsMax = 4;
/** Levels of subagents below a run. */
const subagentDepthMax = 3;

export interface RunEngineDeps {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly models: ModelRouter;
  readonly knowledge: Pick<Knowledge, 'search'>;
  readonly jobs: Pick<Jobs, 'every'>;
  readonly limits: UsageLimits;
  readonly journal: UsageJournal;
  readonly pools: Pools;
  readonly logger: Logger;
  /** The tools of the service; default: none. */
  readonly tools?: ToolRegistry;
  readonly agentTools?: AgentTools;
  readonly agentServers?: AgentServers;
  /** Default: no agent can be asked as a subagent. */
  readonly subagentPlan?: SubagentPlan;
  /** Undefined while tracing is off. */
  readonly tracing?: Tracing | undefined;
  /** Base of links that Parley gives out, without a slash at the end. */
  publicUrl(): string;
  now(): Date;
  newId(kind: IdKind): string;
}

/** Makes the engine of all runs of this process. */
export function createRunEngine(deps: RunEngineDeps): RunEngine {
  const { settings, limits, logger } = deps;
  const timings = new RunTimings(deps.models);
  const counts = { ended: new Counter<RunStatus>(['completed', 'incomplete', 'failed', 'cancelled']), timings };
  const onEnded = (status: RunStatus) => counts.ended.add(status);
  const ledger = new UsageLedger({ ...deps, store: deps.storage.operations.usage, timings });
  const active = new ActiveRuns(deps.pools.admission('active-runs', { max: settings.RUNS_ACTIVE_MAX, what: 'concurrent runs' }));
  const guards = createGuards(deps.storage.agents.guards, logger, deps.now);
  const rewriteQuestion = createRewriteQuestion(settings.QUERY_REWRITE_MODEL, { ...deps, ledger, guards });
  const loop = createLoopDeps(deps, { ledger, timings, guards, retrieve: createRetrieve(deps, rewriteQuestion) });
  const statelessRuns = new StatelessRuns({
    loop: { ...loop, ledger: ledger.inRuns },
    ledger,
    active,
    timeoutMs: settings.RUN_TIMEOUT_MS,
    onEnded,
  });
  const storedRuns = new StoredRuns({ ...deps, loop, ledger, active, onEnded });
  const recordedWork = new RecordedWork({ ...deps, ledger });

  function endAll(): void {
    storedRuns.stopTaking();
    storedRuns.stopAll();
    statelessRuns.endAll();
  }

  return {
    counts,
    runStateless: (plan, signal, secrets = {}, allowance = undefined) =>
      eventStream(statelessRuns.open({ plan, signal, secrets, allowance })),
    requireRoom(owner) {
      active.requireShare(owner);
      return limits.requireLeft(owner, 'api');
    },
    countInput: (plan, signal) => countInputTokens(plan, loop, signal),
    rewriteQuestion,
    recorded: (run, work) => recordedWork.run(run, work),
    embed: (charge, call, signal) => recordedWork.embed(charge, call, signal),
    search: (charge, modelId, search) => recordedWork.search(charge, modelId, search),
    recoverUsage: () => ledger.recover(),
    owner: storedRuns.owner,
    fingerprint: createFingerprint(),
    startStored: (runId, secrets = {}) => storedRuns.start(runId, secrets),
    follow: (runId, afterSequence, signal) => eventStream(storedRuns.readers.follow(runId, afterSequence, signal)),
    expectStored: (runId, secrets) => storedRuns.expect(runId, secrets),
    replay: (runId) => eventStream(storedRuns.readers.replay(runId)),
    cancel: (runId, change) => storedRuns.cancel(runId, change),
    pause: (runId, change) => storedRuns.pause(runId, change),
    announce: (runId) => storedRuns.announce(runId),
    cutOff: (runId) => storedRuns.cutOff(runId),
    endAll,
    async stop(graceMs) {
      storedRuns.stopTaking();
      await active.idle(graceMs - endingMs(graceMs));
      endAll();
      await active.idle(endingMsMax);
      storedRuns.close();
      await ledger.stop(Math.max(graceMs, endingMsMax)).catch((error: unknown) => {
        logger.error({ err: error }, 'the last rows of the usage ledger could not be written');
      });
      await limits.stop();
      await guards.close().catch((error: unknown) => {
        logger.error({ err: error }, 'what guards have masked could not be counted');
      });
    },
  };
}

/** What all runs of the process work with. */
function createLoopDeps(
  deps: RunEngineDeps,
  {
    ledger,
    timings,
    retrieve,
    guards,
  }: Pick<LoopDeps, 'ledger' | 'retrieve'> & { readonly timings: RunTimings; readonly guards: Guards },
): LoopDeps {
  const { settings, storage, models, agentTools, agentServers, subagentPlan } = deps;
  return {
    ...{ models, guards, ledger, timings, limits: deps.limits, logger: deps.logger, tracing: deps.tracing },
    tools: deps.tools ?? new ToolRegistry([]),
    ...(agentTools === undefined ? {} : { agentTools }),
    ...(agentServers === undefined ? {} : { agentServers }),
    ...(subagentPlan === undefined ? {} : { subagentPlan }),
    roundsMax: settings.TOOL_ROUNDS_MAX,
    answerCharsMax: settings.ANSWER_MAX_CHARS,
    subagents: {
      countMax: settings.SUBAGENTS_MAX,
      timeoutMs: subagentTimeoutMs,
      outputTokensMax: subagentOutputTokensMax,
      roundsMax: subagentRoundsMax,
      tokensMax: settings.SUBAGENT_TOKENS_MAX,
      depthMax: subagentDepthMax,
      resultCharsMax: settings.TOOL_RESULT_MAX_CHARS,
    },
    askApproval: (approval) => storage.conversations.approvals.ask(approval),
    filesOf: (plan) => openRunFiles(deps, plan),
    async withImages(messages, { modelId, charge: { orgId } }, files, bytesLeft, signal) {
      const acceptsImages = (await models.find(modelId))?.acceptsImages ?? false;
      return withFileImages(messages, { orgId, acceptsImages, files, bytesLeft }, storage.blobs, signal);
    },
    now: deps.now,
    newId: deps.newId,
    retrieve: (plan, signal) => timings.retrieval(retrieve(plan, signal)),
  };
}

/** Finds passages, for the question as a model rewrote it where one did. */
function createRetrieve({ settings, knowledge }: RunEngineDeps, rewriteQuestion: RewriteQuestion): Retrieve {
  const limits = { passagesMax: settings.RETRIEVAL_PASSAGES_MAX, tokensMax: passageTokensMax };
  return async (plan, signal) => {
    const { earlier = [], ...searchQuestion } = plan;
    const rewrittenQuestion = await rewriteQuestion(plan.question, earlier, plan.charge, signal);
    if (rewrittenQuestion === undefined) return knowledge.search(plan, limits, signal);
    const passageMatches = await knowledge.search({ ...searchQuestion, question: rewrittenQuestion }, limits, signal);
    return { ...passageMatches, searched: { ...passageMatches.searched, rewrite: 'model' } };
  };
}

/** Makes the function behind RunEngine.fingerprint. */
function createFingerprint(): (secrets: Readonly<Record<string, string>>) => string | null {
  const key = randomBytes(32);
  return (secrets) => {
    const entries = Object.entries(secrets).sort(([leftName], [right]) => (leftName < right ? -1 : 1));
    if (entries.length === 0) return null;
    return createHmac('sha256', key).update(JSON.stringify(entries)).digest('base64url');
  };
}
