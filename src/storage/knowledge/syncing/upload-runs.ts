// Raw SQL: one statement joins the run of a source that is going on, or begins one; items are counted where they are.
import type { RunTrigger } from '../../../entities/knowledge/source-run.ts';
import type { Transaction } from '../../database/database.ts';
import { lockRow } from '../../database/sql/locks.ts';

/** A run of a source whose content was given: a payload, or uploaded files. Nothing is listed, so it begins with the indexing. */
export interface UploadRun {
  /** Given to a run that is new. */
  readonly id: string;
  readonly dataSourceId: string;
  readonly trigger: RunTrigger;
  readonly isForced: boolean;
}

/**
 * Notes that items of a source are indexed: in the run that is going on, else in a new one. `closeEnded` ends it.
 *
 * @param isAdded  whether the items are new.
 */
export async function addUploadRun(
  tx: Transaction,
  { id, dataSourceId, trigger, isForced }: UploadRun,
  itemIds: readonly string[],
  isAdded = false,
): Promise<void> {
  if (itemIds.length === 0) return;
  // One run at a time: others that add to the source wait here.
  await lockRow(tx, 'data_sources', dataSourceId);
  const rows = await tx.query<{ id: string }>(
    `with active as (update source_runs set "isForced" = "isForced" or $4 where "dataSourceId" = $1 and status = 'INDEXING' returning id),
       made as (insert into source_runs (id, "dataSourceId", trigger, "isForced", status, "listedAt", "isComplete")
         select $2, $1, $3, $4, 'INDEXING', now(), true where not exists (select 1 from active) returning id)
     select id from active union all select id from made`,
    [dataSourceId, id, trigger, isForced],
  );
  const runId = rows[0]?.id ?? id;
  await tx.execute(
    `update knowledge_items set "queuedRunId" = $2, "seenRunId" = case when $3 then $2 else "seenRunId" end
     where "dataSourceId" = $1 and id = any($4::text[])`,
    [dataSourceId, runId, isAdded, itemIds],
  );
  await tx.execute(
    `update source_runs r set "listedCount" = counts.listed, "addedCount" = counts.added from (
       select count(*)::int as listed, count(*) filter (where i."seenRunId" = $2)::int as added from knowledge_items i
       where i."dataSourceId" = $1 and i."queuedRunId" = $2) as counts
     where r.id = $2`,
    [dataSourceId, runId],
  );
}

/** What a run did, by the items that it queued: each is counted once. `open` is the run. */
export const uploadCountsSql = `select count(*)::int as listed,
    count(*) filter (where i."indexStatus" not in ('SKIPPED', 'DELETING') and i."seenRunId" = open.id)::int as added,
    count(*) filter (where i."indexStatus" not in ('SKIPPED', 'DELETING') and i."seenRunId" is distinct from open.id
      and (i."indexStatus" = 'FAILED' or i."indexedAt" >= open."startedAt"))::int as changed,
    count(*) filter (where i."indexStatus" not in ('SKIPPED', 'DELETING', 'FAILED') and i."seenRunId" is distinct from open.id
      and (i."indexedAt" is null or i."indexedAt" < open."startedAt"))::int as unchanged,
    count(*) filter (where i."indexStatus" = 'SKIPPED')::int as skipped,
    count(*) filter (where i."indexStatus" = 'DELETING')::int as removed,
    count(*) filter (where i."indexStatus" = 'FAILED')::int as failed,
    (array_agg(i."errorCode" order by i.id) filter (where i."indexStatus" in ('FAILED', 'SKIPPED')))[1] as code,
    (array_agg(i."errorMessage" order by i.id) filter (where i."indexStatus" in ('FAILED', 'SKIPPED')))[1] as message
  from knowledge_items i where i."dataSourceId" = open."dataSourceId" and i."queuedRunId" = open.id`;
