// Raw SQL: leases. One statement checks the state of items and changes it, by the time of the database.
import type { Database } from '../../database/database.ts';
import type { Signals } from '../../database/signals/signals.ts';
import type { ChunkStore } from '../chunks.ts';
import { periodBeginSql } from '../refresh-period.ts';
import { addUploadRun } from '../syncing/upload-runs.ts';
import { busySql, createHolderWrites, type HolderWrites } from './holder.ts';
import { type IndexingStore, type OwnedId, removedAtOnce } from './store.ts';

export type { IndexFailure, IndexingStore, IndexLease, ItemLeft, OwnedId } from './store.ts';

export function createIndexingStore(db: Database, signals: Signals, chunks: ChunkStore): IndexingStore {
  const announce = (dataSourceId: string) => signals.publish('data-source-changed', dataSourceId);
  return { ...createHolderWrites(db, chunks, announce), ...createUpkeep(db, chunks, announce) };
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
      const removed = await db.transaction((tx) =>
        chunks.removeDead(tx, { dataSourceId, itemId, generation, liveGeneration: live }, removedAtOnce),
      );
      if (removed < removedAtOnce) return;
    }
  }

  return {
    async requeueSource(dataSourceId, isForced, run, also) {
      await db.transaction(async (tx) => {
        // Another process may have queued the same refresh: one period makes one run.
        if (run.trigger === 'SCHEDULE') {
          const rowCount = await tx.execute(`select 1 from data_sources s where s.id = $1 and ${isDueSql} for update`, [
            dataSourceId,
          ]);
          if (rowCount === 0) return;
        }
        const rows = await tx.query<OwnedId & { readonly isQueued: boolean }>(
          `update knowledge_items i set "updatedAt" = now(), "isForced" = i."isForced" or $2,
           "isRunWanted" = i."indexStatus" in ${busySql},
           "indexStatus" = case when i."indexStatus" in ${busySql} then i."indexStatus" else 'QUEUED' end,
           "indexPercentage" = case when i."indexStatus" in ${busySql} then i."indexPercentage" else 0 end,
           attempt = case when i."indexStatus" in ${busySql} then i.attempt else 0 end
         from data_sources s join organizations o on o.id = s."orgId"
         where i."dataSourceId" = $1 and i."indexStatus" <> 'DELETING' and s.id = i."dataSourceId" and s."deletingAt" is null
         returning i.id, i."orgId", o."tenantId", i."indexStatus" = 'QUEUED' as "isQueued"`,
          [dataSourceId, isForced],
        );
        const itemIds = rows.map(({ id }) => id);
        await addUploadRun(tx, { ...run, dataSourceId, isForced }, itemIds);
        await also(
          tx,
          rows.filter(({ isQueued }) => isQueued),
        );
      });
      announce(dataSourceId);
    },
    async findDue() {
      return db.query<OwnedId>(dueSql);
    },
    async clean(itemId) {
      const item = await prisma.knowledgeItem.findUnique({ where: { id: itemId, indexStatus: { in: statesAtRest } } });
      if (item?.needsCleaning !== true) return;
      const { dataSourceId, lastGeneration, liveGeneration } = item;
      await removeDead(itemId, dataSourceId, lastGeneration + 1, liveGeneration);
      // A new lease has a higher generation, and its holder cleans the item.
      await prisma.knowledgeItem.updateMany({
        where: { id: itemId, lastGeneration: { lte: lastGeneration } },
        data: { needsCleaning: false, updatedAt: item.updatedAt },
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

/** Sources whose content was given: those of connected kinds are listed anew by their own schedule. */
const isDueSql = `s."deletingAt" is null and s."refreshPeriod" <> 'NEVER' and s."errorCode" is null and s.type in ('API', 'FILE_UPLOAD')
  and not exists (select 1 from knowledge_items i where i."dataSourceId" = s.id and i."indexStatus" in ('QUEUED', 'FETCHING', 'PARSING', 'INDEXING'))
  and (select coalesce(max(i."lastCheckedAt"), s."createdAt") from knowledge_items i where i."dataSourceId" = s.id) < ${periodBeginSql}`;
const dueSql = `select s.id, s."orgId", o."tenantId" from data_sources s join organizations o on o.id = s."orgId" where ${isDueSql} limit 500`;
