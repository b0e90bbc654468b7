// Raw SQL: counters. A mark is the time of the last answer that a reader can see, which one statement reads and writes.
import { PublishingStore } from '../../ground/store.ts';

/** How far users have read chats. */
export class ChatReadStore extends PublishingStore {
  /** Marks all answers of a chat as read by a user. */
  async mark(chatId: string, userId: string): Promise<void> {
    await this.db.execute(
      `insert into chat_reads ("chatId", "userId", "readAt")
         select id, $2, coalesce("answeredAt", "createdAt") from chats where id = $1 and "deletedAt" is null
         on conflict ("chatId", "userId") do update set "readAt" = greatest(chat_reads."readAt", excluded."readAt")`,
      [chatId, userId],
    );
    this.signals.publish('chat-changed', chatId);
  }

  /** The time of the last answer that the user has read, by chat; none for a chat that the user never marked. Cost: one statement. */
  async marksOf(chatIds: readonly string[], userId: string): Promise<ReadonlyMap<string, Date>> {
    const found = await this.db.prisma.chatRead.findMany({ where: { chatId: { in: [...chatIds] }, userId } });
    return new Map(found.map(({ chatId, readAt }) => [chatId, readAt]));
  }
}
