import type { IndexStatus, ItemCounts } from '../../../entities/knowledge/data-source.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';

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
  const groups = await prisma.knowledgeItem.groupBy({ by: ['dataSourceId', 'indexStatus'], where, ...countedColumns });
  const counts = groups.map(({ dataSourceId, ...group }) => ({ dataSourceId, ...toStateCount(group) }));
  return Map.groupBy(counts, ({ dataSourceId }) => dataSourceId);
}

/** The same of the items that runs of sources queued, by the ids of the runs. Cost: one statement. */
export async function countItemsOfRuns(
  { prisma }: Pick<Database, 'prisma'>,
  runs: readonly { readonly id: string; readonly dataSourceId: string }[],
): Promise<ReadonlyMap<string, readonly StateCount[]>> {
  const where = {
    dataSourceId: { in: [...new Set(runs.map(({ dataSourceId }) => dataSourceId))] },
    queuedRunId: { in: runs.map(({ id }) => id) },
  };
  const groups = await prisma.knowledgeItem.groupBy({ by: ['queuedRunId', 'indexStatus'], where, ...countedColumns });
  const counts = groups.map(({ queuedRunId, ...group }) => ({ runId: queuedRunId ?? '', ...toStateCount(group) }));
  return Map.groupBy(counts, ({ runId }) => runId);
}

const countedColumns = {
  _count: { _all: true, liveGeneration: true },
  _sum: { indexPercentage: true, sizeBytes: true },
  _min: { id: true },
} as const;

interface Group {
  readonly indexStatus: string;
  readonly _count: { readonly _all: number; readonly liveGeneration: number };
  readonly _sum: { readonly indexPercentage: number | null; readonly sizeBytes: bigint | null };
  readonly _min: { readonly id: string | null };
}

function toStateCount({ indexStatus, _count: count, _sum: sum, _min: min }: Group): StateCount {
  return {
    indexStatus: indexStatus as IndexStatus,
    count: count._all,
    answeringCount: count.liveGeneration,
    percentSum: sum.indexPercentage ?? 0,
    bytesSum: Number(sum.sizeBytes ?? 0),
    firstId: min.id ?? '',
  };
}

export function toItemCounts(counts: readonly StateCount[]): ItemCounts {
  const failedStatuses = ['FAILED', 'CANCELLED'] as const;
  const active = ['FETCHING', 'PARSING', 'INDEXING'] as const;
  return {
    initialized: countIn(counts, 'INITIALIZED'),
    queued: countIn(counts, 'QUEUED'),
    active: countIn(counts, ...active),
    indexed: countIn(counts, 'INDEXED'),
    skipped: countIn(counts, 'SKIPPED'),
    failed: countIn(counts, ...failedStatuses),
    answering: sumIn(counts, failedStatuses, ({ answeringCount }) => answeringCount),
    cancelledAnswering: sumIn(counts, ['CANCELLED'], ({ answeringCount }) => answeringCount),
    percentSum: sumIn(counts, active, ({ percentSum }) => percentSum),
  };
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
