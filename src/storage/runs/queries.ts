// Raw SQL: thread order. Followers read the log of a run in one statement, bounded in number and bytes.
import type { ChatFilter } from '../../entities/accounts/access.ts';
import type { ErrorCode } from '../../entities/errors.ts';
import type { RunError, RunEvent } from '../../entities/runs/event.ts';
import type { Run } from '../../entities/runs/run.ts';
import { chatWhere } from '../chats/filter.ts';
import type { Database } from '../database/database.ts';
import { type RunRow, runOf, unseen } from './rows.ts';

/** See RunStore.findInChats. Cost: two statements. */
export async function findInChats({ prisma }: Database, ids: readonly string[], filter: ChatFilter): Promise<readonly Run[]> {
  const rows = await prisma.run.findMany({ where: { id: { in: [...ids] } }, omit: unseen });
  const chatIds = rows.flatMap(({ chatId }) => chatId ?? []);
  if (chatIds.length === 0) return [];
  const where = { AND: [{ id: { in: chatIds }, deletedAt: null }, chatWhere(filter)] };
  const readable = new Set((await prisma.chat.findMany({ where, select: { id: true } })).map(({ id }) => id));
  return rows.filter(({ chatId }) => chatId !== null && readable.has(chatId)).map((row) => runOf(row as RunRow));
}

/** See RunStore.failuresOf. */
export async function failuresOf({ prisma }: Database, ids: readonly string[]): Promise<ReadonlyMap<string, RunError>> {
  if (ids.length === 0) return new Map();
  const where = { id: { in: [...ids] }, status: 'failed', errorCode: { not: null } };
  const rows = await prisma.run.findMany({ where, select: { id: true, errorCode: true, errorMessage: true } });
  return new Map(rows.map((row) => [row.id, { code: row.errorCode as ErrorCode, message: row.errorMessage ?? '' }]));
}

export interface EventPage {
  readonly isOver: boolean;
  readonly events: readonly RunEvent[];
  /** Whether the log has events after these. */
  readonly hasMore: boolean;
}

interface BatchRow {
  readonly isOver: boolean;
  /** Null in the one row of a run without such events. */
  readonly events: readonly RunEvent[] | null;
  readonly isNewest: boolean | null;
}

/** See RunStore.readEvents. */
export async function readEvents(db: Database, id: string, afterSequence: number, limit: number): Promise<EventPage | undefined> {
  const rows = await db.query<BatchRow>(
    `select status <> 'in_progress' as "isOver", b.events, b."isNewest" from runs left join lateral (
       select "firstSequence", events, "isNewest" from (
         select *, sum(octet_length(events::text)) over (order by "firstSequence") - octet_length(events::text) as "bytesBefore"
         from (select "firstSequence", events, sum("lastSequence" - "firstSequence" + 1) over (order by "firstSequence") as read,
             "lastSequence" = max("lastSequence") over () as "isNewest"
           from run_event_batches where "runId" = $1 and "lastSequence" > $2) batches
         where read - json_array_length(events) < $3) counted
       where "bytesBefore" < $4) b on true
     where id = $1 order by b."firstSequence"`,
    [id, afterSequence, limit, db.pageMaxBytes],
  );
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const events = rows.flatMap((row) => row.events ?? []).filter((event) => event.sequence > afterSequence);
  return { isOver: last.isOver, events, hasMore: last.isNewest === false };
}
