// Raw SQL: leases. Each write checks in the same statement that its lease is still the newest.
import type { Database, Sql } from '../../database/database.ts';
import type { ChunkGeneration, ChunkStore } from '../chunks.ts';
import { type IndexingStore, type IndexLease, LeaseLostError, removedAtOnce } from './lease.ts';

/** The writes of a process that holds an item's lease. */
export type LeaseWrites = Pick<
  IndexingStore,
  'lease' | 'progress' | 'renew' | 'addChunks' | 'complete' | 'completeUnchanged' | 'fail' | 'release' | 'cleanLeased'
>;

/** @param announce  signals to readers of a source that it changed. */
export function createLeaseWrites(db: Database, chunks: ChunkStore, announce: (dataSourceId: string) => void): LeaseWrites {
  const { pool } = db;

  /** Writes on condition that the lease is still held. */
  async function leased<Row extends object = object>(
    tx: Sql,
    { itemId, owner, generation }: IndexLease,
    set: string,
    values: readonly unknown[] = [],
    returning = 'id',
  ): Promise<Row> {
    const rows = await tx.query<Row>(
      `update knowledge_items set "updatedAt" = now(), ${set}
       where id = $1 and "leaseOwner" = $2 and "lastGeneration" = $3 returning ${returning}`,
      [itemId, owner, generation, ...values],
    );
    const [row] = rows;
    if (row === undefined) throw new LeaseLostError(`the lease of ${itemId} is lost`);
    return row;
  }

  const until = (placeholder: string) => `"leaseUntil" = now() + ${placeholder}::int * interval '1 millisecond'`;
  // An item that changed meanwhile is queued in the same statement: a process that is killed after it loses nothing.
  const ended = (status: string) =>
    `"indexStatus" = case when "isRunWanted" then 'QUEUED' else ${status} end, "leaseOwner" = null, "leaseUntil" = null, attempt = 0,
     "isForced" = "isForced" and "isRunWanted", "indexPercentage" = case when "isRunWanted" then 0 else 100 end`;
  const wanted = '"isRunWanted"';

  return {
    async lease(itemId, owner, leaseMs) {
      const { rows } = await pool.query<IndexLease>(
        `update knowledge_items i set "updatedAt" = now(), "indexStatus" = 'FETCHING', "indexPercentage" = 0, "leaseOwner" = $2, ${until('$3')},
           attempt = attempt + 1, "lastGeneration" = "lastGeneration" + 1, "needsCleaning" = true, "isRunWanted" = false
         from data_sources s join organizations o on o.id = s."orgId"
         where i.id = $1 and i."indexStatus" in ('INITIALIZED', 'QUEUED') and s.id = i."dataSourceId" and s."deletingAt" is null
         returning i.id as "itemId", i."dataSourceId", i."orgId", s."ownerUserId", i."leaseOwner" as owner, i."lastGeneration" as generation,
           i.attempt, i."liveGeneration", i."isForced", i."contentHash", i."contentBlobKey", i.name, coalesce(i.filename, '') as filename,
           coalesce(i."mimeType", '') as "mimeType", i."uniqueId", i."contentUrl", i.metadata, i."listedKey",
           json_build_object('type', s.type, 'data', s.data, 'tenantId', o."tenantId") as source`,
        [itemId, owner, leaseMs],
      );
      const [lease] = rows;
      if (lease !== undefined) announce(lease.dataSourceId);
      return lease;
    },
    async progress(lease, { status, percentage }, leaseMs) {
      await leased(db, lease, `"indexStatus" = $4, "indexPercentage" = $5, ${until('$6')}`, [status, percentage, leaseMs]);
      announce(lease.dataSourceId);
    },
    async renew(lease, leaseMs) {
      await leased(db, lease, until('$4'), [leaseMs]);
    },
    async addChunks(lease, config, newChunks, percentage, leaseMs) {
      const generation: ChunkGeneration = { ...lease, config };
      await db.transaction(async (tx) => {
        await leased(tx, lease, `"indexStatus" = 'INDEXING', "indexPercentage" = $4, ${until('$5')}`, [percentage, leaseMs]);
        await chunks.add(tx, generation, newChunks);
      });
      announce(lease.dataSourceId);
    },
    async complete(lease, content) {
      const { itemId, dataSourceId, generation, liveGeneration } = lease;
      // What earlier attempts left was removed before this generation was built.
      const isClean = liveGeneration === null;
      const result = await db.transaction(async (tx) => {
        const row = await leased<{ isRunWanted: boolean }>(
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
          wanted,
        );
        await tx.execute('update data_sources set "lastIndexedAt" = now() where id = $1', [dataSourceId]);
        const usage = { purpose: 'indexing', modelId: 'parley/index', inputTokens: content.tokenCount, outputTokens: 0 };
        await tx.prisma.usageEntry.create({
          data: { ...usage, id: content.usageEntryId, orgId: lease.orgId, userId: lease.ownerUserId },
        });
        if (!isClean)
          await chunks.removeDead(tx, { dataSourceId, itemId, generation, liveGeneration: generation }, removedAtOnce);
        return { ...row, isClean };
      });
      announce(dataSourceId);
      return result;
    },
    async completeUnchanged(lease) {
      const row = await leased<{ isRunWanted: boolean }>(
        db,
        lease,
        `"errorCode" = null, "errorMessage" = null, "isRetryable" = false, "lastCheckedAt" = now(), "changeKey" = $4, ${ended("'INDEXED'")}`,
        [lease.listedKey],
        wanted,
      );
      announce(lease.dataSourceId);
      return row;
    },
    async fail(lease, { status, errorCode, errorMessage, isRetryable }) {
      const row = await leased<{ isRunWanted: boolean }>(
        db,
        lease,
        // The same content would fail again: it is not fetched before it changes.
        `"errorCode" = $5, "errorMessage" = $6, "isRetryable" = $7, "lastCheckedAt" = now(),
         "changeKey" = case when $7 then "changeKey" else $8 end, ${ended('$4')}`,
        [status, errorCode, errorMessage, isRetryable, lease.listedKey],
        wanted,
      );
      announce(lease.dataSourceId);
      return row;
    },
    async release(lease, isCounted) {
      const attempt = isCounted ? 'attempt' : 'attempt - 1';
      const queued = `"indexStatus" = 'QUEUED', "indexPercentage" = 0, "leaseOwner" = null, "leaseUntil" = null`;
      await leased(db, lease, `${queued}, attempt = ${attempt}`);
      announce(lease.dataSourceId);
    },
    async cleanLeased(lease, leaseMs) {
      const { itemId, dataSourceId, generation, liveGeneration } = lease;
      // The first generation replaces nothing.
      if (generation === 1) return;
      for (;;) {
        const removed = await db.transaction(async (tx) => {
          await leased(tx, lease, until('$4'), [leaseMs]);
          return chunks.removeDead(tx, { dataSourceId, itemId, generation, liveGeneration }, removedAtOnce);
        });
        if (removed < removedAtOnce) return;
      }
    },
  };
}
