// Raw SQL: leases. One statement checks the state of items and changes it, by the time of the database.
import type { IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { Database } from '../../database/database.ts';
import type { ChunkStore } from '../chunks.ts';
import { periodBeginSql } from '../refresh-period.ts';
import { addUploadRun } from '../syncing/upload-runs.ts';
import { type IndexingStore, type OwnedId, removedAtOnce } from './lease.ts';
import type { LeaseWrites } from './lease-writes.ts';

/** The upkeep of items that no process indexes: queueing, expired leases, due refreshes, deletions. */
export function createUpkeep(
  db: Database,
  chunks: ChunkStore,
  announce: (dataSourceId: string) => void,
): Omit<IndexingStore, keyof LeaseWrites> {
  const { pool, prisma } = db;

  async function removeDead(itemId: string, dataSourceId: string, generation: number, live: number | null): Promise<void> {
    for (;;) {
      const removed = await db.transaction((tx) =>
        chunks.removeDead(tx, { dataSourceId, itemId, generation, liveGeneration: live }, removedAtOnce),
      );
      if (removed < removedAtOnce) return;
    }
  }

  return {
    async requeueSource(dataSourceId, isForced, run) {
      const rows = await db.transaction(async (tx) => {
        // Another process may have queued the same refresh: one period makes one run.
        if (run.trigger === 'SCHEDULE') {
          const rowCount = await tx.execute(`select 1 from data_sources s where s.id = $1 and ${isDueSql} for update`, [
            dataSourceId,
          ]);
          if (rowCount === 0) return [];
        }
        const requeued = await tx.query<OwnedId & { readonly isQueued: boolean }>(
          `update knowledge_items i set "updatedAt" = now(), "isForced" = i."isForced" or $2,
           "isRunWanted" = i."indexStatus" in ('FETCHING', 'PARSING', 'INDEXING'),
           "indexStatus" = case when i."indexStatus" in ('FETCHING', 'PARSING', 'INDEXING') then i."indexStatus" else 'QUEUED' end,
           "indexPercentage" = case when i."indexStatus" in ('FETCHING', 'PARSING', 'INDEXING') then i."indexPercentage" else 0 end,
           attempt = case when i."indexStatus" in ('FETCHING', 'PARSING', 'INDEXING') then i.attempt else 0 end
         from data_sources s join organizations o on o.id = s."orgId"
         where i."dataSourceId" = $1 and i."indexStatus" <> 'DELETING' and s.id = i."dataSourceId" and s."deletingAt" is null
         returning i.id, i."orgId", o."tenantId", i."indexStatus" = 'QUEUED' as "isQueued"`,
          [dataSourceId, isForced],
        );
        const itemIds = requeued.map(({ id }) => id);
        await addUploadRun(tx, { ...run, dataSourceId, isForced }, itemIds);
        return requeued;
      });
      announce(dataSourceId);
      return rows.filter(({ isQueued }) => isQueued).map(ownedId);
    },
    async requeueItem(itemId) {
      const { rows } = await pool.query<{ dataSourceId: string }>(
        `update knowledge_items set "updatedAt" = now(), "indexStatus" = 'QUEUED', "indexPercentage" = 0
         where id = $1 and "indexStatus" in ('INDEXED', 'FAILED', 'SKIPPED', 'CANCELLED', 'QUEUED') returning "dataSourceId"`,
        [itemId],
      );
      for (const { dataSourceId } of rows) announce(dataSourceId);
      return rows.length > 0;
    },
    async sweepExpired(startsMax) {
      const { rows } = await pool.query<OwnedId & { readonly dataSourceId: string; readonly indexStatus: IndexStatus }>(
        `update knowledge_items i set "updatedAt" = now(), "leaseOwner" = null, "leaseUntil" = null, "indexPercentage" = 0,
           "indexStatus" = case when attempt < $1 then 'QUEUED' else 'FAILED' end,
           "errorCode" = case when attempt < $1 then "errorCode" else 'INTERRUPTED' end,
           "errorMessage" = case when attempt < $1 then "errorMessage"
             else 'The process that indexed the document ended ' || attempt || ' times while it did; retry the document to try again.' end,
           "isRetryable" = false, "changeKey" = case when attempt < $1 then "changeKey" else "listedKey" end,
           "lastCheckedAt" = case when attempt < $1 then "lastCheckedAt" else now() end
         where "leaseUntil" < now() and "indexStatus" in ('FETCHING', 'PARSING', 'INDEXING')
         returning i.id, i."orgId", ${tenantOf('i')}, i."dataSourceId", i."indexStatus"`,
        [startsMax],
      );
      for (const { dataSourceId } of rows) announce(dataSourceId);
      return rows.filter(({ indexStatus }) => indexStatus === 'QUEUED').map(ownedId);
    },
    async expireOthers(owner) {
      await pool.query(
        `update knowledge_items set "leaseUntil" = 'epoch' where "leaseOwner" is not null and "leaseOwner" <> $1`,
        [owner],
      );
    },
    findStale: (ageMs) =>
      owned(
        pool,
        `select i.id, i."orgId", ${tenantOf('i')} from knowledge_items i where "indexStatus" in ('INITIALIZED', 'QUEUED') and "leaseUntil" is null
           and "updatedAt" < now() - $1::int * interval '1 millisecond' order by "updatedAt" limit 500`,
        [ageMs],
      ),
    findDue: () => owned(pool, dueSql),
    async findDeleting() {
      const select = { id: true, orgId: true, organization: { select: { tenantId: true } } };
      const sources = await prisma.dataSource.findMany({ where: { deletingAt: { not: null } }, select, take: 500 });
      return sources.map(({ organization, ...source }) => ({ ...source, ...organization }));
    },
    async findUnclean() {
      const where = { needsCleaning: true, indexStatus: { in: statesAtRest } };
      return (await prisma.knowledgeItem.findMany({ where, select: { id: true }, take: 100 })).map(({ id }) => id);
    },
    async clean(itemId) {
      const item = await prisma.knowledgeItem.findUnique({ where: { id: itemId, indexStatus: { in: statesAtRest } } });
      if (item === null) return;
      const { dataSourceId, lastGeneration, liveGeneration } = item;
      await removeDead(itemId, dataSourceId, lastGeneration + 1, liveGeneration);
      // A new lease has a higher generation, and its holder cleans the item.
      await pool.query('update knowledge_items set "needsCleaning" = false where id = $1 and "lastGeneration" <= $2', [
        itemId,
        lastGeneration,
      ]);
    },
    findDeletingItems: () =>
      owned(
        pool,
        `select i.id, i."orgId", ${tenantOf('i')} from knowledge_items i join data_sources s on s.id = i."dataSourceId"
         where i."indexStatus" = 'DELETING' and s."deletingAt" is null limit 500`,
      ),
    async deleteItem(itemId, onBlob) {
      const item = await prisma.knowledgeItem.findUnique({ where: { id: itemId, indexStatus: 'DELETING' } });
      if (item === null) return;
      const { dataSourceId, lastGeneration, contentBlobKey, documentsBlobKey } = item;
      await removeDead(itemId, dataSourceId, lastGeneration + 1, null);
      for (const key of [contentBlobKey, documentsBlobKey]) if (key !== null) await onBlob(key);
      await prisma.knowledgeItem.deleteMany({ where: { id: itemId } });
      announce(dataSourceId);
    },
    async deleteSource(dataSourceId, onBlob) {
      await pool.query(
        `update knowledge_items set "indexStatus" = 'DELETING', "leaseOwner" = null, "leaseUntil" = null, "lastGeneration" = "lastGeneration" + 1
         where "dataSourceId" = $1 and "indexStatus" <> 'DELETING'`,
        [dataSourceId],
      );
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

/** SQL for the tenant of a row that has an organization. */
function tenantOf(row: string): string {
  return `coalesce((select o."tenantId" from organizations o where o.id = ${row}."orgId"), '') as "tenantId"`;
}

function ownedId({ id, orgId, tenantId }: OwnedId): OwnedId {
  return { id, orgId, tenantId };
}

/** Sources whose content was given: those of connected kinds are listed anew by their own schedule. */
const isDueSql = `s."deletingAt" is null and s."refreshPeriod" <> 'NEVER' and s."errorCode" is null and s.type in ('API', 'FILE_UPLOAD')
  and not exists (select 1 from knowledge_items i where i."dataSourceId" = s.id and i."indexStatus" in ('QUEUED', 'FETCHING', 'PARSING', 'INDEXING'))
  and (select coalesce(max(i."lastCheckedAt"), s."createdAt") from knowledge_items i where i."dataSourceId" = s.id) < ${periodBeginSql}`;
const dueSql = `select s.id, s."orgId", ${tenantOf('s')} from data_sources s where ${isDueSql} limit 500`;

async function owned(pool: Database['pool'], sql: string, values: unknown[] = []): Promise<readonly OwnedId[]> {
  return (await pool.query<OwnedId>(sql, values)).rows;
}
