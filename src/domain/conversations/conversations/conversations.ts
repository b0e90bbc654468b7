import { asStored } from '../../../engine/runs/events/history.ts';
import { type Chat, type Conversation, type NewMessage, newMessageDefaults } from '../../../entities/conversations/chats/chat.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import { type ListPage, type ListRequest, readPageSize, toListPage } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { ConversationChange } from '../../../storage/conversations/chats/conversations.ts';
import type { Deps } from '../../deps.ts';
import { ownChats } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { readMetadata } from '../../ground/metadata.ts';
import { closeMessages } from '../../knowledge/permissions/open-items.ts';
import { deleteChat } from '../chats/chats.ts';
import { passedOver, type RequestItem, readItems } from '../responses/items.ts';
import { resolveItems, toMessages } from '../responses/request-items.ts';
import { answererNamed } from '../runs/plan.ts';
import { type ConversationItem, placeOfItem, toConversationItems, toMessageId } from './items.ts';

const itemsAtOnce = 20;

/**
 * Begins a conversation: a chat without an agent, until a response on it names one.
 *
 * @throws DomainError with every fault of the input; those of files and addresses in the items.
 */
export async function createConversation(
  deps: Deps,
  caller: Caller,
  input: { readonly items?: unknown; readonly metadata?: unknown },
  signal: AbortSignal,
): Promise<Conversation> {
  const faults = new Faults();
  const metadata = readMetadata(input.metadata, faults);
  const requestItems = readItems(input.items, { itemsMax: itemsAtOnce, isRequired: false, member: 'items' }, faults);
  faults.throwIfAny();
  const messages = await prepareMessages(deps, caller, undefined, requestItems, signal);
  const id = deps.newId('chat');
  const createdAt = deps.now();
  const { orgId, userId } = caller;
  const chat = { id, createdAt, orgId, userId, agentId: null, name: '', isVisibleToEditors: false };
  return deps.audit.change(caller, async () => {
    await deps.storage.conversations.conversations.create(chat, metadata, messages);
    return { id, createdAt, metadata };
  });
}

/** @throws DomainError NOT_FOUND, also for a chat of somebody else. */
export async function getConversation(deps: Deps, caller: Caller, id: string): Promise<Conversation> {
  const { createdAt } = await ownChat(deps, caller, id);
  return { id, createdAt, metadata: await deps.storage.conversations.conversations.metadataOf(id) };
}

/** Replaces the metadata; null takes all of it away. @throws DomainError NOT_FOUND, and the faults of the input. */
export async function updateConversation(
  deps: Deps,
  caller: Caller,
  id: string,
  input: { readonly metadata?: unknown },
): Promise<Conversation> {
  const { createdAt } = await ownChat(deps, caller, id);
  const faults = new Faults();
  if (input.metadata === undefined) faults.add('metadata', 'metadata is required', 'MISSING_REQUIRED_PARAMETER');
  const metadata = readMetadata(input.metadata, faults);
  faults.throwIfAny();
  await deps.audit.change(caller, () => deps.storage.conversations.conversations.setMetadata(id, metadata));
  return { id, createdAt, metadata };
}

/** Deletes the chat with everything said in it, and stops its run. @throws DomainError NOT_FOUND. */
export async function deleteConversation(deps: Deps, caller: Caller, id: string): Promise<string> {
  await ownChat(deps, caller, id);
  await deleteChat(deps, caller, id);
  return id;
}

/** Adds items behind those that are there. @returns them. @throws DomainError NOT_FOUND; CONFLICT while a response is at work; the faults of the items. */
export async function createConversationItems(
  deps: Deps,
  caller: Caller,
  id: string,
  input: { readonly items?: unknown },
  signal: AbortSignal,
): Promise<readonly WireObject[]> {
  const chat = await ownChat(deps, caller, id);
  const faults = new Faults();
  const requestItems = readItems(input.items, { itemsMax: itemsAtOnce, isRequired: true, member: 'items' }, faults);
  faults.throwIfAny();
  const messages = await prepareMessages(deps, caller, chat, requestItems, signal);
  await deps.audit.change(caller, async () => requireDone(await deps.storage.conversations.conversations.add(id, messages)));
  return messages.flatMap((message) => toConversationItems(asStored(message))).map(({ wire }) => wire);
}

/**
 * The items in order. Reading goes on behind `after` also where that item was deleted meanwhile, as by a caller that deletes items while it reads the
 * list page by page.
 *
 * @throws DomainError NOT_FOUND; INVALID_VALUE naming `first` or `after`.
 */
export async function listConversationItems(
  deps: Deps,
  caller: Caller,
  id: string,
  { after, first, order }: ListRequest,
): Promise<ListPage<WireObject>> {
  await ownChat(deps, caller, id);
  const most = readPageSize({ first });
  const direction = order ?? 'desc';
  const from = typeof after === 'string' ? await findPlace(deps, id, after) : undefined;
  const isBehind = (ordinal: number, { place }: ConversationItem) =>
    from?.ordinal !== ordinal || (direction === 'asc' ? place > from.place : place < from.place);
  const read = async (ordinal: number | undefined) => {
    // Each message has an item at least: one more than asked for, and that of `after`.
    const page = { from: ordinal, limit: most + 2, order: direction };
    const { rows, foundCount } = await deps.storage.conversations.conversations.messages(id, page);
    const shownRows = await closeMessages(deps, caller, rows);
    const items = shownRows.flatMap((message) => {
      const conversationItems = toConversationItems(message).filter((item) => isBehind(message.ordinal, item));
      return direction === 'asc' ? conversationItems : conversationItems.toReversed();
    });
    return { items, hasMore: items.length > most || foundCount > rows.length };
  };
  const page = await read(from?.ordinal);
  // The message of `after` fills the bytes of a page alone: the page begins behind it.
  const isFilled = from !== undefined && page.items.length === 0 && page.hasMore;
  const { items, hasMore } = isFilled ? await read(from.ordinal + (direction === 'asc' ? 1 : -1)) : page;
  return toListPage({ items: items.slice(0, most).map(({ wire }) => wire), hasMore }, { after });
}

/** @throws DomainError NOT_FOUND */
export async function getConversationItem(deps: Deps, caller: Caller, id: string, itemId: string): Promise<WireObject> {
  await ownChat(deps, caller, id);
  return (await findItem(deps, caller, id, itemId)).wire;
}

/**
 * Removes an item: models do not get it any more. An output without its call, and a call without its output, are not sent to models.
 *
 * @throws DomainError NOT_FOUND; CONFLICT while a response is at work.
 */
export async function deleteConversationItem(deps: Deps, caller: Caller, id: string, itemId: string): Promise<Conversation> {
  const conversation = await getConversation(deps, caller, id);
  const { messageId, callId, hasCalls } = await findItem(deps, caller, id, itemId);
  const part =
    callId === undefined ? ({ kind: hasCalls ? 'text' : 'message' } as const) : ({ kind: 'call', id: callId } as const);
  await deps.audit.change(caller, async () =>
    requireDone(await deps.storage.conversations.conversations.remove(id, messageId, part)),
  );
  return conversation;
}

/** Items that no model is told of come first: calls and their outputs must stay together. */
async function prepareMessages(
  deps: Deps,
  caller: Caller,
  chat: Chat | undefined,
  requestItems: readonly RequestItem[],
  signal: AbortSignal,
): Promise<readonly NewMessage[]> {
  if (requestItems.length === 0) return [];
  const { model } = await answererNamed(deps, caller, undefined, chat);
  const items = await resolveItems(deps, caller, requestItems);
  const tokensMax = Math.min(deps.settings.CHAT_FILE_TOKENS_MAX, Math.floor(model.contextTokensMax / 2));
  const newMessages = await toMessages(deps, items, { caller, model, tokensMax, runId: null, member: 'items' }, signal);
  const createdAt = deps.now();
  const itemMessages = items.flatMap(({ item }): NewMessage[] =>
    passedOver.has(String(item.type))
      ? [{ ...newMessageDefaults, id: deps.newId('message'), createdAt, role: 'assistant', runId: null, isHidden: true, item }]
      : [],
  );
  return [...itemMessages, ...newMessages];
}

interface ItemMatch extends ConversationItem {
  /** Whether its message asks for calls too. */
  readonly hasCalls: boolean;
}

/** Where an item of a conversation stands, or stood. @throws DomainError INVALID_VALUE for what is no id of an item. */
async function findPlace(
  deps: Deps,
  chatId: string,
  itemId: string,
): Promise<{ readonly ordinal: number; readonly place: number }> {
  const messageId = toMessageId(itemId);
  if (!isId('message', messageId)) {
    throw new DomainError('INVALID_VALUE', 'after names no item of this conversation', { param: 'after' });
  }
  const message = await deps.storage.conversations.chats.findMessage(chatId, messageId);
  if (message !== undefined) return { ordinal: message.ordinal, place: placeOfItem(itemId) };
  // Behind everything of the message before it.
  return {
    ordinal: await deps.storage.conversations.conversations.ordinalBefore(chatId, messageId),
    place: Number.POSITIVE_INFINITY,
  };
}

async function findItem(deps: Deps, caller: Caller, chatId: string, itemId: string): Promise<ItemMatch> {
  const messageId = toMessageId(itemId);
  const message = isId('message', messageId) ? await deps.storage.conversations.chats.findMessage(chatId, messageId) : undefined;
  const [shownMessage] = message === undefined || !message.isActive ? [] : await closeMessages(deps, caller, [message]);
  const items = shownMessage === undefined ? [] : toConversationItems(shownMessage);
  const isHidden = message?.isHidden === true && message.role !== 'system' && (message.item ?? null) === null;
  const match = items.find(({ id }) => id === itemId);
  if (match !== undefined && !isHidden) return { ...match, hasCalls: items.length > 1 };
  throw new DomainError('NOT_FOUND', 'There is no such item in this conversation', { param: 'itemId' });
}

async function ownChat(deps: Deps, caller: Caller, id: string): Promise<Chat> {
  const chat = isId('chat', id) ? await deps.storage.conversations.chats.find(id, ownChats(caller)) : undefined;
  if (chat === undefined) throw new DomainError('NOT_FOUND', 'There is no such conversation', { param: 'conversationId' });
  return chat;
}

function requireDone(change: ConversationChange): void {
  if (change === 'missing') throw new DomainError('NOT_FOUND', 'There is no such conversation or item');
  if (change === 'run-active') {
    throw new DomainError('CONFLICT', 'A response is at work on this conversation: wait for its end, or cancel it');
  }
}
