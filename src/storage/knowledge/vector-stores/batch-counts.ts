// Raw SQL: counters. Prisma groups no rows by a column of another table.
import type { IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { Database } from '../../ground/database.ts';
import type { StateCount } from '../items/counts.ts';

/** Counts the files of batches by their states, as `countItems` does for sources. Cost: one statement. */
export async function countFilesOfBatches(
  db: Database,
  batchIds: readonly string[],
): Promise<ReadonlyMap<string, readonly StateCount[]>> {
  const rows = await db.query<{ readonly batchId: string; readonly indexStatus: IndexStatus; readonly count: number }>(
    `select of_batch."batchId", i."indexStatus", count(*)::int as count
     from vector_store_batch_files of_batch join knowledge_items i on i.id = of_batch."itemId"
     where of_batch."batchId" = any($1::text[]) and i."indexStatus" <> 'DELETING'
     group by of_batch."batchId", i."indexStatus"`,
    [batchIds],
  );
  const counts = rows.map((row) => ({ ...row, answeringCount: 0, percentSum: 0, bytesSum: 0, firstId: '' }));
  return Map.groupBy(counts, ({ batchId }) => batchId);
}
