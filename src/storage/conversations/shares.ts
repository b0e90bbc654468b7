// Raw SQL: the messages of a branch are found by a recursive query, and openings are counted in the row.
import type { ChatMessage, NewMessage } from '../../entities/conversations/chats/chat.ts';
import type { ChatShare } from '../../entities/conversations/chats/share.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../entities/ground/page.ts';
import type { Prisma } from '../generated/client.ts';
import { newestFirst } from '../ground/lists/paging.ts';
import { lockChat } from '../ground/sql/locks.ts';
import { PublishingStore } from '../ground/store.ts';
import { addChat, type NewChat } from './chats/chats.ts';
import { copyChosenFiles } from './chats/copies.ts';
import { addMessages, pageOfLine } from './chats/messages.ts';

/** Whose links: those of one person, of one chat, or of an organization. */
export interface ChatShareFilter {
  readonly orgId?: string;
  readonly userId?: string;
  readonly chatId?: string;
}
export type NewChatShare = Omit<ChatShare, 'revokedAt' | 'openedAt' | 'openCount'> & { readonly hash: string };

export type ShareCreation =
  | { readonly kind: 'made'; readonly share: ChatShare }
  /** The chat is deleted. */
  | { readonly kind: 'missing' }
  /** The chat has as many links as one may have, none of which has ended. */
  | { readonly kind: 'full' };

const withReaders = { readers: { select: { userId: true }, orderBy: { userId: 'asc' } } } as const;

export class ChatShareStore extends PublishingStore {
  /** @param countMax  links of the chat; the oldest one that has ended makes room. */
  create({ readerIds, ...share }: NewChatShare, countMax: number): Promise<ShareCreation> {
    const { chatId, createdAt } = share;
    return this.db.transaction(async (tx) => {
      const { prisma } = tx;
      const chat = await lockChat(tx, chatId);
      if (chat === undefined || chat.deletedAt !== null) return { kind: 'missing' };
      if ((await prisma.chatShare.count({ where: { chatId } })) >= countMax) {
        const hasEnded = { OR: [{ revokedAt: { not: null } }, { expiresAt: { lte: createdAt } }] };
        const oldest = await prisma.chatShare.findFirst({ where: { chatId, ...hasEnded }, orderBy: { createdAt: 'asc' } });
        if (oldest === null) return { kind: 'full' };
        await prisma.chatShare.delete({ where: { id: oldest.id } });
      }
      const readers = { create: readerIds.map((userId) => ({ userId })) };
      return {
        kind: 'made',
        share: toShare(await prisma.chatShare.create({ data: { ...share, readers }, include: withReaders })),
      };
    });
  }

  async findMany(ids: readonly string[], filter: ChatShareFilter): Promise<readonly ChatShare[]> {
    const where = { id: { in: [...ids] }, ...filter };
    return (await this.db.prisma.chatShare.findMany({ where, include: withReaders })).map(toShare);
  }

  async findBySecret(hash: string): Promise<ChatShare | undefined> {
    const row = await this.db.prisma.chatShare.findUnique({ where: { hash }, include: withReaders });
    return row === null ? undefined : toShare(row);
  }

  /** Newest first. */
  async list(filter: ChatShareFilter, page: PageRequest): Promise<Page<ChatShare>> {
    const where = { ...filter };
    const rows = await this.db.prisma.chatShare.findMany({ ...newestFirst(where, page), include: withReaders });
    return toPage(rows.map(toShare), page, timeKey, (take) => this.db.prisma.chatShare.count({ where, take }));
  }

  /** Ends a link. Whoever follows the chat by it asks again at once. @returns false when it had been revoked before. */
  async revoke({ id, chatId }: Pick<ChatShare, 'id' | 'chatId'>, at: Date): Promise<boolean> {
    const { count } = await this.db.prisma.chatShare.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: at } });
    if (count > 0) this.signals.publish('chat-changed', chatId);
    return count > 0;
  }

  async noteOpening(id: string, at: Date): Promise<void> {
    await this.db.prisma.chatShare.updateMany({ where: { id }, data: { openedAt: at, openCount: { increment: 1 } } });
  }

  /** One page of what users and agents say in it, in order: up to its last message, or on the branch that the user of the chat reads. Cost: one statement. */
  messages({ chatId, leafId }: Pick<ChatShare, 'chatId' | 'leafId'>, page: PageRequest): Promise<Page<ChatMessage>> {
    return pageOfLine(this.db, chatId, leafId, page);
  }

  /** Begins a copy of a chat, which cannot be deleted until the transaction ends. @returns false when it is deleted. */
  beginCopy(chatId: string, copy: NewChat): Promise<boolean> {
    return this.db.transaction(async (tx) => {
      const chat = await lockChat(tx, chatId);
      if (chat === undefined || chat.deletedAt !== null) return false;
      await addChat(tx, copy);
      tx.afterCommit(() => this.signals.publish('chat-changed', copy.id));
      return true;
    });
  }

  /** Copies files of a chat that have their bytes. @param newIds  by the ids of the files. @returns those that were copied. */
  copyFiles(chatId: string, copyId: string, newIds: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    return this.db.transaction((tx) => copyChosenFiles(tx, chatId, copyId, newIds));
  }

  /** Adds messages at the end of a copy. */
  addMessages(copyId: string, messages: readonly NewMessage[]): Promise<void> {
    return this.db.transaction((tx) => addMessages(tx, copyId, messages));
  }

  /** The newest message of a chat that people see; undefined in an empty one. */
  async findLastMessageId(chatId: string): Promise<string | undefined> {
    const where = { chatId, isActive: true, isHidden: false };
    return (await this.db.prisma.message.findFirst({ where, orderBy: { ordinal: 'desc' }, select: { id: true } }))?.id;
  }
}

type Row = Prisma.ChatShareGetPayload<{ include: typeof withReaders }>;

function toShare({ readers, hash: _hash, ...row }: Row): ChatShare {
  return { ...(row as unknown as Omit<ChatShare, 'readerIds'>), readerIds: readers.map(({ userId }) => userId) };
}
