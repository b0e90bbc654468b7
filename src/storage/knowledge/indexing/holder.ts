// Raw SQL: leases. Each write checks in the same statement that its lease is still the newest.
import type { Database, Sql } from '../../database/database.ts';
import { leaseSql, writeLeased } from '../../leases.ts';
import type { ChunkGeneration, ChunkStore } from '../chunks.ts';
import { type IndexingStore, type IndexLease, type ItemLeft, removedAtOnce } from './store.ts';

/** The writes of a process that holds an item's lease. */
export type HolderWrites = Pick<
  IndexingStore,
  'take' | 'progress' | 'addChunks' | 'complete' | 'completeUnchanged' | 'fail' | 'release' | 'cleanLeased'
>;

/** @param announce  signals to readers of a source that it changed. */
export function createHolderWrites(db: Database, chunks: ChunkStore, announce: (dataSourceId: string) => void): HolderWrites {
  const leased = <Row = object>(tx: Sql, lease: IndexLease, set: string, values: readonly unknown[] = [], returning = 'id') =>
    writeLeased<Row>(tx, 'item', lease, `"updatedAt" = now(), ${set}`, values, returning);
  // An item that changed meanwhile is queued in the same statement: a process that is killed after it loses nothing.
  const ended = (status: string) =>
    `"indexStatus" = case when "isRunWanted" then 'QUEUED' else ${status} end, ${leaseSql.ended('item')}, attempt = 0,
     "isForced" = "isForced" and "isRunWanted", "indexPercentage" = case when "isRunWanted" then 0 else 100 end`;
  const left = '"isRunWanted", "needsCleaning"';

  return {
    async take(itemId, owner, leaseMs) {
      const [lease] = await db.query<IndexLease>(
        `with before as (select id, "indexStatus" from knowledge_items where id = $1 for no key update)
         update knowledge_items i set "updatedAt" = now(), "indexStatus" = 'FETCHING', "indexPercentage" = 0, ${leaseSql.taken('item', '$2', '$3')},
           attempt = attempt + 1, "isRunWanted" = false
         from before, data_sources s join organizations o on o.id = s."orgId"
         where i.id = before.id and s.id = i."dataSourceId" and s."deletingAt" is null
           and (i."indexStatus" in ('INITIALIZED', 'QUEUED') or i."indexStatus" in ${busySql} and ${leaseSql.isFree('item', '$2')})
         returning i.id, i."dataSourceId", i."orgId", s."ownerUserId", i."leaseOwner" as owner, i."lastGeneration" as fence,
           i.attempt, before."indexStatus" in ${busySql} as "isTakenOver", i."liveGeneration", i."isForced", i."contentHash", i."contentBlobKey", i.name, coalesce(i.filename, '') as filename,
           coalesce(i."mimeType", '') as "mimeType", i."uniqueId", i."contentUrl", i.metadata, i."listedKey",
           json_build_object('type', s.type, 'data', s.data, 'tenantId', o."tenantId") as source`,
        [itemId, owner, leaseMs],
      );
      if (lease !== undefined) {
        announce(lease.dataSourceId);
        return lease;
      }
      const item = await db.prisma.knowledgeItem.findUnique({
        where: { id: itemId },
        select: { dataSourceId: true, indexStatus: true },
      });
      return item === null ? undefined : { dataSourceId: item.dataSourceId, isBusy: busyStates.includes(item.indexStatus) };
    },
    async progress(lease, { status, percentage }) {
      await leased(db, lease, '"indexStatus" = $4, "indexPercentage" = $5, "needsCleaning" = true', [status, percentage]);
      announce(lease.dataSourceId);
    },
    async addChunks(lease, config, newChunks, percentage) {
      const generation: ChunkGeneration = { ...lease, itemId: lease.id, generation: lease.fence, config };
      await db.transaction(async (tx) => {
        await leased(tx, lease, `"indexStatus" = 'INDEXING', "indexPercentage" = $4`, [percentage]);
        await chunks.add(tx, generation, newChunks);
      });
      announce(lease.dataSourceId);
    },
    async complete(lease, content) {
      const { id: itemId, dataSourceId, fence: generation, liveGeneration } = lease;
      // What earlier attempts left was removed before this generation was built.
      const isClean = liveGeneration === null;
      const result = await db.transaction(async (tx) => {
        const row = await leased<ItemLeft>(
          tx,
          lease,
          `"liveGeneration" = "lastGeneration", "documentCount" = $4, "tokenCount" = $5, "contentHash" = $6,
           "mimeType" = $7, metadata = case when $8::text is null then metadata - 'title' else metadata || jsonb_build_object('title', $8::text) end,
           "errorCode" = null, "errorMessage" = null, "isRetryable" = false, "indexedAt" = now(), "lastCheckedAt" = now(), "changeKey" = $9,
           "needsCleaning" = $10, ${ended("'INDEXED'")}`,
          [
            content.documentCount,
            content.tokenCount,
            content.contentHash,
            content.mimeType,
            content.title,
            lease.listedKey,
            !isClean,
          ],
          left,
        );
        await tx.execute('update data_sources set "lastIndexedAt" = now() where id = $1', [dataSourceId]);
        const usage = { purpose: 'indexing', modelId: 'parley/index', inputTokens: content.tokenCount, outputTokens: 0 };
        await tx.prisma.usageEntry.create({
          data: { ...usage, id: content.usageEntryId, orgId: lease.orgId, userId: lease.ownerUserId },
        });
        if (!isClean)
          await chunks.removeDead(tx, { dataSourceId, itemId, generation, liveGeneration: generation }, removedAtOnce);
        return row;
      });
      announce(dataSourceId);
      return result;
    },
    async completeUnchanged(lease) {
      const row = await leased<ItemLeft>(
        db,
        lease,
        `"errorCode" = null, "errorMessage" = null, "isRetryable" = false, "lastCheckedAt" = now(), "changeKey" = $4, ${ended("'INDEXED'")}`,
        [lease.listedKey],
        left,
      );
      announce(lease.dataSourceId);
      return row;
    },
    async fail(lease, { status, errorCode, errorMessage, isRetryable }) {
      const row = await leased<ItemLeft>(
        db,
        lease,
        // The same content would fail again: it is not fetched before it changes.
        `"errorCode" = $5, "errorMessage" = $6, "isRetryable" = $7, "lastCheckedAt" = now(),
         "changeKey" = case when $7 then "changeKey" else $8 end, ${ended('$4')}`,
        [status, errorCode, errorMessage, isRetryable, lease.listedKey],
        left,
      );
      announce(lease.dataSourceId);
      return row;
    },
    async release(lease, isCounted, also) {
      const attempt = isCounted ? 'attempt' : 'attempt - 1';
      await db.transaction(async (tx) => {
        await leased(
          tx,
          lease,
          `"indexStatus" = 'QUEUED', "indexPercentage" = 0, ${leaseSql.ended('item')}, attempt = ${attempt}`,
        );
        await also?.(tx, [{ id: lease.id, orgId: lease.orgId, tenantId: lease.source.tenantId }]);
      });
      announce(lease.dataSourceId);
    },
    async cleanLeased(lease) {
      const { id: itemId, dataSourceId, fence: generation, liveGeneration } = lease;
      // The first generation replaces nothing.
      if (generation === 1) return;
      for (;;) {
        const removed = await db.transaction(async (tx) => {
          await leased(tx, lease, '"needsCleaning" = true');
          return chunks.removeDead(tx, { dataSourceId, itemId, generation, liveGeneration }, removedAtOnce);
        });
        if (removed < removedAtOnce) return;
      }
    },
  };
}

/** States of an item that a process indexes. */
const busyStates: readonly string[] = ['FETCHING', 'PARSING', 'INDEXING'];
export const busySql = `('FETCHING', 'PARSING', 'INDEXING')`;
