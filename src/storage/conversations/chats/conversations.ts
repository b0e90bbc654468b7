import type { ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import { noteMessageCount } from '../../agents/counters.ts';
import { Prisma } from '../../generated/client.ts';
import type { Transaction } from '../../ground/database.ts';
import { lockChat } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import { removeMessages } from './branches.ts';
import { addChat, type NewChat } from './chats.ts';
import { addMessages, readMessages } from './messages.ts';

/** `run-active`: a run holds the chat. `missing`: the chat or the message is gone. */
export type ConversationChange = 'done' | 'missing' | 'run-active';

/** What is removed: a whole message, its text, or one of the calls that it asks for. */
export type RemovedPart =
  | { readonly kind: 'message' }
  | { readonly kind: 'text' }
  | { readonly kind: 'call'; readonly id: string };

export interface MessagePage {
  /** The ordinal of the first message: itself is part of the page. */
  readonly from: number | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

/** Messages of which an item is shown: hidden ones are those of the developer and items that are only kept. */
const shownMessages: Prisma.MessageWhereInput = {
  OR: [{ isHidden: false }, { role: 'system' }, { item: { not: Prisma.DbNull } }],
  NOT: {
    ...{ role: 'assistant', content: '', item: { equals: Prisma.DbNull } },
    OR: [{ toolCalls: { equals: Prisma.DbNull } }, { toolCalls: { equals: [] } }],
  },
};

/** Chats as conversations: with metadata, and changed item by item. Their items are those of the active branch. */
export class ConversationStore extends PublishingStore {
  async create(chat: NewChat, metadata: object, messages: readonly NewMessage[]): Promise<void> {
    await this.db.transaction(async (tx) => {
      await addChat(tx, chat);
      const data = { metadata: { ...metadata } as Prisma.InputJsonObject };
      await tx.prisma.chat.update({ where: { id: chat.id }, data });
      await addMessages(tx, chat.id, messages);
    });
    this.signals.publish('chat-changed', chat.id);
  }

  async metadataOf(chatId: string): Promise<Readonly<Record<string, unknown>>> {
    const found = await this.db.prisma.chat.findUnique({ where: { id: chatId }, select: { metadata: true } });
    return (found?.metadata ?? {}) as Readonly<Record<string, unknown>>;
  }

  async setMetadata(chatId: string, metadata: object): Promise<void> {
    const data = { metadata: { ...metadata } as Prisma.InputJsonObject, updatedAt: new Date() };
    await this.db.prisma.chat.updateMany({ where: { id: chatId, deletedAt: null }, data });
    this.signals.publish('chat-changed', chatId);
  }

  /** Adds messages at the end. The next response on the chat begins behind them. */
  add(chatId: string, messages: readonly NewMessage[]): Promise<ConversationChange> {
    return this.#change(chatId, async (tx) => {
      await addMessages(tx, chatId, messages);
      return 'done';
    });
  }

  /** Messages that are shown as items. `foundCount` counts those beyond the bytes of a page too. */
  messages(
    chatId: string,
    { from, limit, order }: MessagePage,
  ): Promise<{ readonly rows: readonly ChatMessage[]; readonly foundCount: number }> {
    const ordinalCondition = from === undefined ? {} : { ordinal: order === 'asc' ? { gte: from } : { lte: from } };
    return readMessages(this.db, { ...shownMessages, chatId, isActive: true, ...ordinalCondition }, order, limit);
  }

  /** The ordinal of the last message that is older than one that is gone: ids sort by time. -1: there is none. */
  async ordinalBefore(chatId: string, goneId: string): Promise<number> {
    const where = { chatId, id: { lt: goneId } };
    const found = await this.db.prisma.message.findFirst({ where, orderBy: { ordinal: 'desc' }, select: { ordinal: true } });
    return found?.ordinal ?? -1;
  }

  remove(chatId: string, messageId: string, part: RemovedPart): Promise<ConversationChange> {
    return this.#change(chatId, async (tx, agentId) => {
      const { message } = tx.prisma;
      const where = { id: messageId, chatId, isActive: true };
      const messageRow = await message.findFirst({ where });
      if (messageRow === null) return 'missing';
      const calls = (messageRow.toolCalls ?? []) as unknown as NonNullable<ChatMessage['toolCalls']>;
      const placedCalls = calls.map((call, index) => ({ ...call, place: call.place ?? index }));
      const remainingCalls = part.kind === 'call' ? placedCalls.filter(({ id }) => id !== part.id) : calls;
      const isEmpty =
        part.kind === 'message' || (remainingCalls.length === 0 && (part.kind === 'text' || messageRow.content === ''));
      if (isEmpty) {
        await removeMessages(tx, chatId, { id: messageId });
        const counts = !messageRow.isHidden && (messageRow.role === 'user' || messageRow.role === 'assistant');
        if (counts) await noteMessageCount(tx, agentId, -1);
      } else if (part.kind === 'text') await message.update({ where: { id: messageId }, data: { content: '' } });
      else
        await message.update({
          where: { id: messageId },
          data: { toolCalls: remainingCalls as unknown as Prisma.InputJsonArray },
        });
      return 'done';
    });
  }

  async #change(chatId: string, work: (tx: Transaction, agentId: string | null) => Promise<ConversationChange>) {
    const result = await this.db.transaction(async (tx) => {
      const chat = await lockChat(tx, chatId);
      if (chat === undefined || chat.deletedAt !== null) return 'missing';
      if (chat.activeRunId !== null) return 'run-active';
      const changeResult = await work(tx, chat.agentId);
      // What a response goes on from is not the newest of the chat any more.
      if (changeResult === 'done')
        await tx.prisma.chat.update({ where: { id: chatId }, data: { updatedAt: new Date(), lastRunId: null } });
      return changeResult;
    });
    if (result === 'done') this.signals.publish('chat-changed', chatId);
    return result;
  }
}
