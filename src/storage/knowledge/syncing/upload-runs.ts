import type { RunTrigger } from '../../../entities/knowledge/source-run.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Transaction } from '../../ground/database.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { countIn, countItems, type StateCount } from '../items/counts.ts';

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
  const { sourceRun, knowledgeItem } = tx.prisma;
  // One run at a time: others that add to the source wait here.
  await lockRow(tx, 'data_sources', dataSourceId);
  const open = await sourceRun.findFirst({ where: { dataSourceId, status: 'INDEXING' }, select: { id: true } });
  const runId = open?.id ?? id;
  if (open === null) {
    const run = { id, dataSourceId, trigger, isForced, status: 'INDEXING', listedAt: new Date(), isComplete: true };
    await sourceRun.create({ data: run });
  }
  const { count } = await knowledgeItem.updateMany({
    where: { dataSourceId, id: { in: [...itemIds] }, OR: [{ queuedRunId: null }, { queuedRunId: { not: runId } }] },
    data: { queuedRunId: runId, ...(isAdded ? { seenRunId: runId } : {}) },
  });
  const addition = isAdded ? { addedCount: { increment: count } } : {};
  const forcing = isForced ? { isForced } : {};
  await sourceRun.update({ where: { id: runId }, data: { listedCount: { increment: count }, ...addition, ...forcing } });
}

/** How such a run ends, by the items that it queued: each is counted once. */
export async function uploadRunEnd(
  tx: Transaction,
  run: { readonly id: string; readonly dataSourceId: string; readonly startedAt: Date },
) {
  const { id, dataSourceId, startedAt } = run;
  const queuedWhere = { dataSourceId, queuedRunId: id };
  const earlier = { ...queuedWhere, OR: [{ seenRunId: null }, { seenRunId: { not: id } }] };
  const countStates = async (where: Prisma.KnowledgeItemWhereInput): Promise<readonly StateCount[]> =>
    (await countItems(tx, where)).get(dataSourceId) ?? [];
  const addedCounts = await countStates({ ...queuedWhere, seenRunId: id });
  const indexedCounts = await countStates({ ...earlier, indexedAt: { gte: startedAt } });
  const others = await countStates({ AND: [earlier, { OR: [{ indexedAt: null }, { indexedAt: { lt: startedAt } }] }] });
  const all = [...addedCounts, ...indexedCounts, ...others];
  const [listedCount, failedCount] = [sumCounts(all), countIn(all, 'FAILED')];
  const removedOrSkipped = ['SKIPPED', 'DELETING'] as const;
  const first = await tx.prisma.knowledgeItem.findFirst({
    where: { ...queuedWhere, indexStatus: { in: ['FAILED', 'SKIPPED'] } },
    orderBy: { id: 'asc' },
    select: { errorCode: true, errorMessage: true },
  });
  return {
    status: failedCount > 0 && failedCount === listedCount ? 'FAILED' : 'COMPLETED',
    listedCount,
    addedCount: sumCounts(addedCounts) - countIn(addedCounts, ...removedOrSkipped),
    changedCount: sumCounts(indexedCounts) - countIn(indexedCounts, ...removedOrSkipped) + countIn(others, 'FAILED'),
    unchangedCount: sumCounts(others) - countIn(others, ...removedOrSkipped, 'FAILED'),
    skippedCount: countIn(all, 'SKIPPED'),
    removedCount: countIn(all, 'DELETING'),
    failedCount,
    errorCode: first?.errorCode ?? null,
    errorMessage: first?.errorMessage ?? null,
  };
}

function sumCounts(counts: readonly StateCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}
