import type { Pool, PoolClient } from 'pg';
import { type NewMessage, withTimes } from '../../entities/chats/chat.ts';
import type { RunItem } from '../../entities/runs/event.ts';
import type { ResponseItem, WireObject } from '../../entities/runs/response.ts';
import type { Run } from '../../entities/runs/run.ts';
import type { Database } from '../database/database.ts';
import { readPage } from '../database/sql/bounded-rows.ts';
import { type RunRow, runOf } from './runs.ts';

/** Whose responses: those of one user in one organization. */
export interface ResponseOwner {
  readonly userId: string;
  readonly orgId: string;
}

/** An item that a request refers to: as it was given, or as a run said it. */
export type FoundItem =
  | { readonly direction: 'input'; readonly itemId: string; readonly item: WireObject }
  | { readonly direction: 'output'; readonly itemId: string; readonly item: RunItem };

export interface ItemPage {
  readonly after: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

export interface ResponseStore {
  find(id: string, owner: ResponseOwner): Promise<Run | undefined>;
  /** The newest item of each id among the owner's. Cost: one statement. */
  findItems(ids: readonly string[], owner: ResponseOwner): Promise<ReadonlyMap<string, FoundItem>>;
  /** @returns undefined when there is no item `after`. */
  listInput(
    id: string,
    page: ItemPage,
  ): Promise<{ readonly items: readonly WireObject[]; readonly hasMore: boolean } | undefined>;
  /** What a response was given that has not entered its chat: it waits, or never began. */
  findPending(id: string): Promise<readonly NewMessage[]>;
  /** Whether only one caller waits for it: it gathered no others, and is not in the background. */
  isAlone(id: string): Promise<boolean>;
  /** Removes a response that is over, with what it left in its chat; a chat that holds nothing any more goes with it. */
  delete(id: string, owner: ResponseOwner): Promise<boolean>;
}

export function createResponseStore(db: Database): ResponseStore {
  const { pool } = db;
  return {
    async find(id, { userId, orgId }) {
      const { rows } = await pool.query<RunRow>('select * from runs where id = $1 and "userId" = $2 and "orgId" = $3', [
        id,
        userId,
        orgId,
      ]);
      return rows[0] === undefined ? undefined : runOf(rows[0]);
    },
    async findItems(ids, { userId, orgId }) {
      if (ids.length === 0) return new Map();
      const { rows } = await pool.query<FoundItem>(
        `select distinct on ("itemId") direction, "itemId", item from response_items
         where "itemId" = any($1::text[]) and "userId" = $2 and "orgId" = $3
         order by "itemId", direction desc, "runId" desc`,
        [ids, userId, orgId],
      );
      return new Map(rows.map((row) => [row.itemId, row]));
    },
    async listInput(id, { after, limit, order }) {
      const isRising = order === 'asc';
      let bound: number | null = null;
      if (after !== undefined) {
        const { rows } = await pool.query<{ ordinal: number }>(
          `select ordinal from response_items where "runId" = $1 and direction = 'input' and "itemId" = $2
           order by ordinal ${isRising ? 'desc' : 'asc'} limit 1`,
          [id, after],
        );
        if (rows[0] === undefined) return undefined;
        bound = rows[0].ordinal;
      }
      const text = `select item from response_items where "runId" = $1 and direction = 'input'
          and ($2::int is null or ordinal ${isRising ? '>' : '<'} $2)
        order by ordinal ${isRising ? 'asc' : 'desc'} limit $3`;
      const { rows, foundCount } = await readPage<{ item: WireObject }>(db, { text, values: [id, bound, limit + 1] }, ['item']);
      const items = rows.slice(0, limit).map(({ item }) => item);
      return { items, hasMore: foundCount > items.length };
    },
    async findPending(id) {
      const { rows } = await pool.query<{ messages: readonly NewMessage[] | null }>(
        'select "pendingMessages" as messages from runs where id = $1',
        [id],
      );
      return (rows[0]?.messages ?? []).map(withTimes);
    },
    async isAlone(id) {
      const { rowCount } = await pool.query(
        `select 1 from runs where id = $1 and status = 'in_progress' and not "isBackground" and "queuedRequests" = 1 and steers = '[]'`,
        [id],
      );
      return rowCount === 1;
    },
    async delete(id, { userId, orgId }) {
      return db.transaction(async (client) => {
        const { rows } = await client.query<{ chatId: string }>(
          `select c.id as "chatId" from runs r join chats c on c.id = r."chatId"
           where r.id = $1 and r."userId" = $2 and r."orgId" = $3 for update of c`,
          [id, userId, orgId],
        );
        const chatId = rows[0]?.chatId;
        const { rowCount } = await client.query(`delete from runs where id = $1 and status <> 'in_progress'`, [id]);
        if (chatId === undefined || rowCount !== 1) return false;
        await client.query('delete from run_event_batches where "runId" = $1', [id]);
        await client.query('delete from response_items where "runId" = $1', [id]);
        await deleteMessages(client, id, chatId);
        return true;
      });
    },
  };
}

/** Adds input items behind those that are there. */
export async function addItems(client: Pick<Pool, 'query'>, runId: string, items: readonly ResponseItem[]): Promise<void> {
  if (items.length === 0) return;
  const rows = items.map(({ itemId, item }, index) => ({ index, itemId, item }));
  await client.query(
    `insert into response_items ("runId", direction, ordinal, "itemId", "orgId", "userId", item)
     select r.id, 'input', i.index + (select coalesce(max(ordinal) + 1, 0) from response_items where "runId" = $1 and direction = 'input'),
       i."itemId", r."orgId", r."userId", i.item
     from json_to_recordset($2::json) as i(index int, "itemId" text, item json), runs r where r.id = $1`,
    [runId, JSON.stringify(rows)],
  );
}

async function deleteMessages(client: PoolClient, runId: string, chatId: string): Promise<void> {
  const { rows } = await client.query<{ isSpoken: boolean }>(
    `delete from messages where "chatId" = $2 and "runId" = $1
     returning role in ('user', 'assistant') and not "isHidden" as "isSpoken"`,
    [runId, chatId],
  );
  const spoken = rows.filter(({ isSpoken }) => isSpoken).length;
  await client.query(
    `update agents set "messageCount" = "messageCount" - $2 where id = (select "agentId" from chats where id = $1)`,
    [chatId, spoken],
  );
  await client.query(
    `update chats set "lastRunId" = (select id from runs where "chatId" = $1 and not "isWaiting" order by "createdAt" desc limit 1),
       "deletedAt" = case when "activeRunId" is null and not exists (select 1 from messages where "chatId" = $1) then now() end
     where id = $1`,
    [chatId],
  );
}
