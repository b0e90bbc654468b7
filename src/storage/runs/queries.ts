// Raw SQL: a caller's rule is an SQL condition; events are read for every follower, bounded in number and bytes.
import type { ChatFilter } from '../../entities/accounts/access.ts';
import type { RunError, RunEvent } from '../../entities/runs/event.ts';
import type { Run } from '../../entities/runs/run.ts';
import { chatCondition } from '../chats/filter-sql.ts';
import type { Database } from '../database/database.ts';
import { selectRows } from '../database/sql/where.ts';
import { type RunRow, runOf } from './rows.ts';

/** See RunStore.findInChats. */
export async function findInChats(db: Database, ids: readonly string[], filter: ChatFilter): Promise<readonly Run[]> {
  const rows = await selectRows<RunRow>(
    db,
    (given) => `select r.* from runs r join chats c on c.id = r."chatId" left join agents a on a.id = c."agentId"
      where r.id = any(${given.add(ids)}::text[]) and c."deletedAt" is null and ${chatCondition(filter, given)}`,
  );
  return rows.map(runOf);
}

/** See RunStore.failuresOf. */
export async function failuresOf(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, RunError>> {
  if (ids.length === 0) return new Map();
  const rows = await db.query<{ readonly id: string } & RunError>(
    `select id, "errorCode" as code, coalesce("errorMessage", '') as message from runs
      where id = any($1::text[]) and status = 'failed' and "errorCode" is not null`,
    [ids],
  );
  return new Map(rows.map(({ id, code, message }) => [id, { code, message }]));
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
