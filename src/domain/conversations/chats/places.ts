import type { Chat } from '../../../entities/conversations/chats/chat.ts';
import { type ChatPlaceChanges, type ChatTag, tagsMax } from '../../../entities/conversations/chats/place.ts';
import { DomainError, type ErrorCode } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { canWriteChat } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { deleteChat, getChats, missingChat, readOnlyChat } from './chats.ts';
import { readChatIds, readPlace, readTags } from './place-input.ts';

type Optional<T> = T | null | undefined;

/** What becomes of several chats. Absent members are kept, and so are null ones but the project. */
export interface ChangeChatsInput {
  readonly chatIds: readonly string[];
  readonly isArchived?: Optional<boolean>;
  readonly addTags?: Optional<readonly string[]>;
  readonly removeTags?: Optional<readonly string[]>;
  /** Null: out of their projects. */
  readonly projectId?: Optional<string>;
  /** Goes with no other change. */
  readonly isDeleted?: Optional<boolean>;
}

/** What became of one chat of several. */
export interface ChatChangeResult {
  readonly chatId: string;
  /** The chat as it is now; undefined when it did not change, or is deleted. */
  readonly chat: Chat | undefined;
  readonly error: { readonly code: ErrorCode; readonly message: string } | undefined;
}

/** The caller's tags, the ones of the most chats first. Cost: one statement. */
export function listChatTags(deps: Deps, { userId, orgId }: Caller): Promise<readonly ChatTag[]> {
  return deps.storage.conversations.chatPlaces.tagsOf({ userId, orgId });
}

/**
 * Archives, labels, moves or deletes chats of the caller. A chat that cannot be changed does not hold up the others: its result says why.
 *
 * @returns one result for each id, in order.
 * @throws DomainError naming every faulty member; nothing is changed then.
 *
 * Cost: three statements; a deletion takes a transaction for each chat.
 */
export async function changeChats(deps: Deps, caller: Caller, input: ChangeChatsInput): Promise<readonly ChatChangeResult[]> {
  const ids = readChatIds(input.chatIds);
  const changes = await readChanges(deps, caller, input);
  if (changes === 'delete') return eachChat(ids, (id) => deleteChat(deps, caller, id));
  const chats = new Map((await getChats(deps, caller, ids)).map((chat) => [chat.id, chat]));
  const ownIds = ids.filter((id) => canWrite(caller, chats.get(id)));
  const changedIds = await deps.audit.change(caller, () =>
    deps.storage.conversations.chatPlaces.change(ownIds, changes, tagsMax),
  );
  const isOwn = new Set(ownIds);
  const changedChats = new Map((await getChats(deps, caller, changedIds)).map((chat) => [chat.id, chat]));
  return ids.map((chatId) => {
    const chat = changedChats.get(chatId);
    if (chat !== undefined) return { chatId, chat, error: undefined };
    if (!chats.has(chatId)) return refused(chatId, missingChat());
    return refused(chatId, isOwn.has(chatId) ? tooManyTags() : readOnlyChat());
  });
}

/** Runs what may be refused for single chats, one after the other. */
export async function eachChat(
  ids: readonly string[],
  change: (id: string) => Promise<unknown>,
): Promise<readonly ChatChangeResult[]> {
  const results: ChatChangeResult[] = [];
  for (const chatId of ids) {
    try {
      await change(chatId);
      results.push({ chatId, chat: undefined, error: undefined });
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      results.push(refused(chatId, error));
    }
  }
  return results;
}

async function readChanges(deps: Deps, caller: Caller, input: ChangeChatsInput): Promise<ChatPlaceChanges | 'delete'> {
  const faults = new Faults();
  const addedTags = readTags(faults, 'addTags', input.addTags);
  const removedTags = readTags(faults, 'removeTags', input.removeTags);
  faults.throwIfAny();
  const changes = {
    ...(await readPlace(deps, caller, { isArchived: input.isArchived, projectId: input.projectId })),
    ...(addedTags === undefined ? {} : { addedTags }),
    ...(removedTags === undefined ? {} : { removedTags }),
  };
  const isEmpty = Object.keys(changes).length === 0;
  if (input.isDeleted !== true) {
    if (isEmpty)
      throw new DomainError(
        'MISSING_REQUIRED_PARAMETER',
        'Say what becomes of the chats: isArchived, addTags, removeTags, projectId or isDeleted',
      );
    return changes;
  }
  if (isEmpty) return 'delete';
  throw new DomainError('MUTUALLY_EXCLUSIVE_PARAMETERS', 'isDeleted goes with no other change', { param: 'isDeleted' });
}

/** An error that is returned would fail the field of GraphQL: only what it says is. */
function refused(chatId: string, { code, message }: DomainError): ChatChangeResult {
  return { chatId, chat: undefined, error: { code, message } };
}

function canWrite(caller: Caller, chat: Chat | undefined): boolean {
  return chat !== undefined && canWriteChat(caller, chat);
}

function tooManyTags(): DomainError {
  return new DomainError('INVALID_VALUE', `A chat has at most ${tagsMax} tags`, { param: 'addTags' });
}
