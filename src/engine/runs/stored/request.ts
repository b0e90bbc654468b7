import type { FlowPlan } from '../../../entities/agents/flow.ts';
import type { ChatMessage } from '../../../entities/conversations/chats/chat.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import type { LeasedRun } from '../../../storage/conversations/runs/runs.ts';
import type { ModelMessage, ModelParameters, ModelRequest, ModelTool, ResponseFormat } from '../../models/port.ts';
import type { ProviderRouting } from '../../models/routing.ts';
import type { AnswerCheck, Approvals, Charge, ForcedTool, RunPlan } from '../../plan/plan.ts';
import { buildHistory } from '../events/history.ts';

/** What is stored of a chat run besides its messages, so that any process can start it. It never holds the caller's secrets. */
export interface StoredRequest {
  /** The version of the agent that answers; 0: the draft. */
  readonly agentVersion?: number;
  /** The system message; '' for none. */
  readonly instructions: string;
  /** As in RunPlan. */
  readonly ending?: string;
  readonly tools: readonly ModelTool[];
  readonly toolChoice?: ModelRequest['toolChoice'];
  readonly parallelToolCalls?: boolean;
  readonly parameters: ModelParameters;
  readonly inputTokensMax?: number;
  /** The sources that may be searched; storage filters them again in each search. */
  readonly knowledge: { readonly orgId: string; readonly dataSourceIds: readonly string[]; readonly question: string } | null;
  readonly generateCitations: boolean;
  readonly hidesSteps: boolean;
  readonly hidesOutputs?: boolean;
  /** Names the chat at the end of the run if it has no name yet. */
  readonly chatName: string | null;
  readonly responseFormat?: ResponseFormat;
  readonly answerCheck?: AnswerCheck;
  /** The service's tools that the model may call; never their secrets. */
  readonly serviceTools?: readonly EnabledTool[];
  readonly forcedTool?: ForcedTool;
  /** Answers to calls that waited for a person's approval. */
  readonly approvals?: Approvals;
  /** The model may also call the agent's tools that run in the service; they are read anew when the run starts. */
  readonly offersAgentTools?: true;
  readonly routing?: ProviderRouting;
  readonly flow?: FlowPlan;
  readonly offersSkills?: true;
  readonly toolCallsMax?: number;
  readonly onlyTools?: readonly string[];
  /** It needs secrets of its caller: a process without them ends it instead of running it without, or with other ones. */
  readonly needsSecrets?: boolean;
  /** Who asked reads the answer at its end only. */
  readonly isWhole?: true;
  /** For responses: messages may be added to a running response only in the same mode. */
  readonly chatMode?: string;
}

/** The `chatMode` of a run that a flow answers: no message can join it, because no step would read it. */
export const flowMode = 'flow';

/** Characters of a message by which a model finds it again. */
const quoteChars = 300;

/**
 * Tells a model to continue after a pause: providers want a user's turn last. A paused run does not hold its chat: where others spoke meanwhile, their
 * messages stand behind those of the run, and the model is told which answer it goes on with.
 */
function goOn(run: LeasedRun, transcript: readonly ChatMessage[], history: readonly ModelMessage[]): ModelMessage | undefined {
  const own = transcript.filter(({ runId }) => runId === run.id).at(-1);
  if (own === undefined || transcript.at(-1)?.runId === run.id) {
    if (history.at(-1)?.role !== 'assistant') return undefined;
    return { role: 'user', content: 'You were interrupted. Go on from exactly where you stopped.' };
  }
  const half = own.role === 'assistant' ? own.content.trim() : '';
  if (half !== '') {
    const content = `You were interrupted earlier, in the answer that ends with ${quote(half.slice(-quoteChars))}. Go on from exactly where that answer stopped.`;
    return { role: 'user', content };
  }
  const question = findInput(run, transcript);
  if (question === undefined) return undefined;
  return {
    role: 'user',
    content: `You were interrupted earlier. Go on with what was asked then: ${quote(question.slice(0, quoteChars))}`,
  };
}

function quote(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

/** The plan of a stored run, with the transcript of its chat. */
export function planStoredRun(run: LeasedRun, transcript: readonly ChatMessage[], isResumed = false): RunPlan {
  const request = readStoredRequest(run);
  const { instructions, inputTokensMax, flow } = request;
  const instructionTokens = Math.ceil(instructions.length / 4);
  const historyMessages = buildHistory(
    transcript,
    inputTokensMax === undefined ? undefined : Math.max(0, inputTokensMax - instructionTokens),
  );
  // A flow goes on with its next step: nothing was interrupted in the middle.
  const continuation = isResumed && flow === undefined ? goOn(run, transcript, historyMessages) : undefined;
  const history = continuation === undefined ? historyMessages : [...historyMessages, continuation];
  return {
    ...withMessages(request, history),
    modelId: run.modelId,
    isStreaming: true,
    chatId: run.chatId,
    charge: toCharge(run),
    ...(flow === undefined ? {} : { flow: { ...flow, input: findInput(run, transcript) ?? flow.input } }),
  };
}

/** A request with the messages that its model gets, behind its instructions. */
export function withMessages(
  request: StoredRequest,
  history: readonly ModelMessage[],
): Omit<RunPlan, 'modelId' | 'isStreaming' | 'charge'> {
  const {
    instructions,
    knowledge,
    chatName: _name,
    chatMode: _mode,
    needsSecrets: _secrets,
    agentVersion: _version,
    ...rest
  } = request;
  return {
    ...rest,
    messages: instructions === '' ? history : [{ role: 'system', content: instructions }, ...history],
    ...(knowledge === null ? {} : { knowledge }),
  };
}

/** What the user said in the messages that the run answers: several, when messages that waited are answered together. */
function findInput(run: LeasedRun, transcript: readonly ChatMessage[]): string | undefined {
  const userMessages = transcript.filter(
    ({ role, runId, content }) => role === 'user' && runId === run.id && content.trim() !== '',
  );
  return userMessages.length === 0 ? undefined : userMessages.map(({ content }) => content.trim()).join('\n\n');
}

export function toCharge(run: LeasedRun): Charge {
  const { tenantId, orgId, userId, keyId, agentId, agentVersion, id } = run;
  return { tenantId, orgId, userId, keyId, agentId, agentVersion, runId: id };
}

export function readStoredRequest(run: LeasedRun): StoredRequest {
  return run.request as StoredRequest;
}
