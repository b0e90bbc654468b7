import { createHash } from 'node:crypto';
import type { ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunEventStream } from '../../../entities/conversations/runs/event.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { canaryKeyOfChat } from '../../agents/versions/canary-choice.ts';
import type { Deps } from '../../deps.ts';
import { admitAnswerer, answererNamed } from '../runs/plan.ts';
import { findHolder, firstEvents, type PlacedTurn, queueFull, showsNewChats, startPlaced } from '../runs/thread.ts';
import { type ResponseInput, readResponse } from './input.ts';
import type { ConnectionMemory } from './memory.ts';
import { findPlace, historyOfPlace } from './place.ts';
import {
  findFileTokensMax,
  headOf,
  type PlannedResponse,
  planResponse,
  type ResponseRequest,
  requireRoomFor,
  toStoredRequest,
} from './request.ts';
import { requireCalls, resolveItems, settleAnswers, toMessages } from './request-items.ts';
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

/** @param runId  of the response, or of the one that the request joined; `isWaiting` while another one of its thread works. */
export type OnPlaced = (runId: string, chatId: string, isWaiting: boolean) => Promise<void>;

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
 * @param onPlaced  writes what belongs to a stored response, in its transaction.
 */
export async function beginResponse(
  deps: Deps,
  caller: Caller,
  input: ResponseInput,
  signal: AbortSignal,
  memory?: ConnectionMemory,
  onPlaced?: OnPlaced,
): Promise<BegunResponse> {
  const request = await prepareResponse(deps, caller, input, signal, memory);
  const { read, id, history, messages } = request;
  if (read.isStored) await deps.runs.requireRoom(caller);
  const { approvals, ids: approvalIds } = await settleAnswers(deps, request);
  requireRoomFor(deps, request);
  const stored = toStoredRequest(deps, request, approvals);
  const begin = { ...request, approvalIds, stored, head: headOf(deps, request) };
  if (!read.isStored) {
    const plan = await planResponse(deps, begin);
    if (approvalIds.length > 0) await deps.storage.conversations.approvals.answer(approvalIds);
    const events = deps.runs.runStateless(plan, signal, read.secrets);
    return { id, events: memory?.following(events, [...history, ...messages]) ?? events, isStored: false };
  }
  const result = await beginStored(deps, begin, onPlaced);
  const runId = result.kind === 'attached' ? result.runId : id;
  const isWatched = input.stream === true || !read.isBackground;
  const events = isWatched ? deps.runs.follow(runId, -1, signal) : deps.runs.replay(runId);
  if (!read.isBackground && result.kind !== 'attached') cancelWhenAlone(deps, runId, signal);
  return { id: runId, events, isStored: true, ...(result.kind === 'attached' ? { attached: result.how } : {}) };
}

/** A response that begins, with the answers to calls that wait for approval. */
interface Begin extends PlannedResponse {
  readonly approvalIds: readonly string[];
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
  const chatId = place.chat?.id ?? deps.newId('chat');
  const canary = read.isStored ? canaryKeyOfChat(chatId) : { key: caller.userId, begunAt: deps.now() };
  const named = await answererNamed(deps, caller, input.model, place.chat, { version: input.version, canary });
  const answerer = await admitAnswerer(deps, caller, read, named);
  const id = deps.newId('response');
  const tokensMax = findFileTokensMax(deps, read, answerer);
  const items = await resolveItems(deps, caller, read.items);
  const messages = await toMessages(deps, items, { caller, model: answerer.model, tokensMax, runId: id }, signal);
  const history = await historyOfPlace(deps, place);
  requireCalls(read.items, items, history);
  const serviceTools = await withListings(deps, place, read.tools.serviceTools, items);
  const completeRead = { ...read, tools: { ...read.tools, serviceTools } };
  return { caller, input, read: completeRead, answerer, items, messages, history, id, chatId, place };
}

/**
 * Counts the input tokens of a request for a response: what the model would get in its first request, with the thread, the files, the tools
 * and the passages of its agent. Nothing is stored, and no model is asked. A conversation that is too long is counted, not refused.
 *
 * @throws DomainError like `beginResponse`.
 */
export async function countResponseInput(deps: Deps, caller: Caller, input: ResponseInput, signal: AbortSignal): Promise<number> {
  const countInput = { ...input, store: false, background: false, stream: false };
  const request = await prepareResponse(deps, caller, countInput, signal);
  const plan = await planResponse(deps, { ...request, stored: toStoredRequest(deps, request), head: headOf(deps, request) });
  return deps.runs.countInput(plan, signal);
}

/** The thread has gone on since it was read. */
class ThreadMoved extends Error {}

async function beginStored(deps: Deps, begin: Begin, onPlaced: OnPlaced | undefined): Promise<PlacedTurn> {
  const { caller, read, place, id } = begin;
  let isFork = place.isCut === true;
  for (let attempt = 0; attempt < forksMax; attempt += 1) {
    const turn = prepareTurn(deps, begin, isFork);
    const beginTurn = async () => {
      const threadResult = await deps.storage.conversations.threads.begin(turn);
      if (threadResult.kind === 'missing') {
        throw new DomainError('NOT_FOUND', 'There is no such conversation', { param: 'conversation' });
      }
      if (threadResult.kind === 'full') throw queueFull(deps);
      // Nothing was written: ends the transaction without an entry.
      if (threadResult.kind === 'moved') throw new ThreadMoved();
      const [runId, isWaiting] =
        threadResult.kind === 'attached'
          ? [threadResult.runId, threadResult.how === 'collect']
          : [id, threadResult.kind === 'waiting'];
      await onPlaced?.(runId, turn.run.chatId, isWaiting);
      return threadResult;
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

function prepareTurn(deps: Deps, begin: Begin, isFork: boolean) {
  const { caller, read, answerer, items, messages, history, id, place, stored, head, approvalIds } = begin;
  const { orgId, userId, keyId } = caller;
  const { agent, model } = answerer;
  const isNew = place.chat === undefined || isFork;
  const chatId = isFork ? deps.newId('chat') : begin.chatId;
  const createdAt = deps.now();
  const agentId = agent?.id ?? null;
  const { userInputs } = answerer;
  const ofModel = agent === undefined ? { modelId: model.id } : {};
  // What was said before, in a thread that editors may not read, stays out of their sight in a copy too.
  const copiesHidden = place.remembered !== undefined || (isFork && place.chat?.isVisibleToEditors !== true);
  const isVisibleToEditors = showsNewChats(agent, orgId) && !copiesHidden;
  const chat = { id: chatId, createdAt, orgId, userId, agentId, name: '', userInputs, isVisibleToEditors, ...ofModel };
  return {
    run: {
      id,
      createdAt,
      orgId,
      userId,
      keyId,
      agentId,
      agentVersion: agent?.version ?? null,
      chatId,
      modelId: model.id,
      request: stored,
    },
    messages,
    items,
    approvalIds,
    ...(isNew
      ? {
          newChat: {
            chat,
            messages: isFork || place.remembered !== undefined ? copyMessages(deps, history) : [],
            ...(isFork && place.chat !== undefined ? { files: filesOfThread(deps, place.chat.id, place.previous) } : {}),
          },
        }
      : {}),
    previousId: place.previous?.id ?? null,
    mustBeNewest: place.previous !== undefined && !isFork,
    isBackground: read.isBackground,
    mode: read.threadMode,
    chatMode: read.chatMode,
    batchKey: toBatchKey(begin, deps.runs.fingerprint(read.secrets)),
    waitingMax: deps.settings.THREAD_WAITING_MAX,
    leaseMs: deps.settings.RUN_LEASE_MS,
    events: firstEvents(id, [], { ...head, conversationId: chatId }),
    holder: findHolder(deps, read.secrets),
  };
}

/** The files of a thread as the response that is continued left them, for a new chat that branches off there. */
function filesOfThread({ newId }: Deps, chatId: string, previous: Run | undefined) {
  return { chatId, until: previous?.endedAt ?? null, newId: () => newId('chatFile') };
}

/** The messages of a thread, for a new chat that branches off it. */
function copyMessages(deps: Deps, history: readonly (ChatMessage | NewMessage)[]): readonly NewMessage[] {
  return history.map((message) => ({ ...message, id: deps.newId('message'), runId: null }));
}

/** Equal for requests that differ in their input only: while they wait, one run may answer them together. */
function toBatchKey({ input, read, answerer, approvalIds }: Begin, secrets: string | null): string {
  const { agent, model, flow } = answerer;
  const { instructions, text, reasoning } = read.input;
  const { tools, toolChoice } = read.echo;
  const facts = [agent?.id ?? model.id, agent?.version, tools, toolChoice, instructions, read.chatMode, text, reasoning];
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
    if (await deps.storage.conversations.responses.isAlone(runId)) await deps.runs.cancel(runId);
  };
  const onAbort = () => {
    leave().catch((error: unknown) => deps.logger.error({ err: error, runId }, 'an abandoned run could not be stopped'));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
}
