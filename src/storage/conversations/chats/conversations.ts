import type { ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import { noteMessageCount } from '../../agents/counters.ts';
import { Prisma } from '../../generated/client.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { lockChat } from '../../ground/sql/locks.ts';
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

/** Chats as conversations: with metadata, and changed item by item. Their items are those of the active branch. */
export interface ConversationStore {
  create(chat: NewChat, metadata: object, messages: readonly NewMessage[]): Promise<void>;
  metadataOf(chatId: string): Promise<Readonly<Record<string, unknown>>>;
  setMetadata(chatId: string, metadata: object): Promise<void>;
  /** Adds messages at the end. The next response on the chat begins behind them. */
  add(chatId: string, messages: readonly NewMessage[]): Promise<ConversationChange>;
  /** Messages that are shown as items. `foundCount` counts those beyond the bytes of a page too. */
  messages(chatId: string, page: MessagePage): Promise<{ readonly rows: readonly ChatMessage[]; readonly foundCount: number }>;
  remove(chatId: string, messageId: string, part: RemovedPart): Promise<ConversationChange>;
}

/** Messages of which an item is shown: hidden ones are those of the developer and items that are only kept. */
const shown: Prisma.MessageWhereInput = {
  OR: [{ isHidden: false }, { role: 'system' }, { item: { not: Prisma.DbNull } }],
  NOT: {
    ...{ role: 'assistant', content: '', item: { equals: Prisma.DbNull } },
    OR: [{ toolCalls: { equals: Prisma.DbNull } }, { toolCalls: { equals: [] } }],
  },
};

export function createConversationStore(db: Database, signals: Signals): ConversationStore {
  async function change(chatId: string, work: (tx: Transaction, agentId: string | null) => Promise<ConversationChange>) {
    const result = await db.transaction(async (tx) => {
      const chat = await lockChat(tx, chatId);
      if (chat === undefined || chat.deletedAt !== null) return 'missing';
      if (chat.activeRunId !== null) return 'run-active';
      const done = await work(tx, chat.agentId);
      // What a response goes on from is not the newest of the chat any more.
      if (done === 'done')
        await tx.prisma.chat.update({ where: { id: chatId }, data: { updatedAt: new Date(), lastRunId: null } });
      return done;
    });
    if (result === 'done') signals.publish('chat-changed', chatId);
    return result;
  }
  return {
    async create(chat, metadata, messages) {
      await db.transaction(async (tx) => {
        await addChat(tx, chat);
        const data = { metadata: { ...metadata } as Prisma.InputJsonObject };
        await tx.prisma.chat.update({ where: { id: chat.id }, data });
        await addMessages(tx, chat.id, messages);
      });
      signals.publish('chat-changed', chat.id);
    },
    async metadataOf(chatId) {
      const found = await db.prisma.chat.findUnique({ where: { id: chatId }, select: { metadata: true } });
      return (found?.metadata ?? {}) as Readonly<Record<string, unknown>>;
    },
    async setMetadata(chatId, metadata) {
      const data = { metadata: { ...metadata } as Prisma.InputJsonObject, updatedAt: new Date() };
      await db.prisma.chat.updateMany({ where: { id: chatId, deletedAt: null }, data });
      signals.publish('chat-changed', chatId);
    },
    add: (chatId, messages) =>
      change(chatId, async (tx) => {
        await addMessages(tx, chatId, messages);
        return 'done';
      }),
    messages(chatId, { from, limit, order }) {
      const bound = from === undefined ? {} : { ordinal: order === 'asc' ? { gte: from } : { lte: from } };
      return readMessages(db, { ...shown, chatId, isActive: true, ...bound }, order, limit);
    },
    remove: (chatId, messageId, part) =>
      change(chatId, async (tx, agentId) => {
        const { message } = tx.prisma;
        const where = { id: messageId, chatId, isActive: true };
        const found = await message.findFirst({ where });
        if (found === null) return 'missing';
        const calls = (found.toolCalls ?? []) as unknown as NonNullable<ChatMessage['toolCalls']>;
        const left = part.kind === 'call' ? calls.filter(({ id }) => id !== part.id) : calls;
        const isEmpty = part.kind === 'message' || (left.length === 0 && (part.kind === 'text' || found.content === ''));
        if (isEmpty) {
          await removeMessages(tx, chatId, { id: messageId });
          const counts = !found.isHidden && (found.role === 'user' || found.role === 'assistant');
          if (counts) await noteMessageCount(tx, agentId, -1);
        } else if (part.kind === 'text') await message.update({ where: { id: messageId }, data: { content: '' } });
        else await message.update({ where: { id: messageId }, data: { toolCalls: left as unknown as Prisma.InputJsonArray } });
        return 'done';
      }),
  };
}
