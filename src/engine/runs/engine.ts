import { createHmac, randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { isTerminal, type RunEvent, type RunStatus } from '../../entities/conversations/runs/event.ts';
import type { IdKind } from '../../entities/ground/ids.ts';
import { Counter } from '../../lib/flow/counter.ts';
import type { Settings } from '../../settings.ts';
import type { UsageJournal } from '../../storage/operations/usage/journal.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Knowledge } from '../knowledge/knowledge.ts';
import type { ModelRouter } from '../models/router.ts';
import type { Charge, Retrieve, RunPlan } from '../plan/plan.ts';
import type { Pools } from '../sharing/pools.ts';
import type { AgentTools } from '../tools/agents/agent-tools.ts';
import type { SubagentPlan } from '../tools/agents/subagents.ts';
import type { AgentServers } from '../tools/mcp/agent-servers.ts';
import { ToolRegistry } from '../tools/registry.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { createUsageLedger } from '../usage/ledger.ts';
import type { UsageLimits } from '../usage/limits.ts';
import { RunTimings } from '../usage/timings.ts';
import { openRunFiles } from './calls/run-files.ts';
import { ActiveRuns } from './control/active-runs.ts';
import type { LoopDeps } from './control/loop-deps.ts';
import { RunScope, RunStop } from './control/stop.ts';
import { type UnstoredEnd, unstoredRow } from './control/unstored.ts';
import { eventStream } from './events/stream.ts';
import { countInputTokens } from './loop/input-tokens.ts';
import { runLoop } from './loop/loop.ts';
import { withFileImages } from './model/file-images.ts';
import { createRewriteQuestion } from './model/rewrite.ts';
import { chargedEmbeddings } from './record/embeddings.ts';
import { RunRecorder } from './record/recorder.ts';
import type { RecordedRun, RunEngine } from './run-engine.ts';
import { StoredRuns } from './stored/stored-runs.ts';

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
  const { settings } = deps;
  const { tracing } = deps;
  const timings = new RunTimings(deps.models);
  const counts = { ended: new Counter<RunStatus>(['completed', 'incomplete', 'failed', 'cancelled']), timings };
  const ledger = createUsageLedger({ ...deps, store: deps.storage.operations.usage, timings });
  const active = new ActiveRuns(deps.pools.admission('active-runs', { max: settings.RUNS_ACTIVE_MAX, what: 'concurrent runs' }));
  const loopDeps: LoopDeps = {
    models: deps.models,
    ledger,
    limits: deps.limits,
    tools: deps.tools ?? new ToolRegistry([]),
    ...(deps.agentTools === undefined ? {} : { agentTools: deps.agentTools }),
    ...(deps.agentServers === undefined ? {} : { agentServers: deps.agentServers }),
    ...(deps.subagentPlan === undefined ? {} : { subagentPlan: deps.subagentPlan }),
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
    askApproval: (approval) => deps.storage.conversations.approvals.ask(approval),
    filesOf: (plan) => openRunFiles(deps, plan),
    async withImages(messages, { modelId, charge: { orgId } }, files, bytesLeft, signal) {
      const acceptsImages = (await deps.models.find(modelId))?.acceptsImages ?? false;
      return withFileImages(messages, { orgId, acceptsImages, files, bytesLeft }, deps.storage.blobs, signal);
    },
    logger: deps.logger,
    tracing,
    timings,
    now: deps.now,
    newId: deps.newId,
    retrieve: (plan, signal) => timings.retrieval(retrieve(plan, signal)),
  };
  const rewriteQuestion = createRewriteQuestion(settings.QUERY_REWRITE_MODEL, { ...deps, ledger });

  async function retrieve(...[plan, signal]: Parameters<Retrieve>): Promise<Awaited<ReturnType<Retrieve>>> {
    const { earlier = [], ...searchQuestion } = plan;
    const limits = { passagesMax: settings.RETRIEVAL_PASSAGES_MAX, tokensMax: passageTokensMax };
    const rewrittenQuestion = await rewriteQuestion(plan.question, earlier, plan.charge, signal);
    if (rewrittenQuestion === undefined) return deps.knowledge.search(plan, limits, signal);
    const passageMatches = await deps.knowledge.search({ ...searchQuestion, question: rewrittenQuestion }, limits, signal);
    return { ...passageMatches, searched: { ...passageMatches.searched, rewrite: 'model' } };
  }

  const scopes = new Set<RunScope>();
  /** Of runs without a loop that are under way, by their ids. */
  const recorders = new Map<string, RunRecorder>();
  const storedRuns = new StoredRuns({ ...deps, loop: loopDeps, active, onEnded: (status) => counts.ended.add(status) });

  /** Counts the run from its first read to its end, and leaves its row. Adds no generator between the loop and the reader. */
  function stateless(
    plan: RunPlan,
    signal: AbortSignal,
    secrets: Readonly<Record<string, string>>,
  ): AsyncIterableIterator<readonly RunEvent[]> {
    let scope: RunScope | undefined;
    let isOver = false;
    let hasEnded = false;
    /** A reader that leaves before the end cancels the run. */
    let status: RunStatus = 'cancelled';
    let events: AsyncGenerator<readonly RunEvent[]> | undefined;
    let recorder: RunRecorder | undefined;
    const runId = plan.charge.runId ?? deps.newId('run');
    /** Once, at the end. */
    const leaveRow = (how: UnstoredEnd) => {
      if (recorder === undefined) return;
      const { kind = 'completion', charge, modelId } = plan;
      const row = unstoredRow({ id: runId, kind, charge, modelId }, recorder, how);
      recorder = undefined;
      ledger.noteRun(row);
    };
    const begin = () => {
      active.requireShare(plan.charge);
      active.enter(plan.charge);
      scope = new RunScope(settings.RUN_TIMEOUT_MS, signal);
      scopes.add(scope);
      recorder = new RunRecorder(deps);
      const start = { runId, firstSequence: 0, isEager: false, secrets, recorder };
      return runLoop(plan, start, loopDeps, scope.signal);
    };
    const end = () => {
      isOver = true;
      if (scope === undefined) return;
      scopes.delete(scope);
      scope.close(hasEnded);
      scope = undefined;
      active.leave(plan.charge);
      counts.ended.add(status);
    };
    const step = (result: IteratorResult<readonly RunEvent[]>) => {
      const last = result.done === true ? undefined : result.value.at(-1);
      if (last !== undefined && isTerminal(last) && 'run' in last) {
        status = last.run.status;
        hasEnded = true;
        leaveRow({ run: last.run });
      }
      if (result.done === true) end();
      return result;
    };
    const fail = (error: unknown) => {
      status = 'failed';
      hasEnded = true;
      end();
      leaveRow({ failure: error });
      throw error;
    };
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next() {
        if (isOver) return Promise.resolve({ value: undefined, done: true });
        try {
          events ??= begin();
        } catch (error) {
          return Promise.reject(error);
        }
        return events.next().then(step, fail);
      },
      async return() {
        // Fire the signal first: the loop may be waiting for a silent upstream.
        end();
        await events?.return(undefined);
        // What the model was asked for is booked now.
        leaveRow('left');
        return { value: undefined, done: true };
      },
    };
  }

  async function recorded<T>(
    { kind, charge, modelId }: RecordedRun,
    work: (charge: Charge, recorder: RunRecorder) => Promise<T>,
  ): Promise<T> {
    const id = charge.runId ?? deps.newId('run');
    const recorder = new RunRecorder(deps);
    recorders.set(id, recorder);
    let end: UnstoredEnd = 'done';
    try {
      return await work({ ...charge, runId: id }, recorder);
    } catch (failure) {
      end = { failure };
      throw failure;
    } finally {
      recorders.delete(id);
      ledger.noteRun(unstoredRow({ id, kind, charge, modelId }, recorder, end));
    }
  }

  function endAll(): void {
    storedRuns.stopTaking();
    storedRuns.stopAll();
    for (const scope of scopes) scope.stop(new RunStop('shutdown', 'The service was stopped'));
  }

  return {
    counts,
    runStateless: (plan, signal, secrets = {}) => eventStream(stateless(plan, signal, secrets)),
    requireRoom(owner) {
      active.requireShare(owner);
      return deps.limits.requireLeft(owner.orgId, 'api');
    },
    countInput: (plan, signal) => countInputTokens(plan, loopDeps, signal),
    rewriteQuestion,
    recorded,
    embed: (charge, call, signal) => {
      const recorder = charge.runId === null ? undefined : recorders.get(charge.runId);
      return chargedEmbeddings({ limits: deps.limits, ledger, tracing, recorder }, charge, call, signal);
    },
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
        deps.logger.error({ err: error }, 'the last rows of the usage ledger could not be written');
      });
      await deps.limits.stop();
    },
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
