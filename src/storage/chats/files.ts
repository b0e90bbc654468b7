import type { PoolClient } from 'pg';
import type { ChatFilter } from '../../entities/accounts/access.ts';
import type { ChatFile } from '../../entities/chats/file.ts';
import type { Database } from '../database/database.ts';
import { readWhole } from '../database/sql/bounded-rows.ts';
import { Parameters } from '../database/sql/where.ts';
import { chatCondition } from './filter.ts';

export type NewChatFile = Omit<ChatFile, 'deletedAt'>;

export interface ChatFileStore {
  /** @returns false when the chat has `filesMax` files already, or is gone. */
  create(file: NewChatFile, filesMax: number): Promise<boolean>;
  find(chatId: string, id: string): Promise<ChatFile | undefined>;
  findMany(chatId: string, ids: readonly string[]): Promise<readonly ChatFile[]>;
  /** Those among `ids` that are in a chat the filter lets through, whichever. */
  findInChats(ids: readonly string[], filter: ChatFilter): Promise<readonly ChatFile[]>;
  /** Those of each of some chats that are not deleted, oldest first. */
  listOf(chatIds: readonly string[]): Promise<readonly ChatFile[]>;
  /** Gives a record its bytes, once. @returns false when it has them already, expired, or is gone. */
  complete(
    id: string,
    content: { readonly blobKey: string; readonly mimeType: string; readonly sizeBytes: number },
  ): Promise<boolean>;
  /** @returns the keys of the bytes that no file names any more; undefined when it was gone before. */
  delete(chatId: string, id: string): Promise<readonly string[] | undefined>;
  /** Deletes all files of a chat. @returns the keys of the bytes that no file names any more. */
  deleteAll(chatId: string): Promise<readonly string[]>;
  /** Chats deleted within two days that still have files: their deletion was cut off. */
  leftBehind(limit: number): Promise<readonly string[]>;
  /** Deletes records made before a moment that never got their content. @returns how many. */
  expire(before: Date, limit: number): Promise<number>;
}

export function createChatFileStore(db: Database): ChatFileStore {
  const { pool } = db;
  return {
    create: (file, filesMax) =>
      db.transaction(async (client) => {
        const { rows } = await client.query<{ count: number }>(
          `select (select count(*)::int from chat_files where "chatId" = c.id and "deletedAt" is null) as count
           from chats c where c.id = $1 and c."deletedAt" is null for update`,
          [file.chatId],
        );
        if (rows[0] === undefined || rows[0].count >= filesMax) return false;
        await client.query(
          `insert into chat_files (id, "createdAt", "chatId", source, filename, "sizeBytes", "mimeType", metadata, status, "blobKey")
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
          [
            file.id,
            file.createdAt,
            file.chatId,
            file.source,
            file.filename,
            file.sizeBytes,
            file.mimeType,
            JSON.stringify(file.metadata),
            file.status,
            file.blobKey,
          ],
        );
        return true;
      }),
    async find(chatId, id) {
      const { rows } = await pool.query<ChatFile>(
        'select * from chat_files where id = $2 and "chatId" = $1 and "deletedAt" is null',
        [chatId, id],
      );
      return rows[0];
    },
    async findMany(chatId, ids) {
      const { rows } = await pool.query<ChatFile>(
        'select * from chat_files where id = any($2::text[]) and "chatId" = $1 and "deletedAt" is null',
        [chatId, ids],
      );
      return rows;
    },
    async findInChats(ids, filter) {
      const parameters = new Parameters();
      const { rows } = await pool.query<ChatFile>(
        `select f.* from chat_files f join chats c on c.id = f."chatId" left join agents a on a.id = c."agentId"
         where f.id = any(${parameters.add(ids)}::text[]) and f."deletedAt" is null and c."deletedAt" is null
           and ${chatCondition(filter, parameters)}`,
        [...parameters.values],
      );
      return rows;
    },
    async listOf(chatIds) {
      const text =
        'select * from chat_files where "chatId" = any($1::text[]) and "deletedAt" is null order by "chatId", "createdAt", id';
      return readWhole(db, { text, values: [chatIds] }, ['metadata', 'filename', 'mimeType']);
    },
    async complete(id, { blobKey, mimeType, sizeBytes }) {
      const { rowCount } = await pool.query(
        `update chat_files set status = 'UPLOADED', "blobKey" = $2, "mimeType" = $3, "sizeBytes" = $4
         where id = $1 and status = 'PENDING' and "deletedAt" is null`,
        [id, blobKey, mimeType, sizeBytes],
      );
      return rowCount === 1;
    },
    delete: (chatId, id) =>
      db.transaction(async (client) => {
        await lockChat(client, chatId);
        const { rows } = await client.query<Removed>(
          `${removing} where c.id = old.id and old.id = $2 and old."chatId" = $1 and c."deletedAt" is null returning old."blobKey"`,
          [chatId, id],
        );
        return rows.length === 0 ? undefined : unnamed(client, rows);
      }),
    deleteAll: (chatId) =>
      db.transaction(async (client) => {
        await lockChat(client, chatId);
        return clearChatFiles(client, chatId);
      }),
    async leftBehind(limit) {
      const { rows } = await pool.query<{ chatId: string }>(
        `select distinct f."chatId" from chat_files f join chats c on c.id = f."chatId"
         where f."deletedAt" is null and c."deletedAt" > now() - interval '2 days' limit $1`,
        [limit],
      );
      return rows.map(({ chatId }) => chatId);
    },
    async expire(before, limit) {
      const { rowCount } = await pool.query(
        `update chat_files set status = 'DELETED', "deletedAt" = now() where id in (
           select id from chat_files where status = 'PENDING' and "createdAt" < $1 limit $2 for update skip locked)`,
        [before, limit],
      );
      return rowCount ?? 0;
    },
  };
}

/** A copy of the chat that is being made either sees its files before this, or not at all. */
async function lockChat(client: PoolClient, chatId: string): Promise<void> {
  await client.query('select id from chats where id = $1 for update', [chatId]);
}

interface Removed {
  readonly blobKey: string | null;
}
const removing = `update chat_files c set status = 'DELETED', "deletedAt" = now(), "blobKey" = null
  from (select id, "chatId", "blobKey" from chat_files where "chatId" = $1) old`;

/** Deletes all files of a chat. @returns the keys of the bytes that no file names any more. */
export async function clearChatFiles(client: PoolClient, chatId: string): Promise<readonly string[]> {
  const { rows } = await client.query<Removed>(
    `${removing} where c.id = old.id and c."deletedAt" is null returning old."blobKey"`,
    [chatId],
  );
  return unnamed(client, rows);
}

/** Copies the files of a chat that have their bytes. @returns the new id of each. */
export async function copyChatFiles(
  client: PoolClient,
  fromChatId: string,
  toChatId: string,
  newId: () => string,
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ id: string }>(
    `select id from chat_files where "chatId" = $1 and status = 'UPLOADED' and "deletedAt" is null order by "createdAt", id`,
    [fromChatId],
  );
  const ids = new Map(rows.map(({ id }) => [id, newId()]));
  await client.query(
    `insert into chat_files (id, "createdAt", "chatId", source, filename, "sizeBytes", "mimeType", metadata, status, "blobKey")
     select copy."to", f."createdAt", $1, f.source, f.filename, f."sizeBytes", f."mimeType", f.metadata, f.status, f."blobKey"
     from jsonb_to_recordset($2::jsonb) as copy("from" text, "to" text) join chat_files f on f.id = copy."from"`,
    [toChatId, JSON.stringify([...ids].map(([from, to]) => ({ from, to })))],
  );
  return ids;
}

async function unnamed(client: PoolClient, removed: readonly Removed[]): Promise<readonly string[]> {
  const keys = removed.flatMap(({ blobKey }) => (blobKey === null ? [] : [blobKey]));
  if (keys.length === 0) return [];
  const { rows } = await client.query<{ blobKey: string }>(
    `select key as "blobKey" from unnest($1::text[]) as key where not exists (select 1 from chat_files where "blobKey" = key)`,
    [keys],
  );
  return rows.map(({ blobKey }) => blobKey);
}
