// Raw SQL: one statement finds the runs whose events are old and deletes those.
import type { Database } from '../database/database.ts';

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

export function createRunEventStore(db: Database): RunEventStore {
  return {
    has: async (runId) => (await db.prisma.runEventBatch.findFirst({ where: { runId }, select: { runId: true } })) !== null,
    async sweep(days) {
      const rows = await db.query<{ count: number }>(
        `with old as materialized (
           select distinct r.id from run_event_batches b join runs r on r.id = b."runId"
           where b."createdAt" < now() - $1::double precision * interval '1 day' and starts_with(r.id, 'run_')
             and r.status <> 'in_progress' and r."endedAt" < now() - $1::double precision * interval '1 day' limit 500),
         gone as (delete from run_event_batches b using old where b."runId" = old.id)
         select count(*)::int as count from old`,
        [days],
      );
      return rows[0]?.count ?? 0;
    },
  };
}
