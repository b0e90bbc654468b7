// Raw SQL: one statement takes the next logs in the order of their keys and decides which are old, and whether a hold or a longer choice keeps them.
import { notHeld } from '../../ground/holds.ts';
import { Store } from '../../ground/store.ts';
import type { SweepPlace } from './sweeps.ts';

/** A run whose events are to be deleted. */
export interface DueLog {
  readonly runId: string;
  /** It is a stored response, whose state must be kept first. */
  readonly mustFold: boolean;
}

const logsPerBatch = 500;
/** Rows that one statement looks at. A run that is over has one, or a few. */
const rowsPerBatch = 2_000;

/** SQL: nothing can be added to the log of the run `row`. */
const isOver = `row.status <> 'in_progress' and row."incompleteReason" is distinct from 'paused'`;
/** SQL: the log of the run `row` is of a response whose state is not kept yet. */
export const mustFold = `coalesce(row.id like 'resp\\_%' and not exists (select from folded_responses folded where folded."runId" = row.id), false)`;
const notHeldHere = notHeld('row."orgId"', 'hold."userId" = row."userId"');

/**
 * SQL: the log of the run `row`, of an organization with the choice `own`, must stay. A log without a run is of one that was deleted; those of chats in
 * the bin are `SweepStore.binnedRuns`'s.
 *
 * @param log   SQL: the table with its `runId`.
 * @param now   SQL of a moment.
 * @param days  SQL: of organizations that chose none.
 */
export function isKeptLog(log: string, now: string, days: string): string {
  return `(case when row.id is null then exists (select from binned_runs binned where binned."runId" = ${log}."runId")
    else not (${isOver} and ${notHeldHere} and row."endedAt" < ${now}::timestamptz - make_interval(days => coalesce(own."eventDays", ${days}::int))) end)`;
}

/**
 * Finds the logs that are older than their organization keeps them: by their keys, because the ids of runs sort by time. So nothing that is younger is
 * read. Logs of runs that are not over or paused are never due.
 */
export class EventSweepStore extends Store {
  /**
   * The next logs between two ids, of all organizations.
   *
   * @param days  of organizations that chose none.
   * @returns `next`, the id of the last log that was looked at; undefined at the end.
   */
  async listDue(
    { after, before }: { readonly after: string; readonly before: string },
    { now, days }: { readonly now: Date; readonly days: number },
  ): Promise<{ readonly due: readonly DueLog[]; readonly next: string | undefined }> {
    const rows = await this.db.query<DueLog & { readonly isDue: boolean; readonly rows: number }>(
      `with batches as (
           select "runId" from run_event_batches where "runId" > $1 and "runId" < $2 order by "runId" limit ${rowsPerBatch}
         ), logs as (select distinct "runId" from batches)
         select logs."runId", ${mustFold} as "mustFold", (select count(*)::int from batches) as rows,
           not ${isKeptLog('logs', '$3', '$4')} as "isDue"
         from logs left join runs row on row.id = logs."runId" left join data_retentions own on own."orgId" = row."orgId"
         order by 1`,
      [after, before, now.toISOString(), days],
    );
    const last = rows.at(-1);
    return { due: rows.filter(({ isDue }) => isDue), next: last?.rows === rowsPerBatch ? last.runId : undefined };
  }

  /** The next logs of one organization, of runs that were asked for in a period and ended before its end. */
  async listDueOf(
    orgId: string,
    { from, before }: { readonly from: Date; readonly before: Date },
    after: SweepPlace | undefined,
  ): Promise<{ readonly due: readonly DueLog[]; readonly next: SweepPlace | undefined }> {
    const rows = await this.db.query<DueLog & { readonly at: Date }>(
      `select id as "runId", "createdAt" as at, ${mustFold} as "mustFold" from runs row
         where "orgId" = $1 and "createdAt" >= $2 and "createdAt" < $3 and "endedAt" < $3 and "isStored" and ${isOver} and ${notHeldHere}
           and ($4::timestamptz is null or ("createdAt", id) > ($4, $5::text))
           and coalesce((select true from run_event_batches batch where batch."runId" = row.id limit 1), false)
         order by "createdAt", id limit ${logsPerBatch}`,
      [orgId, from.toISOString(), before.toISOString(), after?.at.toISOString() ?? null, after?.id ?? ''],
    );
    const last = rows.at(-1);
    const isEnd = last === undefined || rows.length < logsPerBatch;
    return { due: rows, next: isEnd ? undefined : { at: new Date(last.at), id: last.runId } };
  }

  /** A text that differs when choices of organizations or holds differ. */
  async rules(): Promise<string> {
    const [row] = await this.db.query<{ readonly rules: string }>(
      `select concat_ws('/',
           (select sum(hashtextextended("orgId", "eventDays"))::text from data_retentions where "eventDays" is not null),
           (select sum(hashtextextended(id, 0))::text from legal_holds where "endedAt" is null)) as rules`,
    );
    return row?.rules ?? '';
  }

  async delete(runIds: readonly string[]): Promise<void> {
    await this.db.execute('delete from run_event_batches where "runId" = any($1::text[])', [runIds]);
  }
}
