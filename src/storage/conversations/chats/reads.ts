// Raw SQL: counters. A mark is the time of the last answer that a reader can see, which one statement reads and writes.
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';

/** How far users have read chats. */
export interface ChatReadStore {
  /** Marks all answers of a chat as read by a user. */
  mark(chatId: string, userId: string): Promise<void>;
  /** The time of the last answer that the user has read, by chat; none for a chat that the user never marked. Cost: one statement. */
  marksOf(chatIds: readonly string[], userId: string): Promise<ReadonlyMap<string, Date>>;
}

export function createChatReadStore(db: Database, signals: Signals): ChatReadStore {
  return {
    async mark(chatId, userId) {
      await db.execute(
        `insert into chat_reads ("chatId", "userId", "readAt")
         select id, $2, coalesce("answeredAt", "createdAt") from chats where id = $1 and "deletedAt" is null
         on conflict ("chatId", "userId") do update set "readAt" = greatest(chat_reads."readAt", excluded."readAt")`,
        [chatId, userId],
      );
      signals.publish('chat-changed', chatId);
    },
    async marksOf(chatIds, userId) {
      const found = await db.prisma.chatRead.findMany({ where: { chatId: { in: [...chatIds] }, userId } });
      return new Map(found.map(({ chatId, readAt }) => [chatId, readAt]));
    },
  };
}
