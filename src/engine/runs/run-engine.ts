import type { FlowPlan } from '../../entities/agents/flow.ts';
import type { Passage } from '../../entities/knowledge/citation.ts';
import type { Retrieval } from '../../entities/knowledge/retrieval.ts';
import type { SearchedQuestion, Turn } from '../../entities/knowledge/searched-question.ts';
import type { RunEventStream, RunStatus } from '../../entities/runs/event.ts';
import type { ResponseHead } from '../../entities/runs/response.ts';
import type { EnabledTool, ToolType } from '../../entities/runs/tool.ts';
import type { Warning } from '../../entities/warning.ts';
import type { ShareOwner } from '../../lib/fair-share.ts';
import type { EmbeddingRequest, ModelMessage, ModelParameters, ModelRequest, ModelTool, ResponseFormat } from '../models/port.ts';
import type { EmbeddingModel } from '../models/router.ts';
import type { ProviderRouting } from '../models/routing.ts';
import type { AnswerCheck } from './answer/gate.ts';
import type { Approvals } from './prompt/approvals.ts';
import type { RunTimings } from './usage/timings.ts';

/** Everything one run needs. Access is checked before: the engine knows no user, only whom to charge. */
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
  /** Whether the client reads deltas. If not, the model may be asked for its answer in one piece. */
  readonly isStreaming: boolean;
  /** Nobody reads the answer before its end: where another model may be asked, one that breaks off gives nothing. */
  readonly isWhole?: true;
  /**
   * The client reads deltas only: the closing events have no text, so a long answer costs no memory, however slowly it is read. No
   * effect where tools run in the service: the model gets the text back with their results.
   */
  readonly forgetsText?: boolean;
  /** The service's tools that the model may call; default: none. */
  readonly serviceTools?: readonly EnabledTool[];
  /** `toolChoice` is `required`, and a function of this tool must be called. */
  readonly forcedTool?: ForcedTool;
  /** The chat that the run answers; null or absent for a stateless run. */
  readonly chatId?: string | null;
  /** The chat whose files a stateless run may read besides its own; it adds none to it. */
  readonly readsFilesOf?: string;
  /** The model may also call those tools of the charged agent that run in the service. */
  readonly offersAgentTools?: true;
  /** The model may also read the skills of the charged agent. */
  readonly offersSkills?: true;
  /** The only functions that may be called beside those of `serviceTools`; absent: no limit. */
  readonly onlyTools?: readonly string[];
  /** Nobody can approve a call: tools that wait for approval are not offered. */
  readonly mayNotAsk?: true;
  /** Answers to calls that waited for a person, at the end of `messages`. */
  readonly approvals?: Approvals;
  /** Which providers may answer. */
  readonly routing?: ProviderRouting;
  /** Answers instead of the plain loop. */
  readonly flow?: FlowPlan;
  /** Most calls of the service's tools in the whole run. */
  readonly toolCallsMax?: number;
  /** What of the agent has no effect on the run: part of its first event. */
  readonly warnings?: readonly Warning[];
  /** For a response: part of its first event. */
  readonly head?: ResponseHead;
  /** Most tokens of the first request, at four characters a token; passages that do not fit are left out. */
  readonly inputTokensMax?: number;
  /** What may be retrieved for the question; absent: no knowledge. */
  readonly knowledge?: KnowledgePlan;
  readonly generateCitations: boolean;
  /** Leaves out `parley.step` and hides the steps of a flow, for readers who may not see the steps between question and answer. Default: steps are emitted. */
  readonly hidesSteps?: boolean;
  /** Shows `hiddenText` in place of what tools return, for readers who see the answer only. The model reads it all the same. */
  readonly hidesOutputs?: boolean;
  /** For a subagent: the agents above it in the run, the topmost first. */
  readonly askedBy?: readonly string[];
  readonly charge: Charge;
}
/** The tool of the service that a request forces. */
export interface ForcedTool {
  readonly type: ToolType;
  /** Of an MCP server. */
  readonly label?: string;
  /** One tool of that server, by its name there. */
  readonly tool?: string;
}
export interface KnowledgePlan {
  readonly orgId: string;
  /** Sources the caller may be answered from; retrieval filters by them in its SQL. */
  readonly dataSourceIds: readonly string[];
  /** The question that the run searches for; '' for no search. Subagents have questions of their own. */
  readonly question: string;
  /** What was said before the question, oldest first. */
  readonly earlier?: readonly Turn[];
}
export interface Charge {
  readonly tenantId: string;
  readonly orgId: string;
  readonly userId: string;
  /** Null for work in the background. */
  readonly keyId: string | null;
  readonly agentId: string | null;
  readonly runId: string | null;
}

/** Totals of this process since it started. */
export interface RunCounts {
  /** Runs by final status. */
  readonly ended: Iterable<readonly [RunStatus, number]>;
  readonly timings: RunTimings;
}

export interface EmbeddingCall {
  readonly model: EmbeddingModel;
  readonly request: Omit<EmbeddingRequest, 'model'>;
  readonly inputTokens: number;
}
export interface ChargedEmbeddings {
  readonly vectors: readonly (readonly number[])[];
  readonly tokens: number;
}

export interface RunEngine {
  readonly counts: RunCounts;
  /** Charges for calls of killed processes whose rows are only in the journal. Await it before the first request. */
  recoverUsage(): Promise<void>;
  /**
   * Runs without storing anything but the ledger row. Starts at the first read; ends with exactly one terminal event, also after a failure.
   *
   * @throws DomainError from the first read when the upstream refused before the first token, so an API can still answer 4xx or 5xx.
   */
  runStateless(plan: RunPlan, signal: AbortSignal, secrets?: Readonly<Record<string, string>>): RunEventStream;
  /**
   * Called before the row of a stored run is written.
   *
   * @throws DomainError, thrown or rejected: OVERLOADED while this process has as many runs as it may; RATE_LIMIT_EXCEEDED while
   * the organization or its tenant holds its share; INSUFFICIENT_QUOTA when the organization's limit is used up.
   */
  requireRoom(owner: ShareOwner): undefined | Promise<undefined>;
  /** Estimates the input tokens of the first model request of a run. No model is asked, nothing is stored. */
  countInput(plan: RunPlan, signal: AbortSignal): Promise<number>;
  /**
   * Makes vectors with EMBEDDING_MODEL: reserves tokens before, charges the ledger after.
   *
   * @param inputTokens  an upper estimate, charged where the provider counts none.
   * @throws DomainError INSUFFICIENT_QUOTA; ModelError.
   */
  embed(charge: Charge, request: EmbeddingCall, signal: AbortSignal): Promise<ChargedEmbeddings>;
  /** Has the model of QUERY_REWRITE_MODEL write out a question that continues a conversation; undefined without it. See prompt/rewrite.ts. */
  readonly rewriteQuestion: RewriteQuestion;
  /** Identifies this process among those on the same database, as the only holder of some runs' secrets. */
  readonly owner: string;
  /** Equal for equal secrets, within this process: its key never leaves the process. Null for none. */
  fingerprint(secrets: Readonly<Record<string, string>>): string | null;
  /**
   * Takes a stored run (its row is written) and works on it until its end, even when its reader leaves.
   *
   * @param secrets  for tools, in memory only: another process ends the run instead of restarting it without them.
   */
  startStored(runId: string, secrets?: Readonly<Record<string, string>>): void;
  /**
   * Keeps the secrets of a run that waits for its thread and starts the run when its turn comes. A run that works here already gets the secrets.
   */
  expectStored(runId: string, secrets: Readonly<Record<string, string>>): void;
  /** The events of a stored run until now, without following it. */
  replay(runId: string): RunEventStream;
  /** Pauses the run at its next boundary; resolves when it is paused or over. @returns false when it was not at work. */
  pause(runId: string): Promise<boolean>;
  /** Tells the process that works on the run that messages were added to it. */
  announce(runId: string): void;
  /**
   * Ends a run as cancelled at once, in whichever process it works: later writes of that process do not count. Its output is removed from its chat.
   */
  cutOff(runId: string): Promise<void>;
  /** Replays the log after `afterSequence` (-1: all of it), then follows the run to its terminal event. A reader that leaves stops nothing. */
  follow(runId: string, afterSequence: number, signal: AbortSignal): RunEventStream;
  /** Stops the run at its next boundary, in whichever process it works; resolves when its terminal event is stored. */
  cancel(runId: string): Promise<void>;
  /**
   * Starts nothing from now on, and ends the runs at work as failed, with what they said so far. A stored run without output that
   * no reader waits for is left to the next process. Readers of runs that go on elsewhere get OVERLOADED and may come back.
   */
  endAll(): void;
  /** Lets runs end by themselves for most of `graceMs`, then calls `endAll`. Resolves once the ledger is written. */
  stop(graceMs: number): Promise<void>;
}
/** Finds passages for a run; the charge is that of the run. */
export type Retrieve = (
  plan: KnowledgePlan & { readonly charge: Charge },
  signal: AbortSignal,
) => Promise<{
  readonly passages: readonly Passage[];
  readonly retrieval: Retrieval;
  readonly searched: SearchedQuestion;
}>;

/** Rewrites a question that continues a conversation. */
export type RewriteQuestion = (
  question: string,
  earlier: readonly Turn[],
  charge: Charge,
  signal: AbortSignal,
) => Promise<string | undefined>;
