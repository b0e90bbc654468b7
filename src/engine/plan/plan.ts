import type { FlowPlan } from '../../entities/agents/flow.ts';
import type { RecordedCall } from '../../entities/conversations/evaluation/dataset.ts';
import type { ResponseHead } from '../../entities/conversations/runs/response.ts';
import type { RunKind } from '../../entities/conversations/runs/run.ts';
import type { EnabledTool, ToolType } from '../../entities/conversations/runs/tool.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import type { Passage } from '../../entities/knowledge/citation.ts';
import type { Retrieval } from '../../entities/knowledge/retrieval.ts';
import type { SearchedQuestion, Turn } from '../../entities/knowledge/searched-question.ts';
import type { EmbeddingRequest, ModelMessage, ModelParameters, ModelRequest, ModelTool, ResponseFormat } from '../models/port.ts';
import type { EmbeddingModel } from '../models/router.ts';
import type { ProviderRouting } from '../models/routing.ts';

/** A tool that one run has, and that changes nothing outside it. */
export interface OwnTool {
  readonly definition: ModelTool;
  /** What a user interface shows while it runs. */
  readonly hint: string;
  /** @returns what the model reads. @throws DomainError, whose message the model reads. */
  run(args: string): string;
}

/** Everything one run needs. Access is checked before: the engine knows no user, only whom to charge. */
export interface RunPlan {
  /** Of a run that is not stored; absent: a completion. */
  readonly kind?: RunKind;
  /** Full model id. */
  readonly modelId: string;
  readonly messages: readonly ModelMessage[];
  /** What the model gets behind the messages, and may be another the next time: the time of day. */
  readonly ending?: string;
  readonly tools: readonly ModelTool[];
  readonly toolChoice?: ModelRequest['toolChoice'];
  readonly parallelToolCalls?: boolean;
  readonly parameters: ModelParameters;
  readonly responseFormat?: ResponseFormat;
  readonly answerCheck?: AnswerCheck;
  /** The member of the request that asks for the format; absent: `text.format` of responses. */
  readonly formatMember?: 'response_format';
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
  /** Tools of this run alone, which is not stored. One with the name of a function of the caller is not offered. */
  readonly ownTools?: readonly OwnTool[];
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
  /** Gives what tools gave before, in place of calls that would change something. */
  readonly replay?: ReplayPlan;
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
/** What tools of a run give that must not change anything outside. */
export interface ReplayPlan {
  /** Of a run before. */
  readonly calls: readonly RecordedCall[];
  /** Also tools that change something are called, unless a person must approve each call. */
  readonly callsEffects: boolean;
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
  /** The version of the agent; 0: the draft. Absent or null: of a time before versions, or no agent. */
  readonly agentVersion?: number | null;
  readonly runId: string | null;
}

/**
 * Whether an answer that breaks `responseFormat` fails its run. `streamed`: the text leaves as it arrives. `held`: the text leaves
 * after it passed the check, so the model can be asked once more before a reader sees anything.
 */
export type AnswerCheck = 'streamed' | 'held';

/** A person's answer to a call that waited for approval. */
export interface Approval {
  readonly approves: boolean;
  /** JSON text that replaces the arguments of the model. */
  readonly arguments?: string;
  /** The function, as the run that asked calls it. Default: as the conversation names it. */
  readonly name?: string;
}
/** By call id. */
export type Approvals = Readonly<Record<string, Approval>>;

export interface EmbeddingCall {
  readonly model: EmbeddingModel;
  readonly request: Omit<EmbeddingRequest, 'model'>;
  readonly inputTokens: number;
}
export interface ChargedEmbeddings {
  readonly vectors: readonly (readonly number[])[];
  readonly tokens: number;
}

/** See RunEngine.search. */
export type ChargedSearch = <T>(charge: Charge, modelId: string, search: () => Promise<T>) => Promise<T>;

/** See RunEngine.embed. */
export type Embed = (charge: Charge, request: EmbeddingCall, signal: AbortSignal) => Promise<ChargedEmbeddings>;

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
