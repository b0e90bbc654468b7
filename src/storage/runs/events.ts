// Raw SQL: thread order. Followers read the log of a run in one statement, bounded in number and bytes.
import type { RunEvent } from '../../entities/runs/event.ts';
import type { Database } from '../database/database.ts';
import { literal } from '../database/where.ts';

/** The retention of run events. */
export interface RunEventStore {
  /** Whether any event of the run still exists. */
  has(runId: string): Promise<boolean>;
  /**
   * Deletes the events of chat runs that ended more than `days` days ago, of at most 500 runs at a time. Events of responses stay, because a response
   * is folded from its events.
   *
   * @returns of how many runs.
   */
  sweep(days: number): Promise<number>;
}

const dayMs = 86_400_000;
const runsPerSweep = 500;

export function createRunEventStore(db: Database): RunEventStore {
  return {
    has: async (runId) => (await db.prisma.runEventBatch.findFirst({ where: { runId }, select: { runId: true } })) !== null,
    async sweep(days) {
      const { run, runEventBatch } = db.prisma;
      const before = new Date(Date.now() - days * dayMs);
      const old = await runEventBatch.groupBy({
        by: ['runId'],
        where: { createdAt: { lt: before }, runId: { startsWith: literal('run_') } },
        orderBy: { runId: 'asc' },
        take: runsPerSweep,
      });
      const ended = { id: { in: old.map(({ runId }) => runId) }, status: { not: 'in_progress' }, endedAt: { lt: before } };
      const ids = (await run.findMany({ where: ended, select: { id: true } })).map(({ id }) => id);
      await runEventBatch.deleteMany({ where: { runId: { in: ids } } });
      return ids.length;
    },
  };
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
