import type { IndexStatus } from '../../entities/knowledge/data-source.ts';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';

/** Items in one state. */
export interface StateCount {
  readonly indexStatus: IndexStatus;
  readonly count: number;
  /** Of those, how many have passages that answer. */
  readonly answeringCount: number;
  /** Sum of their percentages. */
  readonly percentSum: number;
  readonly bytesSum: number;
  /** The lowest of their ids. */
  readonly firstId: string;
}

/** Counts items by source and state. Counted at every reading: nothing that could drift from the items. Cost: one statement. */
export async function countItems(
  { prisma }: Pick<Database, 'prisma'>,
  where: Prisma.KnowledgeItemWhereInput,
): Promise<ReadonlyMap<string, readonly StateCount[]>> {
  const groups = await prisma.knowledgeItem.groupBy({
    by: ['dataSourceId', 'indexStatus'],
    where,
    _count: { _all: true, liveGeneration: true },
    _sum: { indexPercentage: true, sizeBytes: true },
    _min: { id: true },
  });
  const counts = groups.map(({ dataSourceId, indexStatus, _count: count, _sum: sum, _min: min }) => ({
    dataSourceId,
    indexStatus: indexStatus as IndexStatus,
    count: count._all,
    answeringCount: count.liveGeneration,
    percentSum: sum.indexPercentage ?? 0,
    bytesSum: Number(sum.sizeBytes ?? 0),
    firstId: min.id ?? '',
  }));
  return Map.groupBy(counts, ({ dataSourceId }) => dataSourceId);
}

/** How many items are in one of the states. */
export function countIn(counts: readonly StateCount[], ...statuses: readonly IndexStatus[]): number {
  return sumIn(counts, statuses, ({ count }) => count);
}

/** Sums a number of the items that are in one of the states. */
export function sumIn(
  counts: readonly StateCount[],
  statuses: readonly IndexStatus[],
  numberOf: (count: StateCount) => number,
): number {
  return counts.reduce((sum, count) => sum + (statuses.includes(count.indexStatus) ? numberOf(count) : 0), 0);
}
