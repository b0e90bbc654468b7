import { DomainError } from '../../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { BinnedChat } from '../../../storage/conversations/chats/bin.ts';
import type { Deps } from '../../deps.ts';
import { removeBlobs } from '../../ground/blobs.ts';
import { getChats } from './chats.ts';
import { readChatIds } from './place-input.ts';
import { type ChatChangeResult, eachChat } from './places.ts';

/** A chat that its user deleted and can restore. */
export interface RestorableChat extends BinnedChat {
  /** When it is deleted for ever; a legal hold keeps it for longer. */
  readonly expiresAt: Date;
}

const dayMs = 86_400_000;

/** The caller's bin, the chat deleted last first. Cost: two statements. */
export async function listBinnedChats(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<RestorableChat>> {
  const { orgId, userId } = caller;
  const binPage = await deps.storage.conversations.chatBin.list({ orgId, userId }, page);
  const chatDays = await findChatDays(deps, orgId);
  return { ...binPage, items: binPage.items.map((chat) => ({ ...chat, expiresAt: findEnd(deps, chat, chatDays) })) };
}

/** Puts chats back where they were. @returns one result for each id, in order. @throws DomainError INVALID_VALUE for none or more than 100. */
export async function restoreChats(deps: Deps, caller: Caller, chatIds: readonly string[]): Promise<readonly ChatChangeResult[]> {
  const { orgId, userId } = caller;
  const { chatBin } = deps.storage.conversations;
  const results = await eachChat(readChatIds(chatIds), (id) =>
    deps.audit.change(caller, async () => {
      if (!(await chatBin.restore(id, { orgId, userId }))) throw notInBin();
    }),
  );
  const restoredIds = results.flatMap(({ chatId, error }) => (error === undefined ? [chatId] : []));
  const chats = new Map((await getChats(deps, caller, restoredIds)).map((chat) => [chat.id, chat]));
  return results.map((result) => ({ ...result, chat: chats.get(result.chatId) }));
}

/**
 * Deletes chats of the caller's bin for ever, with all that was said in them.
 *
 * @returns one result for each id, in order: CONFLICT for one that a legal hold keeps.
 * @throws DomainError INVALID_VALUE for none or more than 100.
 */
export async function deleteBinnedChats(
  deps: Deps,
  caller: Caller,
  chatIds: readonly string[],
): Promise<readonly ChatChangeResult[]> {
  const ids = readChatIds(chatIds);
  const { orgId, userId } = caller;
  const { chatBin, chats, chatFiles } = deps.storage.conversations;
  const ownIds = new Set(await chatBin.findIds(ids, { orgId, userId }));
  return eachChat(ids, async (id) => {
    if (!ownIds.has(id)) throw notInBin();
    await deps.audit.change(caller, async () => {
      // It may have been restored meanwhile.
      if (!(await chats.delete(id, { isBinned: true }))) throw notInBin();
    });
    await removeBlobs(deps, await chatFiles.deleteAll(id));
  });
}

/** Deletes a chat of the bin for ever. @returns false when it is not there any more. */
export async function deleteBinned(deps: Deps, id: string): Promise<boolean> {
  const { chats, chatFiles } = deps.storage.conversations;
  if (!(await chats.delete(id, { isBinned: true }))) return false;
  await removeBlobs(deps, await chatFiles.deleteAll(id));
  return true;
}

/** How long the organization keeps chats; null: until somebody deletes them. */
export async function findChatDays({ storage, settings }: Deps, orgId: string): Promise<number | null> {
  const ownRetention = (await storage.operations.retention.findMany([orgId])).get(orgId);
  const installationDays = settings.CHAT_RETENTION_DAYS === 0 ? null : settings.CHAT_RETENTION_DAYS;
  return ownRetention?.chats ?? installationDays;
}

function findEnd({ settings }: Deps, { deletedAt, updatedAt }: BinnedChat, chatDays: number | null): Date {
  const binEnd = deletedAt.getTime() + settings.CHAT_BIN_DAYS * dayMs;
  const retentionEnd = chatDays === null ? binEnd : updatedAt.getTime() + chatDays * dayMs;
  return new Date(Math.min(binEnd, retentionEnd));
}

function notInBin(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such chat in the bin', { param: 'chatIds' });
}
