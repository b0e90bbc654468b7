import type { Passage } from '../../entities/knowledge/citation.ts';
import type { RunEventStream, RunStatus } from '../../entities/runs/event.ts';
import type { ResponseHead } from '../../entities/runs/response.ts';
import type { ShareOwner } from '../../lib/fair-share.ts';
import type { ModelMessage, ModelParameters, ModelRequest, ModelTool, ResponseFormat } from '../models/port.ts';
import type { AnswerCheck } from './answer/gate.ts';

/** What one run needs. Access is decided before: the engine knows no user, only whom to charge. */
export interface RunPlan {
  /** Full model id. */
  readonly modelId: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly toolChoice?: ModelRequest['toolChoice'];
  readonly parallelToolCalls?: boolean;
  readonly parameters: ModelParameters;
  readonly responseFormat?: ResponseFormat;
  readonly answerCheck?: AnswerCheck;
  /** Whether the client of the run reads deltas: a run that nobody streams may be fetched in one piece. */
  readonly isStreaming: boolean;
  /**
   * Nobody asks for what was said as a whole: text leaves with its deltas, and the closing events have none. So a long answer costs no memory,
   * however slowly it is read. Without effect where tools run here: their results go back to the model behind what was said.
   */
  readonly forgetsText?: boolean;
  /** Names of the tools of the service that the model may call; default: none. */
  readonly serverTools?: readonly string[];
  /** The model may also call the tools of the charged agent that run here. */
  readonly offersAgentTools?: true;
  /** The only tools, of whatever side, that may be called; absent: no limit. */
  readonly onlyTools?: readonly string[];
  /** Calls of tools of the service in the whole run, at most. */
  readonly toolCallsMax?: number;
  /** Of a response: stands in its first event. */
  readonly head?: ResponseHead;
  /** Most tokens of the first request, at four characters a token: passages that do not fit are left out. */
  readonly inputTokensMax?: number;
  /** What may be retrieved for the question; absent: no knowledge. */
  readonly knowledge?: KnowledgePlan;
  readonly generateCitations: boolean;
  /** Leaves out `parley.step`: for readers who are not shown what happens between question and answer. Default: steps are emitted. */
  readonly hidesSteps?: boolean;
  readonly charge: Charge;
}
export interface KnowledgePlan {
  readonly orgId: string;
  /** Sources the caller may be answered from; retrieval filters by them in its SQL. */
  readonly dataSourceIds: readonly string[];
  /** What the run itself searches for; '' for nothing. Subagents have questions of their own. */
  readonly question: string;
}
export interface Charge {
  readonly tenantId: string;
  readonly orgId: string;
  readonly userId: string;
  readonly keyId: string;
  readonly agentId: string | null;
  readonly runId: string | null;
}

/** What this process has done since it began. */
export interface RunCounts {
  /** Runs by the status they ended with. */
  readonly ended: Iterable<readonly [RunStatus, number]>;
  readonly tokens: Iterable<readonly ['input' | 'output', number]>;
}

export interface RunEngine {
  readonly counts: RunCounts;
  /** Charges for the calls of killed processes whose rows are in the journal only; to be awaited before the first request. */
  recoverUsage(): Promise<void>;
  /**
   * Runs without keeping anything but the ledger row. Starts at the first read; ends with exactly one terminal event, also after a
   * failure in mid-run.
   *
   * @throws DomainError from the first read when the upstream refused before the first token, so a face can still answer 4xx/5xx.
   */
  runStateless(plan: RunPlan, signal: AbortSignal, secrets?: Readonly<Record<string, string>>): RunEventStream;
  /**
   * Asked before the row of a stored run is written.
   *
   * @throws DomainError, thrown or rejected: OVERLOADED while this process has as many runs as it may, RATE_LIMIT_EXCEEDED while the
   *   organization or its tenant has its share, INSUFFICIENT_QUOTA when the
   *   organization has used up its limit.
   */
  requireRoom(owner: ShareOwner): undefined | Promise<undefined>;
  /** Names this process among those on the same database: as the holder of runs whose secrets it alone has. */
  readonly owner: string;
  /** Equal for equal secrets, in this process only: it is made with a key that never leaves it. Null for none. */
  fingerprint(secrets: Readonly<Record<string, string>>): string | null;
  /**
   * Takes a stored run (its row is written) and works it through in this process, whatever becomes of its reader.
   *
   * @param secrets  for tools; they live in memory only: another process ends the run instead of beginning it again without them.
   */
  startStored(runId: string, secrets?: Readonly<Record<string, string>>): void;
  /** Keeps secrets for a run that waits for its thread, and begins it when its turn comes; one that has begun here gets them. */
  expectStored(runId: string, secrets: Readonly<Record<string, string>>): void;
  /** What a stored run has said until now, without following it. */
  replay(runId: string): RunEventStream;
  /** Asks the run to pause at the next boundary; resolves when it is paused or over. @returns false when it was not at work. */
  pause(runId: string): Promise<boolean>;
  /** Tells whoever works on the run that something was put into it. */
  announce(runId: string): void;
  /** Ends a run as cancelled at once, whoever works on it: what that one still writes does not count. Its output leaves its chat. */
  cutOff(runId: string): Promise<void>;
  /** Replays the log after `afterSequence` (-1: all of it), then follows the run to its terminal event. A reader that leaves stops nothing. */
  follow(runId: string, afterSequence: number, signal: AbortSignal): RunEventStream;
  /** Asks the run to stop at the next boundary, wherever it runs; resolves when its terminal event is stored. */
  cancel(runId: string): Promise<void>;
  /**
   * Nothing is begun from here on, and what runs is ended: as failed, with what it said so far. A stored run that has said nothing, and that
   * nobody waits for, is left to the next process. Readers of what goes on without this process get OVERLOADED: they may come back.
   */
  endAll(): void;
  /** Lets running work end by itself for most of `graceMs`, then does `endAll`. Resolves once the ledger is written. */
  stop(graceMs: number): Promise<void>;
}
export type Retrieve = (plan: KnowledgePlan, signal: AbortSignal) => Promise<readonly Passage[]>;
