import { createHash } from 'node:crypto';
import type { StoredRequest } from '../../../engine/runs/stored/request.ts';
import type { Chat, ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunEventStream } from '../../../entities/conversations/runs/event.ts';
import type { ResponseHead } from '../../../entities/conversations/runs/response.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { type SettledApprovals, settleApprovals } from '../runs/approvals.ts';
import { type AdmittedAnswerer, type Answerer, admitAnswerer, answererNamed } from '../runs/plan.ts';
import { firstEvents, holderOf, type PlacedTurn, queueFull, showsNewChats, startPlaced } from '../runs/thread.ts';
import { type ReadResponse, type ResponseInput, readResponse } from './input.ts';
import type { ConnectionMemory } from './memory.ts';
import { withNewListings } from './new-listings.ts';
import { findPlace, historyOfPlace } from './place.ts';
import { echoOf, fileTokensMaxOf, planOf, type ResponseRequest, requireRoomFor, storedRequestOf } from './request.ts';
import { answersEarlierCalls, approvalAnswers, requireCalls, resolveItems, toMessages } from './request-items.ts';
import { withListings } from './tool-items.ts';

/** A response that was begun, or whose request joined another one. */
export interface BegunResponse {
  readonly id: string;
  /** All its events. */
  readonly events: RunEventStream;
  readonly isStored: boolean;
  /** How the request joined another run. */
  readonly attached?: 'collect' | 'steer';
}

const forksMax = 3;

/**
 * Begins a response: a run of a model or an agent. A stored response (the default) is a turn of a thread, which is a chat; it is cancelled when its
 * last reader leaves, unless it runs in the background. Of a response that is not stored, only the ledger entry is kept.
 *
 * @throws DomainError with every fault of the input; MODEL_NOT_FOUND; PREVIOUS_RESPONSE_NOT_FOUND; NOT_FOUND for the conversation; THREAD_QUEUE_FULL;
 * OVERLOADED; and, from the first read of a response that is not stored, the refusals of the model.
 *
 * Cost: stored, one transaction.
 *
 * @param memory  keeps a response that is not stored, once it has ended well.
 */
export async function beginResponse(
  deps: Deps,
  caller: Caller,
  input: ResponseInput,
  signal: AbortSignal,
  memory?: ConnectionMemory,
): Promise<BegunResponse> {
  const context = await prepareResponse(deps, caller, input, signal, memory);
  const { read, id } = context;
  if (!read.isStored) return beginStateless(deps, context, signal, memory);
  const result = await beginStored(deps, context);
  const runId = result.kind === 'attached' ? result.runId : id;
  const isWatched = input.stream === true || !read.isBackground;
  const events = isWatched ? deps.runs.follow(runId, -1, signal) : deps.runs.replay(runId);
  if (!read.isBackground && result.kind !== 'attached') cancelWhenAlone(deps, runId, signal);
  return { id: runId, events, isStored: true, ...(result.kind === 'attached' ? { attached: result.how } : {}) };
}

/** Reads a request and all that it names, and makes sure that it may be answered. @throws DomainError like `beginResponse`. */
async function prepareResponse(
  deps: Deps,
  caller: Caller,
  input: ResponseInput,
  signal: AbortSignal,
  memory?: ConnectionMemory,
): Promise<ResponseRequest> {
  const read = readResponse(input, deps.settings, deps.tools);
  const place = await findPlace(deps, caller, input, read, memory);
  const found = await findAnswerer(deps, caller, input, place.chat);
  const answerer = await admitAnswerer(deps, caller, read, found);
  const items = await resolveItems(deps, caller, read.items);
  const id = deps.newId('response');
  const giving = { caller, model: answerer.model, tokensMax: fileTokensMaxOf(deps, read, answerer), runId: id };
  const messages = await toMessages(deps, items, giving, signal);
  const serviceTools = await withNewListings(deps, place, withListings(read.tools.serviceTools, items));
  const listed = { ...read, tools: { ...read.tools, serviceTools } };
  return { caller, input, read: listed, answerer, items, messages, id, place };
}

/**
 * Counts the input tokens of a request for a response: what the model would get in its first request, with the thread, the files, the tools
 * and the passages of its agent. Nothing is stored, and no model is asked. A conversation that is too long is counted, not refused.
 *
 * @throws DomainError like `beginResponse`.
 */
export async function countResponseInput(deps: Deps, caller: Caller, input: ResponseInput, signal: AbortSignal): Promise<number> {
  const given = { ...input, store: false, background: false, stream: false };
  const request = await prepareResponse(deps, caller, given, signal);
  const transcript = await transcriptOf(deps, request);
  const plan = await planOf(deps, request, storedRequestOf(deps, request), transcript, headOf(deps, request, null));
  return deps.runs.countInput(plan, signal);
}

/** The whole conversation. @throws DomainError INVALID_VALUE for outputs of unknown calls. */
async function transcriptOf(deps: Deps, { read, items, messages, place }: ResponseRequest) {
  const history = await historyOfPlace(deps, place);
  requireCalls(read.items, items, history);
  return [...history, ...messages];
}

/** The model or agent of the request, else of the thread, else the default model. */
export async function findAnswerer(deps: Deps, caller: Caller, input: ResponseInput, chat: Chat | undefined): Promise<Answerer> {
  const name = input.model ?? chat?.agentId ?? chat?.modelId ?? deps.models.defaultModelId();
  const { agent, model } = await answererNamed(deps, caller, name);
  return { agent, model, userInputs: agent !== undefined && agent.id === chat?.agentId ? chat.userInputs : {} };
}

async function beginStateless(
  deps: Deps,
  begin: ResponseRequest,
  signal: AbortSignal,
  memory: ConnectionMemory | undefined,
): Promise<BegunResponse> {
  const { read, answerer, id } = begin;
  const transcript = await transcriptOf(deps, begin);
  requireRoomFor(read, answerer, transcript, deps.settings.MESSAGES_MAX);
  const settled = await settleAnswers(deps, begin);
  const request = withApprovals(storedRequestOf(deps, begin), settled);
  const plan = await planOf(deps, begin, request, transcript, headOf(deps, begin, null));
  if (settled.ids.length > 0) await deps.storage.approvals.answer(settled.ids);
  const events = deps.runs.runStateless(plan, signal, read.secrets);
  return { id, events: memory?.following(events, transcript) ?? events, isStored: false };
}

/** The thread has gone on since it was read. */
class ThreadMoved extends Error {}

async function beginStored(deps: Deps, begin: ResponseRequest): Promise<PlacedTurn> {
  const { caller, read, items, answerer, messages, place, id } = begin;
  await deps.runs.requireRoom(caller);
  if (place.chat === undefined || answersEarlierCalls(items)) requireCalls(read.items, items, await historyOfPlace(deps, place));
  requireRoomFor(read, answerer, [...(await historyOfPlace(deps, place)), ...messages], deps.settings.MESSAGES_MAX);
  const settled = await settleAnswers(deps, begin);
  let isFork = place.isCut === true;
  for (let attempt = 0; attempt < forksMax; attempt += 1) {
    const turn = await turnOf(deps, begin, settled, isFork);
    const beginTurn = async () => {
      const begun = await deps.storage.threads.begin(turn);
      if (begun.kind === 'missing') {
        throw new DomainError('NOT_FOUND', 'There is no such conversation', { param: 'conversation' });
      }
      if (begun.kind === 'full') throw queueFull(deps);
      // Nothing was written: ends the transaction without an entry.
      if (begun.kind === 'moved') throw new ThreadMoved();
      return begun;
    };
    const result = await deps.audit.change(caller, beginTurn).catch((error: unknown) => {
      if (error instanceof ThreadMoved) return undefined;
      throw error;
    });
    if (result !== undefined) {
      await startPlaced(deps, id, read.secrets, result);
      return result;
    }
    isFork = true;
  }
  throw new DomainError('CONFLICT', 'The thread changes too fast; try again');
}

async function turnOf(deps: Deps, begin: ResponseRequest, settled: SettledApprovals, isFork: boolean) {
  const { caller, input, read, answerer, items, messages, id, place } = begin;
  const { orgId, userId, keyId } = caller;
  const { agent, model } = answerer;
  const isNew = place.chat === undefined || isFork;
  const chatId = isNew || place.chat === undefined ? deps.newId('chat') : place.chat.id;
  const createdAt = deps.now();
  const agentId = agent?.id ?? null;
  const { userInputs } = answerer;
  const ofModel = agent === undefined ? { modelId: model.id } : {};
  // What was said before, in a thread that editors may not read, stays out of their sight in a copy too.
  const copiesHidden = place.remembered !== undefined || (isFork && place.chat?.isVisibleToEditors !== true);
  const isVisibleToEditors = showsNewChats(agent, orgId) && !copiesHidden;
  const chat = { id: chatId, createdAt, orgId, userId, agentId, name: '', userInputs, isVisibleToEditors, ...ofModel };
  const request = withApprovals(storedRequestOf(deps, begin), settled);
  return {
    run: { id, createdAt, orgId, userId, keyId, agentId, chatId, modelId: model.id, request },
    events: firstEvents(id, [], headOf(deps, begin, chatId)),
    messages,
    items,
    approvalIds: settled.ids,
    ...(isNew
      ? {
          newChat: {
            chat,
            messages: isFork || place.remembered !== undefined ? copiesOf(deps, await historyOfPlace(deps, place)) : [],
            ...(isFork && place.chat !== undefined ? { files: filesOfThread(deps, place.chat.id, place.previous) } : {}),
          },
        }
      : {}),
    previousId: place.previous?.id ?? null,
    mustBeNewest: place.previous !== undefined && !isFork,
    isBackground: read.isBackground,
    mode: read.threadMode,
    chatMode: read.chatMode,
    batchKey: batchKeyOf(input, read, answerer, deps.runs.fingerprint(read.secrets), settled),
    waitingMax: deps.settings.THREAD_WAITING_MAX,
    leaseMs: deps.settings.RUN_LEASE_MS,
    holder: holderOf(deps, read.secrets),
  };
}

/**
 * The answers of the request to calls that wait for approval, checked.
 *
 * @throws DomainError as `settleApprovals`; UNSUPPORTED_VALUE for an approval in chat mode `chat`, which makes no call of the service.
 */
function settleAnswers(deps: Deps, { caller, read, items, messages }: ResponseRequest): Promise<SettledApprovals> {
  const answers = approvalAnswers(read.items, items, messages);
  if (read.chatMode === 'chat' && answers.some(({ approves, isPast }) => approves && isPast !== true)) {
    const message = 'input approves a call, and chat_mode "chat" makes none: approve it with "execute", or refuse it';
    throw new DomainError('UNSUPPORTED_VALUE', message, { param: 'input' });
  }
  return settleApprovals(deps, caller, answers);
}

function withApprovals(request: StoredRequest, { approvals }: SettledApprovals): StoredRequest {
  return approvals === undefined ? request : { ...request, approvals };
}

function headOf(deps: Deps, { read, answerer }: ResponseRequest, conversationId: string | null): ResponseHead {
  const createdAt = Math.floor(deps.now().getTime() / 1000);
  const warnings = [...answerer.warnings, ...read.warnings];
  const includes = read.includes.length === 0 ? {} : { includes: read.includes };
  const echo = echoOf(read, answerer);
  return { createdAt, conversationId, echo, ...includes, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** The files of a thread as the response that is continued left them, for a new chat that branches off there. */
function filesOfThread({ newId }: Deps, chatId: string, previous: Run | undefined) {
  return { chatId, until: previous?.endedAt ?? null, newId: () => newId('chatFile') };
}

/** The messages of a thread, for a new chat that branches off it. */
function copiesOf(deps: Deps, history: readonly (ChatMessage | NewMessage)[]): readonly NewMessage[] {
  return history.map((message) => ({ ...message, id: deps.newId('message'), runId: null }));
}

/** Equal for requests that differ in their input only: while they wait, one run may answer them together. */
function batchKeyOf(
  input: ResponseInput,
  read: ReadResponse,
  { agent, model, flow }: AdmittedAnswerer,
  secrets: string | null,
  { ids: approvalIds }: SettledApprovals,
): string {
  const { instructions, text, reasoning } = read.input;
  const { tools, toolChoice } = read.echo;
  const facts = [agent?.id ?? model.id, tools, toolChoice, instructions, read.chatMode, text, reasoning];
  return createHash('sha256')
    .update(
      JSON.stringify([
        ...facts,
        input.maxOutputTokens ?? null,
        read.isBackground,
        secrets,
        read.includes,
        flow?.flowId,
        flow?.version,
        read.options.isTraced,
        read.options.routing,
        // A run makes the calls that its own request approves.
        approvalIds,
      ]),
    )
    .digest('base64url');
}

/** Cancels the run when its last reader leaves. */
export function cancelWhenAlone(deps: Deps, runId: string, signal: AbortSignal): void {
  const leave = async () => {
    if (await deps.storage.responses.isAlone(runId)) await deps.runs.cancel(runId);
  };
  const onAbort = () => {
    leave().catch((error: unknown) => deps.logger.error({ err: error, runId }, 'an abandoned run could not be stopped'));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
}
