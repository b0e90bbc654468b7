import type { Chat } from '../../../entities/conversations/chats/chat.ts';
import type { ChatFile } from '../../../entities/conversations/chats/file.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { ChatFilter } from '../../../entities/people/access.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { byTime, requireShortList } from '../../ground/lists/paging.ts';
import { lockChat } from '../../ground/sql/locks.ts';
import { Store } from '../../ground/store.ts';
import { chatWhere } from './filter.ts';

export type NewChatFile = Omit<ChatFile, 'deletedAt'>;

export class ChatFileStore extends Store {
  /** @returns false when the chat has `filesMax` files already, or is deleted. */
  create({ metadata, ...file }: NewChatFile, filesMax: number): Promise<boolean> {
    return this.db.transaction(async (tx) => {
      const { chatId } = file;
      const chat = await lockChat(tx, chatId);
      if (chat === undefined || chat.deletedAt !== null) return false;
      if ((await tx.prisma.chatFile.count({ where: { chatId, deletedAt: null } })) >= filesMax) return false;
      await tx.prisma.chatFile.create({ data: { ...file, metadata: { ...metadata } as Prisma.InputJsonObject } });
      return true;
    });
  }

  async find(chatId: string, id: string): Promise<ChatFile | undefined> {
    const file = await this.db.prisma.chatFile.findFirst({ where: { id, chatId, deletedAt: null, chat: { deletedAt: null } } });
    return file === null ? undefined : (file as ChatFile);
  }

  async findMany(chatId: string, ids: readonly string[]): Promise<readonly ChatFile[]> {
    return (await this.db.prisma.chatFile.findMany({
      where: { id: { in: [...ids] }, chatId, deletedAt: null },
    })) as readonly ChatFile[];
  }

  /** The files that are not deleted, in chats that match, with whose chats those are. */
  async findInChats(ids: readonly string[], filter: ChatFilter): Promise<readonly (ChatFile & Pick<Chat, 'orgId' | 'userId'>)[]> {
    const where = { id: { in: [...ids] }, deletedAt: null, chat: { AND: [{ deletedAt: null }, chatWhere(filter)] } };
    const owner = { select: { orgId: true, userId: true } };
    const found = await this.db.prisma.chatFile.findMany({ where, include: { chat: owner } });
    return found.map(({ chat, ...file }) => ({ ...(file as ChatFile), ...chat }));
  }

  /** One page of the same of each chat. Cost: one statement. */
  pagesOf(chatIds: readonly string[], page: PageRequest, deletedAfter?: Date): Promise<readonly Page<ChatFile>[]> {
    return pagesOfFiles(this.db, chatIds, page, deletedAfter);
  }

  /** Adds the bytes to a record, once. @returns false when the record has bytes already, expired, or was deleted. */
  async complete(
    id: string,
    content: { readonly blobKey: string; readonly mimeType: string; readonly sizeBytes: number },
  ): Promise<boolean> {
    const where = { id, status: 'PENDING', deletedAt: null };
    return (await this.db.prisma.chatFile.updateMany({ where, data: { ...content, status: 'UPLOADED' } })).count === 1;
  }

  /**
   * Gives a file that the service made new bytes, unless it was deleted.
   *
   * @returns the key of the bytes before, when no other file names them; false when there is no such file.
   */
  replace(
    chatId: string,
    id: string,
    { metadata, ...content }: Pick<ChatFile, 'sizeBytes' | 'metadata'> & { readonly blobKey: string },
  ): Promise<{ readonly unused: string | undefined } | false> {
    return this.db.transaction(async (tx) => {
      await lockChat(tx, chatId);
      const file = await tx.prisma.chatFile.findFirst({ where: { id, chatId, deletedAt: null, source: 'SYSTEM' } });
      if (file === null) return false;
      const data = { ...content, metadata: { ...metadata } as Prisma.InputJsonObject };
      await tx.prisma.chatFile.update({ where: { id }, data });
      const { blobKey } = file;
      const others = blobKey === null ? 1 : await tx.prisma.chatFile.count({ where: { blobKey } });
      return { unused: blobKey === null || others > 0 ? undefined : blobKey };
    });
  }

  /** @returns the keys of the blobs that no file names any more; undefined when the file was deleted before. */
  delete(chatId: string, id: string): Promise<readonly string[] | undefined> {
    return this.db.transaction(async (tx) => {
      await lockChat(tx, chatId);
      return deleteFiles(tx, { id, chatId });
    });
  }

  /** Deletes all files of a chat, and the state of its programs. @returns the keys of the blobs that no file names any more. */
  deleteAll(chatId: string): Promise<readonly string[]> {
    return this.db.transaction(async (tx) => {
      await lockChat(tx, chatId);
      return clearFiles(tx, chatId);
    });
  }

  /** The files of each chat that are not deleted, or were deleted after `deletedAfter`, oldest first. */
  async listOf(chatIds: readonly string[], deletedAfter?: Date): Promise<readonly ChatFile[]> {
    const where = { chatId: { in: [...chatIds] }, ...isListed(deletedAfter) };
    const { _sum: sum } = await this.db.prisma.chatFile.aggregate({ where, _sum: { rowBytes: true } });
    requireShortList(this.db, sum.rowBytes);
    const orderBy = [{ chatId: 'asc' as const }, { createdAt: 'asc' as const }, { id: 'asc' as const }];
    return (await this.db.prisma.chatFile.findMany({ where, orderBy })) as readonly ChatFile[];
  }

  /** Deletes records from before a moment that never got their content. @returns how many. */
  async expire(before: Date, limit: number): Promise<number> {
    const { chatFile } = this.db.prisma;
    const where = { status: 'PENDING', createdAt: { lt: before } };
    const expiredFiles = await chatFile.findMany({ where, take: limit, select: { id: true } });
    const ids = expiredFiles.map(({ id }) => id);
    // A file whose content came in between is left.
    const data = { status: 'DELETED', deletedAt: new Date() };
    return (await chatFile.updateMany({ where: { ...where, id: { in: ids } }, data })).count;
  }

  /** Chats deleted within the last two days that still have files or the state of programs: their deletion was interrupted. */
  async leftBehind(limit: number): Promise<readonly string[]> {
    const since = new Date(Date.now() - leftBehindMs);
    const leftoverConditions = [{ files: { some: { deletedAt: null } } }, { codeState: { isNot: null } }];
    const where = { deletedAt: { gt: since }, isBinned: false, OR: leftoverConditions };
    return (await this.db.prisma.chat.findMany({ where, select: { id: true }, take: limit })).map(({ id }) => id);
  }
}

/** Files that are not deleted, or were deleted after a time. */
function isListed(deletedAfter: Date | undefined) {
  return { OR: [{ deletedAt: null }, ...(deletedAfter === undefined ? [] : [{ deletedAt: { gt: deletedAfter } }])] };
}

async function pagesOfFiles(
  { prisma }: Database,
  chatIds: readonly string[],
  page: PageRequest,
  deletedAfter: Date | undefined,
): Promise<readonly Page<ChatFile>[]> {
  const where = isListed(deletedAfter);
  const files = byTime('createdAt', 'asc', where, page);
  const chats = await prisma.chat.findMany({ where: { id: { in: [...chatIds] } }, select: { id: true, files } });
  const filesByChat = new Map(chats.map((chat) => [chat.id, chat.files as readonly ChatFile[]]));
  return chatIds.map((chatId) =>
    toPage(filesByChat.get(chatId) ?? [], page, timeKey, (take) => prisma.chatFile.count({ where: { ...where, chatId }, take })),
  );
}

const leftBehindMs = 2 * 86_400_000;

/**
 * Deletes all files of a chat and the state of its programs. The chat must be locked, so that a concurrent copy of the chat gets all files or none. @returns as
 * ChatFileStore.deleteAll.
 */
export async function clearFiles(tx: Transaction, chatId: string): Promise<readonly string[]> {
  const states = await tx.prisma.codeState.findMany({ where: { chatId }, select: { blobKey: true } });
  await tx.prisma.codeState.deleteMany({ where: { chatId } });
  return [...((await deleteFiles(tx, { chatId })) ?? []), ...states.map(({ blobKey }) => blobKey)];
}

/** @returns the keys of the blobs that no file names any more; undefined when there was no such file. */
async function deleteFiles(
  { prisma }: Transaction,
  place: { readonly chatId: string; readonly id?: string },
): Promise<readonly string[] | undefined> {
  const where = { ...place, deletedAt: null };
  const files = await prisma.chatFile.findMany({ where, select: { blobKey: true } });
  if (files.length === 0) return undefined;
  await prisma.chatFile.updateMany({ where, data: { status: 'DELETED', deletedAt: new Date(), blobKey: null } });
  const keys = files.flatMap(({ blobKey }) => (blobKey === null ? [] : [blobKey]));
  if (keys.length === 0) return [];
  const still = await prisma.chatFile.findMany({ where: { blobKey: { in: keys } }, select: { blobKey: true } });
  const usedKeys = new Set(still.map(({ blobKey }) => blobKey));
  return keys.filter((key) => !usedKeys.has(key));
}
