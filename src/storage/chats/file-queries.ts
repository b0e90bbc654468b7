// Raw SQL: lists are bounded in bytes, and locked records are skipped.
import type { ChatFile } from '../../entities/chats/file.ts';
import type { Database } from '../database/database.ts';
import { readWhole } from '../database/sql/bounded-rows.ts';

/** The queries of ChatFileStore. */
export function createFileQueries(db: Database) {
  return {
    listOf(chatIds: readonly string[], deletedAfter?: Date) {
      const text = `select * from chat_files where "chatId" = any($1::text[]) and ("deletedAt" is null or "deletedAt" > $2)
        order by "chatId", "createdAt", id`;
      return readWhole<ChatFile>(db, { text, values: [chatIds, deletedAfter ?? null] }, ['metadata', 'filename', 'mimeType']);
    },
    async expire(before: Date, limit: number) {
      const rowCount = await db.execute(
        `update chat_files set status = 'DELETED', "deletedAt" = now() where id in (
           select id from chat_files where status = 'PENDING' and "createdAt" < $1 limit $2 for update skip locked)`,
        [before, limit],
      );
      return rowCount ?? 0;
    },
  };
}
