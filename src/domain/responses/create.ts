import { createHash } from 'node:crypto';
import type { Caller } from '../../entities/caller.ts';
import type { Chat, ChatMessage, NewMessage } from '../../entities/chat.ts';
import { DomainError } from '../../entities/errors.ts';
import { isId } from '../../entities/ids.ts';
import type { ResponseHead, ResponseItem } from '../../entities/response.ts';
import type { Run } from '../../entities/run.ts';
import type { RunEvent, RunEventStream, RunSnapshot } from '../../entities/run-event.ts';
import type { ThreadResult } from '../../storage/threads.ts';
import { ownChats } from '../access.ts';
import { modelIdOf } from '../agents.ts';
import { agentOf, missingModel } from '../completions.ts';
import type { Deps } from '../deps.ts';
import { answersEarlierCalls, requireCalls, resolveItems, toMessages } from './given-items.ts';
import { type ReadResponse, type ResponseInput, readResponse } from './input.ts';
import type { ConnectionMemory } from './memory.ts';
import { type Answerer, planOf, requireRoomFor, storedRequestOf } from './request.ts';

/** A response that was begun, or joined. */
export interface BegunResponse {
  readonly id: string;
  /** Its events from the first on. */
  readonly events: RunEventStream;
  readonly isStored: boolean;
  /** The request became part of another run: how. */
  readonly attached?: 'collect' | 'steer';
  /** Of one that is not stored: all that the model was given. */
  readonly transcript?: readonly NewMessage[];
}

const forksMax = 3;
const busyRetrySeconds = 5;

/**
 * Begins a response: a run of a model or an agent. Stored (the default), it is a turn of a thread, which is a chat; a reader that leaves
 * cancels it unless it runs in the background. Not stored, nothing is kept but the ledger.
 *
 * @throws DomainError with every fault of the input; MODEL_NOT_FOUND; PREVIOUS_RESPONSE_NOT_FOUND; NOT_FOUND for the conversation;
 *   THREAD_QUEUE_FULL; OVERLOADED; and, from the first read of one that is not stored, what the model refused.
 *
 * Cost: stored, one transaction.
 */
export async function beginResponse(
  deps: Deps,
  caller: Caller,
  input: ResponseInput,
  signal: AbortSignal,
  memory?: ConnectionMemory,
): Promise<BegunResponse> {
  const read = readResponse(input, deps.settings);
  const place = await findPlace(deps, caller, input, read, memory);
  const answerer = await findAnswerer(deps, caller, input, place.chat);
  const items = await resolveItems(deps, caller, read.items);
  const id = deps.newId('response');
  const messages = await toMessages(deps, items, id, signal);
  const context: Begin = { caller, input, read, answerer, items, messages, id, place };
  if (!read.isStored) return beginStateless(deps, context, signal);
  const result = await beginStored(deps, context);
  const runId = result.kind === 'attached' ? result.runId : id;
  const isWatched = input.stream === true || !read.isBackground;
  const events = isWatched ? deps.runs.follow(runId, -1, signal) : deps.runs.replay(runId);
  if (!read.isBackground && result.kind !== 'attached') cancelWhenAlone(deps, runId, signal);
  return { id: runId, events, isStored: true, ...(result.kind === 'attached' ? { attached: result.how } : {}) };
}

interface Begin {
  readonly caller: Caller;
  readonly input: ResponseInput;
  readonly read: ReadResponse;
  readonly answerer: Answerer;
  readonly items: readonly ResponseItem[];
  readonly messages: readonly NewMessage[];
  readonly id: string;
  readonly place: Place;
}

/** Where a request goes on: nowhere, in a chat, or behind a response. */
export interface Place {
  readonly chat: Chat | undefined;
  readonly previous: Run | undefined;
  /** What led to a response that only this connection knows. */
  readonly remembered?: readonly NewMessage[];
}

/** @throws DomainError PREVIOUS_RESPONSE_NOT_FOUND, or NOT_FOUND for the conversation. */
export async function findPlace(
  deps: Deps,
  caller: Caller,
  input: ResponseInput,
  read: ReadResponse,
  memory?: ConnectionMemory,
): Promise<Place> {
  const { previousResponseId } = input;
  const remembered = typeof previousResponseId === 'string' ? memory?.get(previousResponseId) : undefined;
  if (remembered !== undefined) return { chat: undefined, previous: undefined, remembered };
  let chatId = read.conversationId;
  let previous: Run | undefined;
  if (typeof previousResponseId === 'string') {
    previous = isId('response', previousResponseId) ? await deps.storage.responses.find(previousResponseId, caller) : undefined;
    if (typeof previous?.chatId !== 'string') throw missingPrevious(previousResponseId);
    chatId = previous.chatId;
  }
  if (chatId === undefined) return { chat: undefined, previous };
  const chat = isId('chat', chatId) ? await deps.storage.chats.find(chatId, ownChats(caller)) : undefined;
  if (chat !== undefined) return { chat, previous };
  if (typeof previousResponseId === 'string') throw missingPrevious(previousResponseId);
  throw new DomainError('NOT_FOUND', 'There is no such conversation', { param: 'conversation' });
}

function missingPrevious(id: string): DomainError {
  return new DomainError('PREVIOUS_RESPONSE_NOT_FOUND', `There is no response "${id.slice(0, 100)}" to go on from`, {
    param: 'previousResponseId',
  });
}

/** As the request says; else as the thread was opened; else the default model. */
export async function findAnswerer(deps: Deps, caller: Caller, input: ResponseInput, chat: Chat | undefined): Promise<Answerer> {
  const name = input.model ?? chat?.agentId ?? chat?.modelId ?? deps.models.defaultModelId();
  const agent = isId('agent', name) ? await agentOf(deps, caller, name) : undefined;
  const model = await deps.models.find(agent === undefined ? name : modelIdOf(deps, agent));
  if (model === undefined) throw missingModel(name);
  return { agent, model };
}

async function beginStateless(deps: Deps, begin: Begin, signal: AbortSignal): Promise<BegunResponse> {
  const { caller, input, read, answerer, items, messages, id, place } = begin;
  const history = await historyOfPlace(deps, place);
  requireCalls(read.items, items, history);
  const transcript = [...history, ...messages];
  requireRoomFor(read, answerer, transcript);
  const request = storedRequestOf(input, read, answerer, messages);
  const run = { id, isStreaming: input.stream === true };
  const plan = planOf(caller, request, answerer, transcript, headOf(deps, begin, null), run);
  return { id, events: deps.runs.runStateless(plan, signal, read.secrets), isStored: false, transcript };
}

type Begun =
  | Extract<ThreadResult, { kind: 'started' }>
  | Extract<ThreadResult, { kind: 'waiting' }>
  | Extract<ThreadResult, { kind: 'attached' }>;

async function beginStored(deps: Deps, begin: Begin): Promise<Begun> {
  const { caller, read, items, answerer, messages, place, id } = begin;
  await deps.runs.requireRoom(caller.orgId);
  if (place.chat === undefined || answersEarlierCalls(items)) requireCalls(read.items, items, await historyOfPlace(deps, place));
  requireRoomFor(read, answerer, place.chat === undefined ? messages : [...(await historyOfPlace(deps, place)), ...messages]);
  let isFork = false;
  for (let attempt = 0; attempt < forksMax; attempt += 1) {
    const result = await deps.storage.threads.begin(await turnOf(deps, begin, isFork));
    switch (result.kind) {
      case 'moved':
        isFork = true;
        break;
      case 'missing':
        throw new DomainError('NOT_FOUND', 'There is no such conversation', { param: 'conversation' });
      case 'full': {
        const message = `This thread has as many requests waiting as it may (${deps.settings.THREAD_WAITING_MAX})`;
        throw new DomainError('THREAD_QUEUE_FULL', message, { retryAfterSeconds: busyRetrySeconds });
      }
      default:
        await setToWork(deps, id, read.secrets, result);
        return result;
    }
  }
  throw new DomainError('CONFLICT', 'The thread changes too fast; try again');
}

/** Sets to work what was written. */
async function setToWork(deps: Deps, id: string, secrets: Readonly<Record<string, string>>, result: Begun): Promise<void> {
  const { runs, logger } = deps;
  if (result.kind === 'started') runs.startStored(id, secrets);
  else if (result.kind === 'attached') {
    runs.expectStored(result.runId, secrets);
    if (result.how === 'steer') runs.announce(result.runId);
  } else {
    runs.expectStored(id, secrets);
    const { stop } = result;
    if (stop?.how === 'force') await runs.cutOff(stop.runId);
    else if (stop !== undefined) {
      runs
        .cancel(stop.runId)
        .catch((error: unknown) => logger.error({ err: error, runId: stop.runId }, 'a run could not be stopped'));
    }
  }
}

async function turnOf(deps: Deps, begin: Begin, isFork: boolean) {
  const { caller, input, read, answerer, items, messages, id, place } = begin;
  const { orgId, userId, keyId } = caller;
  const { agent, model } = answerer;
  const isNew = place.chat === undefined || isFork;
  const chatId = isNew || place.chat === undefined ? deps.newId('chat') : place.chat.id;
  const createdAt = deps.now();
  const agentId = agent?.id ?? null;
  const chat = { id: chatId, createdAt, orgId, userId, agentId, name: '', ...(agent === undefined ? { modelId: model.id } : {}) };
  const request = storedRequestOf(input, read, answerer, messages);
  return {
    run: { id, createdAt, orgId, userId, keyId, agentId, chatId, modelId: model.id, request },
    events: firstEvents(id, headOf(deps, begin, chatId)),
    messages,
    items,
    ...(isNew
      ? {
          newChat: {
            chat,
            messages: isFork || place.remembered !== undefined ? copiesOf(deps, await historyOfPlace(deps, place)) : [],
          },
        }
      : {}),
    previousId: place.previous?.id ?? null,
    mustBeNewest: place.previous !== undefined && !isFork,
    isBackground: read.isBackground,
    mode: read.threadMode,
    chatMode: read.chatMode,
    likeness: likenessOf(input, read, answerer),
    waitingMax: deps.settings.THREAD_WAITING_MAX,
    leaseMs: deps.settings.RUN_LEASE_MS,
  };
}

function firstEvents(runId: string, head: ResponseHead): readonly RunEvent[] {
  const run: RunSnapshot = {
    runId,
    status: 'in_progress',
    incompleteReason: null,
    error: null,
    usage: null,
    selection: null,
    output: [],
  };
  return [
    { sequence: 0, type: 'response.created', run: { ...run, head } },
    { sequence: 1, type: 'response.in_progress', run },
  ];
}

function headOf(deps: Deps, { input, read, answerer }: Begin, conversationId: string | null): ResponseHead {
  const { agent, model } = answerer;
  const echo = { ...read.echo, model: input.model ?? agent?.id ?? model.id };
  return { createdAt: Math.floor(deps.now().getTime() / 1000), conversationId, echo };
}

/** Everything before the request: the whole thread, or what led to the response that it goes on from. */
export function historyOfPlace(
  deps: Deps,
  { chat, previous, remembered }: Place,
): Promise<readonly (ChatMessage | NewMessage)[]> {
  if (chat === undefined) return Promise.resolve(remembered ?? []);
  return deps.storage.chats.history(chat.id, deps.settings.MESSAGES_MAX, previous?.id);
}

/** Of a thread that forks: the same messages, in a chat of their own. */
function copiesOf(deps: Deps, history: readonly (ChatMessage | NewMessage)[]): readonly NewMessage[] {
  return history.map((message) => ({ ...message, id: deps.newId('message'), runId: null }));
}

/** Requests that differ in nothing but their input may be answered together. */
function likenessOf(input: ResponseInput, read: ReadResponse, { agent, model }: Answerer): string {
  const { tools, instructions, text, reasoning } = read.echo;
  const facts = [agent?.id ?? model.id, tools, read.tools.echo.tool_choice, instructions, read.chatMode, text, reasoning];
  return createHash('sha256')
    .update(JSON.stringify([...facts, input.maxOutputTokens ?? null, read.isBackground]))
    .digest('base64url');
}

/** A reader that leaves stops what only it was waiting for. */
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
