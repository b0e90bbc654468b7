import type { FlowStepRecord, FlowStepResult } from '../../agents/flow.ts';
import type { ErrorCode } from '../../ground/errors.ts';
import type { Warning } from '../../ground/warning.ts';
import type { Citation, Passage } from '../../knowledge/citation.ts';
import type { Retrieval } from '../../knowledge/retrieval.ts';
import type { SearchedQuestion } from '../../knowledge/searched-question.ts';
import type { NewMessage } from '../chats/chat.ts';
import type { ResponseHead } from './response.ts';
import type { RunStep } from './step.ts';
import type { CallOrigin, ThoughtOrigin } from './thought.ts';
import type { CallForm, ListedTool, OutputFile } from './tool.ts';
import type { Usage } from './usage.ts';

/** Why a run ended, or stopped, before its answer was whole. `max_tool_calls` and `timeout`: by a bound of the service or the request. */
export const incompleteReasons = ['max_output_tokens', 'content_filter', 'paused', 'max_tool_calls', 'timeout'] as const;
export type IncompleteReason = (typeof incompleteReasons)[number];

export const runStatuses = ['in_progress', 'completed', 'failed', 'incomplete', 'cancelled'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The cost of one model call of a run, as the ledger records it. */
export interface SpentCall {
  /** The id of its ledger row: the row exists once, whichever process writes it. */
  readonly entryId: string;
  readonly modelId: string;
  readonly usage: Usage;
  /** Absent in old logs, and for calls of subagents. */
  readonly durationMs?: number;
}

/** One search of a run for passages. */
export interface RetrievalRecord {
  readonly question: string;
  /** `hybrid`: by words and by meaning; `lexical`: by words alone. */
  readonly mode: string;
  /** Why meaning took no part although vectors are switched on; null otherwise. */
  readonly reason: string | null;
  readonly passages: readonly { readonly title: string; readonly score: number }[];
}

/** A document that a search found. */
export type FoundDocument = Pick<Passage, 'knowledgeItemId' | 'dataSourceId' | 'title'>;

/** What a search before an answer came to, where the agent shows it. */
export interface RetrievalDetail {
  /** How many passages the model gets. */
  readonly passages: number;
  /** Of their documents, each once. */
  readonly titles?: readonly string[];
  /** These documents, each once, so that whoever reads the event later sees what is open then; no API shows them. Absent in old logs. */
  readonly documents?: readonly FoundDocument[];
  readonly retrieval?: Retrieval;
  /** Present when the question was not searched as it was asked. */
  readonly searched?: SearchedQuestion;
  /** Knowledge could not be searched. */
  readonly isUnavailable?: true;
}

/**
 * What the last event of a stored run, and of each pause, keeps of the work of the process that writes it; no API shows it with the event.
 * Old logs have `calls` and `retrievals` instead of `steps`.
 */
export interface RunRecord {
  /** When the process began, in milliseconds since the epoch. */
  readonly startedAtMs?: number;
  /** All time that was worked on the run, in all processes. */
  readonly workedMs?: number;
  readonly steps?: readonly RunStep[];
  readonly calls?: readonly SpentCall[];
  readonly retrievals?: readonly RetrievalRecord[];
}

/** How likely a token of a text was, in the form of the responses format. */
export interface TokenLogprob {
  readonly token: string;
  /** The logarithm of its probability. */
  readonly logprob: number;
  /** In UTF-8; empty when the provider does not say. */
  readonly bytes: readonly number[];
  /** The likeliest tokens in its place. */
  readonly top_logprobs: readonly Omit<TokenLogprob, 'top_logprobs'>[];
}

/** What a run has used of its bounds, over all processes that worked on it. */
export interface RunSpent {
  /** Model calls, those of its subagents included. */
  readonly rounds: number;
  /** Calls of tools of the service that were begun, those of its subagents included. */
  readonly toolCalls: number;
  /** Time during which a process worked on it; pauses do not count. */
  readonly workedMs: number;
  /** Tokens of its subagents, of all levels; absent for none. */
  readonly subagentTokens?: number;
  /** Those of them that its own `deep_research` used; absent for none. */
  readonly researchTokens?: number;
}

/**
 * What happens to a call of a tool of the service whose process dies in its middle. `repeat`: it has no effect outside, or the same effect
 * however often it is made, so it is made again. `unknown`: it may have acted, so the run fails and says so. `end`: the run fails as interrupted;
 * in old logs only.
 */
export const lostCallRules = ['repeat', 'unknown', 'end'] as const;
export type LostCallRule = (typeof lostCallRules)[number];

export interface SelectionMetadata {
  readonly provider: string;
  readonly model: string;
  readonly fallbackChain: readonly { readonly provider: string; readonly model: string; readonly reason: string }[];
  readonly latencyHints: { readonly queueMs: number; readonly firstTokenMs: number | null };
}

export interface RunError {
  readonly code: ErrorCode;
  readonly message: string;
}

export type RunItem =
  | {
      readonly type: 'message';
      readonly id: string;
      readonly status: ItemStatus;
      readonly text: string;
      readonly citations: readonly Citation[];
      /** The model refused; the text is its refusal. */
      readonly isRefusal?: boolean;
      /** Present when the request asks for them and the provider reports them. */
      readonly logprobs?: readonly TokenLogprob[];
    }
  | {
      readonly type: 'function_call';
      readonly id: string;
      readonly status: ItemStatus;
      readonly callId: string;
      readonly name: string;
      readonly arguments: string;
      /** The tool runs in the service, and waits for a person's approval. */
      readonly approval?: true;
      /** The form of the call once it is made. */
      readonly form?: CallForm;
      /** Absent in old logs. */
      readonly origin?: CallOrigin;
    }
  | {
      readonly type: 'reasoning';
      readonly id: string;
      readonly status: ItemStatus;
      readonly text: string;
      /** Absent in old logs, and while the item is open. */
      readonly origin?: ThoughtOrigin;
    }
  | {
      readonly type: 'server_tool_call';
      readonly id: string;
      readonly status: ItemStatus | 'failed';
      readonly callId: string;
      readonly name: string;
      readonly arguments: string;
      /** Present for a call that the responses format has an item of its own for. Its result is in `result`, and no output item follows. */
      readonly form?: CallForm;
      readonly result?: CallResult;
      /** A person approved the call, which has the id of the call that asked. */
      readonly isApproved?: true;
      /** Absent in old logs. */
      readonly origin?: CallOrigin;
    }
  | ({
      readonly type: 'server_tool_call_output';
      readonly id: string;
      readonly status: 'completed' | 'failed';
      readonly callId: string;
    } & CallResult)
  | {
      readonly type: 'mcp_list_tools';
      readonly id: string;
      readonly status: 'completed' | 'failed';
      readonly serverLabel: string;
      readonly tools: readonly ListedTool[];
      readonly error: string | null;
    };

/** The result of a call of a tool of the service. */
export interface CallResult {
  /** What the model reads. */
  readonly output: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** The output is instructions of the agent: every reader of the run gets `confidentialText` instead. */
  readonly isConfidential?: true;
  /** The agent hides its intermediate steps: every reader of the run gets `hiddenText` instead. */
  readonly isHidden?: true;
  /** The output has passages of a MIRRORED source: the model of this run reads it, every reader of the run gets `mirroredText` instead. */
  readonly isMirrored?: true;
  /** Files that the call made; absent when it made none. */
  readonly files?: readonly OutputFile[];
}
/** What readers see of a confidential output. */
export const confidentialText = 'The content of a skill is shown to editors only.';

/** What readers see of an output where the agent hides its intermediate steps. */
export const hiddenText = 'The agent does not show the outputs of its tools.';

/** What readers, and later runs of a chat, get of passages that were open when they were found. */
export const mirroredText =
  'Passages were found whose source says who may open them. They are not repeated here: search again to see what is open now.';

type Shown = Pick<CallResult, 'output' | 'isConfidential' | 'isHidden' | 'isMirrored'>;

/** The output of a call as readers of the run see it: the one place that hides outputs. */
export function publicOutput({ output, isConfidential, isHidden, isMirrored }: Shown): string {
  if (isConfidential === true) return confidentialText;
  if (isMirrored === true && isHidden !== true) return mirroredText;
  return isHidden === true && output !== '' ? hiddenText : output;
}

/** The result of a call as readers of the run see it. */
export function publicResult(result: CallResult): Omit<CallResult, 'isConfidential' | 'isHidden' | 'isMirrored'> {
  const { isConfidential: _isConfidential, isHidden: _isHidden, isMirrored: _isMirrored, ...rest } = result;
  return { ...rest, output: publicOutput(result) };
}

/** The form of a call as readers of the run see it: passages that a search found are an output of it. */
export function publicForm(form: CallForm, result: CallResult | undefined): CallForm {
  const isClosed = result?.isHidden === true || result?.isMirrored === true;
  return form.type === 'file_search' && isClosed ? { ...form, results: [] } : form;
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export const subagentStatuses = ['in_progress', 'completed', 'failed', 'cancelled'] as const;
/** A model run inside a tool call of the service. It works on one task and knows nothing else of the conversation. */
export interface Subagent {
  readonly id: string;
  /** Shown to users. */
  readonly name: string;
  /** The agent whose knowledge it has; null for a bare model. */
  readonly agentId: string | null;
  /** The subagent that started it; null: the run itself did. */
  readonly parentId: string | null;
  readonly task: string;
  readonly status: (typeof subagentStatuses)[number];
  /** 1 below the run itself. */
  readonly depth: number;
}
export interface EndedSubagent extends Subagent {
  readonly status: Exclude<Subagent['status'], 'in_progress'>;
  /** Its findings, or the reason why there are none. */
  readonly summary: string;
  /** Part of the usage of its run; null when its process died. */
  readonly usage: Usage | null;
}

/** The state of a run as its lifecycle events carry it. */
export interface RunSnapshot {
  readonly runId: string;
  /** Of a run that is not stored: the model that was asked for, and the agent. A stored run has them in its row. */
  readonly modelId?: string;
  readonly agentId?: string | null;
  readonly status: RunStatus;
  readonly incompleteReason: IncompleteReason | null;
  readonly error: RunError | null;
  readonly usage: Usage | null;
  readonly selection: SelectionMetadata | null;
  readonly output: readonly RunItem[];
  /** The class of service that the provider reported last. */
  readonly serviceTier?: string;
  /** On the last event: the stop sequence of the request that ended the answer, where the provider says. */
  readonly stopSequence?: string;
  /** On the last event of a completed run: milliseconds since the epoch. */
  readonly completedAtMs?: number;
  /** On the last event of a run that was cut by `force`: its output is not in its chat. */
  readonly isCut?: true;
  /** On the last event of a run that a flow answers: its finished steps, where readers see them. */
  readonly flowSteps?: readonly FlowStepRecord[];
  /** On the last event of a stored run, and on a pause. */
  readonly record?: RunRecord;
  /** On a pause and the events after it. */
  readonly spent?: RunSpent;
  /** What of the agent or the request has no effect on the run: on `response.created` what is known before it, on the last event what it found. */
  readonly warnings?: readonly Warning[];
  /** On `response.created` of a response only: the members that all its frames repeat. */
  readonly head?: ResponseHead;
}

/**
 * The one vocabulary of every run, named after the responses format, the richest of the three formats. `sequence` starts at 0 and grows
 * by one without gaps; exactly one terminal event ends a run. `json` members are JSON string literals, quotes included, so the hot
 * path never decodes text (see engine/models/port.ts).
 */
export type RunEvent = { readonly sequence: number } & RunEventBody;
export type RunEventBody =
  | { readonly type: 'response.created'; readonly run: RunSnapshot }
  | { readonly type: 'response.in_progress'; readonly run: RunSnapshot }
  | {
      readonly type: 'response.output_item.added';
      readonly outputIndex: number;
      readonly item: RunItem;
      readonly statusHints?: readonly string[];
    }
  | { readonly type: 'response.content_part.added'; readonly outputIndex: number; readonly itemId: string }
  | {
      readonly type: 'response.output_text.delta';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly json: string;
      /** Of the tokens of this delta; present as in RunItem. */
      readonly logprobs?: readonly TokenLogprob[];
    }
  | {
      readonly type: 'response.output_text.annotation.added';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly citation: Citation;
    }
  | {
      readonly type: 'response.output_text.done';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly text: string;
      readonly logprobs?: readonly TokenLogprob[];
    }
  | {
      readonly type: 'response.content_part.done';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly text: string;
      readonly citations: readonly Citation[];
      readonly logprobs?: readonly TokenLogprob[];
    }
  | {
      readonly type: 'response.reasoning_text.delta';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly json: string;
    }
  | {
      readonly type: 'response.function_call_arguments.delta';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly json: string;
    }
  | {
      readonly type: 'response.function_call_arguments.done';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly type: 'response.server_tool_call.in_progress';
      readonly outputIndex: number;
      readonly itemId: string;
      /** Read by a process that takes the run over while the call is open. Absent in old logs, and for a call that is not made. */
      readonly ifLost?: LostCallRule;
    }
  | { readonly type: 'response.server_tool_call.completed'; readonly outputIndex: number; readonly itemId: string }
  | { readonly type: 'response.server_tool_call.failed'; readonly outputIndex: number; readonly itemId: string }
  | SubagentEventBody
  | SubagentRecordBody
  | ResearchBody
  | { readonly type: 'response.output_item.done'; readonly outputIndex: number; readonly item: RunItem }
  /** Retrieval and other work between model calls; shown only where the agent shows intermediate steps. */
  | { readonly type: 'parley.step'; readonly name: 'retrieve'; readonly detail: RetrievalDetail }
  /** A finished step of a flow. A process that takes the run over does not repeat it. */
  | {
      readonly type: 'parley.flow.step';
      readonly step: FlowStepRecord;
      readonly result: FlowStepResult;
      /** Found by a `retrieve` step. */
      readonly passages?: readonly Passage[];
      /** Readers of the run see no steps: the event is for the service and for traces. */
      readonly isHidden?: true;
    }
  /**
   * Passages that the answer may cite, with the beginnings of their texts. The passages of all such events of a run are numbered from 1 in their order: a process that
   * goes on with the run knows what a number names.
   */
  | { readonly type: 'parley.cited'; readonly passages: readonly Passage[] }
  /** Messages that thread mode `steer` adds to the active turn, at their place in the history. */
  | { readonly type: 'parley.input'; readonly messages: readonly NewMessage[] }
  /**
   * The cost of a stored run so far, and its calls since the previous such event. Written between steps, so that a takeover can end the run
   * with its usage. The run's last event has the whole.
   */
  | {
      readonly type: 'parley.usage';
      readonly usage: Usage;
      readonly calls: readonly SpentCall[];
      /** Absent in old logs. */
      readonly spent?: RunSpent;
    }
  | { readonly type: 'response.completed'; readonly run: RunSnapshot }
  | { readonly type: 'response.failed'; readonly run: RunSnapshot }
  /** Also ends a cancelled run: `run.status` is then `cancelled`. */
  | { readonly type: 'response.incomplete'; readonly run: RunSnapshot };

/** Stand between `in_progress` and the end of the call that starts subagents. Each started subagent is completed exactly once. */
export type SubagentEventBody =
  | {
      readonly type: 'response.subagent.started';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly subagent: Subagent;
    }
  | {
      readonly type: 'response.subagent.progress';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly subagentId: string;
      /** Shown to users. */
      readonly message: string;
      /** 0 to 1; null when unknown. */
      readonly progress: number | null;
      /** So far. */
      readonly usage: Usage | null;
    }
  | {
      readonly type: 'response.subagent.completed';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly subagent: EndedSubagent;
    };
/**
 * Events of a subagent that a process needs to go on with it. They stand within the call, are never shown, and are told before the subagent acts.
 */
export interface SubagentRecordBody {
  readonly type: 'parley.subagent.kept';
  readonly outputIndex: number;
  readonly itemId: string;
  readonly subagentId: string;
  readonly events: readonly RunEvent[];
}
/** A call of `deep_research`, once its questions are known. */
export interface BegunResearch {
  /** The key of the call, the same when it is made again. */
  readonly key: string;
  readonly questions: readonly string[];
}
/** Kept so that a process that makes the call again does not plan anew, and counts the questions. Never shown. */
export interface ResearchBody extends BegunResearch {
  readonly type: 'parley.research';
  readonly outputIndex: number;
  readonly itemId: string;
}
type UpdateBody = SubagentEventBody | SubagentRecordBody | ResearchBody;
/** The same without the members that name the call. */
export type SubagentUpdate = UpdateBody extends infer Body
  ? Body extends UpdateBody
    ? Omit<Body, 'outputIndex' | 'itemId'>
    : never
  : never;

/** Whether a run stops with this event. A paused run may continue behind it: see `isLast`. */
export function isTerminal(event: RunEvent): boolean {
  return event.type === 'response.completed' || event.type === 'response.failed' || event.type === 'response.incomplete';
}

/** Whether no event can follow in the log. */
export function isLast(event: RunEvent): boolean {
  return isTerminal(event) && !isPause(event);
}

export function isPause(event: RunEvent): boolean {
  return event.type === 'response.incomplete' && event.run.incompleteReason === 'paused';
}

/** Events in batches: events that arrived together stay together, so that they leave in one write. */
export interface RunEventStream extends AsyncIterable<RunEvent> {
  batches(): AsyncIterable<readonly RunEvent[]>;
}

/** What the log keeps of a subagent while its call is open: a process that takes the run over goes on behind the last outcome. */
export interface SubagentRecord {
  readonly subagent: Subagent;
  /** Set when it was completed, and its call was not. */
  readonly ended: EndedSubagent | undefined;
  readonly events: readonly RunEvent[];
}

/** A call of a tool that runs in the service. */
export type ServerCallItem = Extract<RunItem, { readonly type: 'server_tool_call' }>;

export type FlowStepEvent = Extract<RunEvent, { readonly type: 'parley.flow.step' }>;
