// Raw SQL: logs are read in one statement, bounded in number and bytes; a folded response is written only while its run exists.

import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Database } from '../../ground/database.ts';
import { requireShortList } from '../../ground/lists/paging.ts';
import { Store } from '../../ground/store.ts';

/** The logs of runs: what they tell of several runs, and how long they are kept. */
export class RunEventStore extends Store {
  /** Whether any event of the run still exists. */
  async has(runId: string): Promise<boolean> {
    return (await this.db.prisma.runEventBatch.findFirst({ where: { runId }, select: { runId: true } })) !== null;
  }

  /**
   * The events that tell the state of some runs, in order: of a run that is over the first and the last ones, of another all. Nothing for a run of a
   * chat whose events were deleted. Cost: one statement; one more when events were deleted.
   *
   * @throws DomainError REPLY_TOO_LARGE when they do not fit a reply.
   */
  readStates(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly RunEvent[]>> {
    return readStates(this.db, runIds);
  }

  /**
   * All events of some runs, in order, without the pieces of texts (`….delta`), which the closing events have whole. Nothing for a run whose events
   * were deleted. Cost: one statement.
   *
   * @throws DomainError REPLY_TOO_LARGE when they do not fit a reply.
   */
  readLogs(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly RunEvent[]>> {
    return readLogs(this.db, runIds);
  }

  /** Keeps what tells the state of a response when its events are deleted. A response that was deleted meanwhile keeps nothing. */
  async keepFolded(runId: string, events: readonly RunEvent[]): Promise<void> {
    await this.db.execute(
      `insert into folded_responses ("runId", events) select id, $2::json from runs where id = $1
         on conflict ("runId") do update set events = excluded.events`,
      [runId, JSON.stringify(events)],
    );
  }
}

/** See RunEventStore.readStates. Batches behind the limit of a list are counted and not read. */
async function readStates(db: Database, runIds: readonly string[]): Promise<ReadonlyMap<string, readonly RunEvent[]>> {
  const rows = await db.query<{ readonly runId: string; readonly events: readonly RunEvent[] | null; readonly bytes: number }>(
    `select "runId", case when bytes <= $2 then events end as events, bytes::float8 as bytes from (
       select b."runId", b."firstSequence", b.events, sum(octet_length(b.events::text)) over (order by b."runId", b."firstSequence") as bytes
       from run_event_batches b join runs r on r.id = b."runId"
       where b."runId" = any($1)
         and (r.status = 'in_progress' or b."firstSequence" = 0 or b."lastSequence" = r."lastSequence")) counted
     order by "runId", "firstSequence"`,
    [runIds, db.listMaxBytes],
  );
  requireShortList(db, rows.at(-1)?.bytes ?? 0);
  const batches = Map.groupBy(rows, ({ runId }) => runId);
  const states = new Map(
    batches.entries().map(([runId, batch]) => [runId, batch.flatMap(({ events }) => events ?? [])] as const),
  );
  for (const [runId, events] of await readFolded(
    db,
    runIds.filter((id) => isId('response', id) && !states.has(id)),
  )) {
    states.set(runId, [...events]);
  }
  return states;
}

/** What is left of the events of responses. @throws DomainError REPLY_TOO_LARGE. */
export async function readFolded(db: Database, runIds: readonly string[]): Promise<ReadonlyMap<string, readonly RunEvent[]>> {
  if (runIds.length === 0) return new Map();
  const rows = await db.query<{ readonly runId: string; readonly events: readonly RunEvent[] | null; readonly bytes: number }>(
    `select "runId", case when bytes <= $2 then events end as events, bytes::float8 as bytes from (
       select "runId", events, sum(octet_length(events::text)) over (order by "runId") as bytes
       from folded_responses where "runId" = any($1)) counted
     order by "runId"`,
    [runIds, db.listMaxBytes],
  );
  requireShortList(db, rows.at(-1)?.bytes ?? 0);
  return new Map(rows.map(({ runId, events }) => [runId, events ?? []]));
}

/** See RunEventStore.readLogs. Events behind the limit of a list are counted and not read. */
async function readLogs(db: Database, runIds: readonly string[]): Promise<ReadonlyMap<string, readonly RunEvent[]>> {
  const rows = await db.query<{ readonly runId: string; readonly event: RunEvent | null; readonly bytes: number }>(
    `select "runId", case when bytes <= $2 then event end as event, bytes::float8 as bytes from (
       select b."runId", b."firstSequence", e.event, e.place, sum(octet_length(e.event::text)) over (order by b."runId", b."firstSequence", e.place) as bytes
       from run_event_batches b cross join lateral json_array_elements(b.events) with ordinality e(event, place)
       where b."runId" = any($1) and e.event ->> 'type' not like '%.delta') counted
     order by "runId", "firstSequence", place`,
    [runIds, db.listMaxBytes],
  );
  requireShortList(db, rows.at(-1)?.bytes ?? 0);
  const logs = Map.groupBy(rows, ({ runId }) => runId);
  return new Map(logs.entries().map(([runId, logRows]) => [runId, logRows.flatMap(({ event }) => event ?? [])] as const));
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
