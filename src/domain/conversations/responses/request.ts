import type { ModelInfo } from '../../../engine/models/catalog.ts';
import type { ModelParameters } from '../../../engine/models/port.ts';
import type { Approvals, RunPlan } from '../../../engine/plan/plan.ts';
import { openRunFiles } from '../../../engine/runs/calls/run-files.ts';
import { asStored, buildHistory, isCompressed } from '../../../engine/runs/events/history.ts';
import { withFileImages } from '../../../engine/runs/model/file-images.ts';
import { type StoredRequest, withMessages } from '../../../engine/runs/stored/request.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { ResponseHead, ResponseItem, WireObject } from '../../../entities/conversations/runs/response.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { toEcho as wireEchoOf } from '../../../wire/responses/reply.ts';
import { toModelParameters } from '../../agents/options.ts';
import type { Deps } from '../../deps.ts';
import { chargeTo } from '../../ground/charges.ts';
import { type AdmittedAnswerer, type Answerer, planRun } from '../runs/plan.ts';
import { findVisibleQuestion, toChatName } from '../runs/thread.ts';
import type { ReadResponse, ResponseInput } from './input.ts';
import { questionOfMessages } from './messages.ts';
import type { Place } from './place.ts';

/** A request for a response, with all that it names. */
export interface ResponseRequest {
  readonly caller: Caller;
  readonly input: ResponseInput;
  readonly read: ReadResponse;
  readonly answerer: AdmittedAnswerer;
  readonly items: readonly ResponseItem[];
  /** What the items became. */
  readonly messages: readonly NewMessage[];
  /** All messages before them. */
  readonly history: readonly (ChatMessage | NewMessage)[];
  /** Of the response. */
  readonly id: string;
  /** The chat that it answers in, or the one that begins with it. */
  readonly chatId: string;
  readonly place: Place;
}

/** A request with the plan of its run. */
export interface PlannedResponse extends ResponseRequest {
  readonly stored: StoredRequest;
  /** Without the conversation, which a stored response may begin. */
  readonly head: ResponseHead;
}

/** The data by which any process can start a stored run. */
export function toStoredRequest(
  deps: Pick<Deps, 'tools' | 'now'>,
  { caller, input, read, answerer, messages }: Pick<ResponseRequest, 'caller' | 'input' | 'read' | 'answerer' | 'messages'>,
  approvals?: Approvals,
): StoredRequest {
  const { agent, model } = answerer;
  const { responseFormat } = read;
  const planned = planRun(deps, caller, read, answerer, {
    question: questionOfMessages(messages),
    date: deps.now(),
    instructions: input.instructions,
    inputTokensMax: read.input.truncation === 'auto' ? findInputTokensMax(agent, model) : undefined,
  });
  return {
    ...planned,
    // A call in spite of "none" is refused; a completion hands it to its client.
    ...(read.tools.choice.choice === 'none' ? { onlyTools: [] } : {}),
    generateCitations: agent?.generateCitations ?? (planned.serviceTools ?? []).some(({ type }) => isSearch(type)),
    chatName: toChatName(findVisibleQuestion(messages)),
    // One in the background is followed while it happens.
    ...(input.stream === false && !read.isBackground ? { isWhole: true } : {}),
    ...(Object.keys(read.secrets).length > 0 ? { needsSecrets: true } : {}),
    ...(typeof input.maxToolCalls === 'number' ? { toolCallsMax: input.maxToolCalls } : {}),
    ...(approvals === undefined ? {} : { approvals }),
    ...(responseFormat === undefined ? {} : { answerCheck: input.stream === true ? 'streamed' : 'held' }),
  };
}

/** In the common format, a model cites what its searches found. */
function isSearch(type: EnabledTool['type']): boolean {
  return type === 'web_search' || type === 'file_search' || type === 'deep_research';
}

/** The request's sampling, else the agent's. */
function chooseSampling({ parameters }: ReadResponse, agent: RunnableAgent | undefined): ModelParameters {
  return agent === undefined ? parameters : { ...toModelParameters(agent.options), ...parameters };
}

/** The members of a response that repeat its request, with the sampling that is used. */
function buildEcho(read: ReadResponse, { agent, model }: Answerer): WireObject {
  const { input, echo } = read;
  return wireEchoOf(input, { ...echo, model: input.model ?? agent?.id ?? model.id, sampling: chooseSampling(read, agent) });
}

export function headOf(deps: Pick<Deps, 'now'>, { read, answerer }: Pick<ResponseRequest, 'read' | 'answerer'>): ResponseHead {
  const createdAt = Math.floor(deps.now().getTime() / 1000);
  const warnings = [...answerer.warnings, ...read.warnings];
  const includes = read.includes.length === 0 ? {} : { includes: read.includes };
  const echo = buildEcho(read, answerer);
  return { createdAt, conversationId: null, echo, ...includes, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** The plan of a run that is not stored, including the bytes of its images. */
export async function planResponse(deps: Deps, request: PlannedResponse): Promise<RunPlan> {
  const { caller, answerer, id, input, place, history, messages, stored, head } = request;
  const { agent, model } = answerer;
  const { inputTokensMax, ...rest } = stored;
  const planned = withMessages(rest, buildHistory([...history, ...messages].map(asStored), inputTokensMax));
  const charge = chargeTo(caller, { agentId: agent?.id ?? null, agentVersion: agent?.version ?? null, runId: id });
  const earlier = place.chat === undefined ? {} : { readsFilesOf: place.chat.id };
  const files = openRunFiles(deps, { charge, ...earlier });
  const seeing = { orgId: caller.orgId, acceptsImages: model.acceptsImages, files };
  return {
    ...planned,
    kind: isId('compaction', id) ? 'compaction' : 'response',
    modelId: model.id,
    messages: await withFileImages(planned.messages, seeing, deps.storage.blobs),
    isStreaming: input.stream === true,
    head,
    charge,
    ...earlier,
  };
}

/**
 * Refuses a request that is too long when nothing may be dropped.
 *
 * @throws DomainError CONTEXT_LENGTH_EXCEEDED
 */
export function requireRoomFor({ settings }: Deps, { read, answerer, history, messages }: ResponseRequest): void {
  if (read.input.truncation === 'auto') return;
  const { agent, model } = answerer;
  const transcript = [...history, ...messages];
  const compressionIndex = transcript.findLastIndex(isCompressed);
  const recentMessages = transcript.slice(compressionIndex + 1);
  if (recentMessages.length > settings.MESSAGES_MAX) throw tooLong(`${settings.MESSAGES_MAX} messages`);
  const most = findInputTokensMax(agent, model);
  const length = recentMessages.reduce(
    (sum, { content, context }) => sum + (context === null ? content.length : textLength(context)),
    transcript[compressionIndex]?.compression?.length ?? 0,
  );
  // At four characters a token: the tokenizers of all models are not known.
  if (most !== undefined && length / 4 > most) throw tooLong(`${most} tokens`);
}

function tooLong(most: string): DomainError {
  const message = `The conversation is longer than the ${most} that are taken here; truncation "auto" drops its oldest turns`;
  return new DomainError('CONTEXT_LENGTH_EXCEEDED', message, { param: 'input' });
}

/** Images are measured separately: a data URL is not text. */
function textLength(context: readonly unknown[]): number {
  let length = 0;
  JSON.stringify(context, (name, value: unknown) => {
    if (typeof value === 'string' && name !== 'url') length += value.length;
    return value;
  });
  return length;
}

/** Most tokens of text of a request's files; unlimited when nothing may be dropped, because a request that is too long is refused then. */
export function findFileTokensMax({ settings }: Deps, read: ReadResponse, { agent, model }: Answerer): number {
  if (read.input.truncation !== 'auto') return Number.POSITIVE_INFINITY;
  return Math.min(settings.CHAT_FILE_TOKENS_MAX, Math.floor((findInputTokensMax(agent, model) ?? Number.POSITIVE_INFINITY) / 2));
}

function findInputTokensMax(agent: RunnableAgent | undefined, model: ModelInfo): number | undefined {
  const own = agent?.options.maxInputTokens?.[0];
  const { contextTokensMax } = model;
  if (!(contextTokensMax > 0)) return own;
  return own === undefined ? contextTokensMax : Math.min(own, contextTokensMax);
}
