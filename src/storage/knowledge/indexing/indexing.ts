import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { busyStates, isBusy } from '../items/states.ts';
import type { ChunkStore } from '../passages/chunks.ts';
import { findDueSources, isPeriodOver, openRuns } from '../sources/refresh-period.ts';
import { addUploadRun } from '../syncing/upload-runs.ts';
import { createHolderWrites, type HolderWrites } from './holder.ts';
import { type IndexingStore, removedAtOnce } from './store.ts';

export type { IndexedContent, IndexFailure, IndexingStore, IndexLease, ItemLeft, OwnedId } from './store.ts';

export function createIndexingStore(db: Database, signals: Signals, chunks: ChunkStore): IndexingStore {
  const announce = (dataSourceId: string) => signals.publish('data-source-changed', dataSourceId);
  return { ...createHolderWrites(db, chunks, signals, announce), ...createUpkeep(db, chunks, announce) };
}

/** What is done to items that no process indexes: queueing, due refreshes, cleaning, deletion. */
function createUpkeep(
  db: Database,
  chunks: ChunkStore,
  announce: (dataSourceId: string) => void,
): Omit<IndexingStore, keyof HolderWrites> {
  const { prisma } = db;

  async function removeDead(itemId: string, dataSourceId: string, generation: number, live: number | null): Promise<void> {
    for (;;) {
      const removedCount = await db.transaction((tx) =>
        chunks.removeDead(tx, { dataSourceId, itemId, generation, liveGeneration: live }, removedAtOnce),
      );
      if (removedCount < removedAtOnce) return;
    }
  }

  return {
    async requeueSource(dataSourceId, isForced, run, also) {
      await db.transaction(async (tx) => {
        await lockRow(tx, 'data_sources', dataSourceId);
        // Another process may have queued the same refresh: one period makes one run.
        if (run.trigger === 'SCHEDULE') {
          const source = await tx.prisma.dataSource.findUnique({
            where: { id: dataSourceId, deletingAt: null, ...givenAndIdle, runs: { none: { status: { in: openRuns } } } },
          });
          if (source === null || !isPeriodOver(source)) return;
        }
        const { knowledgeItem, organization } = tx.prisma;
        // Locks them: a process that indexes one of them ends before or after this.
        const items = await knowledgeItem.updateManyAndReturn({
          where: { dataSourceId, indexStatus: { not: 'DELETING' }, dataSource: { deletingAt: null } },
          data: { updatedAt: new Date(), isRunWanted: false, ...(isForced ? { isForced } : {}) },
          select: { id: true, orgId: true, indexStatus: true },
        });
        const toIdFilter = (some: typeof items) => ({ id: { in: some.map(({ id }) => id) } });
        const waiting = items.filter(({ indexStatus }) => !isBusy(indexStatus));
        await knowledgeItem.updateMany({
          where: toIdFilter(items.filter(({ indexStatus }) => isBusy(indexStatus))),
          data: { isRunWanted: true },
        });
        await knowledgeItem.updateMany({
          where: toIdFilter(waiting),
          data: { indexStatus: 'QUEUED', indexPercentage: 0, attempt: 0 },
        });
        const itemIds = items.map(({ id }) => id);
        await addUploadRun(tx, { ...run, dataSourceId, isForced }, itemIds);
        const orgIds = items.slice(0, 1).map(({ orgId }) => orgId);
        const [owner] = await organization.findMany({ where: { id: { in: orgIds } }, select: { tenantId: true } });
        await also(
          tx,
          waiting.map(({ id, orgId }) => ({ id, orgId, tenantId: owner?.tenantId ?? '' })),
        );
      });
      announce(dataSourceId);
    },
    findDue: () => findDueSources(db, givenAndIdle),
    async clean(itemId) {
      const item = await prisma.knowledgeItem.findUnique({ where: { id: itemId, indexStatus: { in: statesAtRest } } });
      if (item?.needsCleaning !== true) return;
      const { dataSourceId, lastGeneration, liveGeneration } = item;
      await removeDead(itemId, dataSourceId, lastGeneration + 1, liveGeneration);
      // A new lease has a higher generation, and its holder cleans the item.
      await prisma.knowledgeItem.updateMany({
        where: { id: itemId, lastGeneration: { lte: lastGeneration } },
        data: { needsCleaning: false },
      });
    },
    async deleteItem(itemId, onBlob) {
      const item = await prisma.knowledgeItem.findUnique({ where: { id: itemId, indexStatus: 'DELETING' } });
      if (item === null) return undefined;
      const { dataSourceId, lastGeneration, contentBlobKey, documentsBlobKey } = item;
      await removeDead(itemId, dataSourceId, lastGeneration + 1, null);
      for (const key of [contentBlobKey, documentsBlobKey]) if (key !== null) await onBlob(key);
      await prisma.knowledgeItem.deleteMany({ where: { id: itemId } });
      announce(dataSourceId);
      return dataSourceId;
    },
    async deleteSource(dataSourceId, onBlob) {
      await prisma.knowledgeItem.updateMany({
        where: { dataSourceId, indexStatus: { not: 'DELETING' } },
        data: { indexStatus: 'DELETING', leaseOwner: null, leaseUntil: null, lastGeneration: { increment: 1 } },
      });
      await chunks.removeLexemes(dataSourceId);
      for (;;) {
        const items = await prisma.knowledgeItem.findMany({ where: { dataSourceId }, take: 100 });
        for (const { id, lastGeneration, contentBlobKey, documentsBlobKey } of items) {
          await removeDead(id, dataSourceId, lastGeneration + 1, null);
          for (const key of [contentBlobKey, documentsBlobKey]) if (key !== null) await onBlob(key);
          await prisma.knowledgeItem.deleteMany({ where: { id } });
        }
        if (items.length < 100) break;
      }
      await chunks.removeLexemes(dataSourceId);
      await prisma.dataSource.deleteMany({ where: { id: dataSourceId, deletingAt: { not: null } } });
      announce(dataSourceId);
    },
  };
}

/** States of an item that no process indexes. */
const statesAtRest = ['INDEXED', 'FAILED', 'SKIPPED', 'CANCELLED'];

/** Sources whose content was given, of which nothing waits to be indexed: those of connected kinds are listed anew by their own schedule. */
const givenAndIdle = {
  type: { in: ['API', 'FILE_UPLOAD'] },
  errorCode: null,
  items: { none: { indexStatus: { in: ['QUEUED', ...busyStates] } } },
};
