import type { PoolClient } from 'pg';
import type { IndexStatus } from '../entities/data-source.ts';
import type { ChunkGeneration, ChunkStore, NewChunk } from './chunks.ts';
import type { Database } from './database.ts';
import type { Signals } from './signals.ts';

/** The right to index one item, for a while. Every write with it fails once somebody else holds the item. */
export interface IndexLease {
  readonly itemId: string;
  readonly dataSourceId: string;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly owner: string;
  /** The generation to build; also the fence. */
  readonly generation: number;
  /** How many leases this content has had. */
  readonly attempt: number;
  readonly liveGeneration: number | null;
  readonly isForced: boolean;
  readonly contentHash: string | null;
  readonly contentBlobKey: string | null;
  readonly name: string;
  readonly filename: string;
  readonly mimeType: string;
}

/** Somebody else holds the item, or it is gone: stop without a word. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

export interface IndexedContent {
  readonly contentHash: string;
  readonly title: string | null;
  readonly mimeType: string;
  readonly documentCount: number;
  readonly tokenCount: number;
  readonly usageEntryId: string;
}
export interface IndexFailure {
  readonly status: 'FAILED' | 'SKIPPED';
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly isRetryable: boolean;
}

/** What the indexing jobs write. Each call is one short transaction and announces the change. */
export interface IndexingStore {
  /** Takes a queued item, or undefined when there is nothing to take. */
  lease(itemId: string, owner: string, leaseMs: number): Promise<IndexLease | undefined>;
  /** Moves on, and keeps the lease alive. @throws LeaseLostError */
  progress(lease: IndexLease, to: { readonly status: IndexStatus; readonly percentage: number }, leaseMs: number): Promise<void>;
  /** Keeps the lease alive. @throws LeaseLostError */
  renew(lease: IndexLease, leaseMs: number): Promise<void>;
  /** Adds chunks to the generation under construction, and keeps the lease alive. @throws LeaseLostError */
  addChunks(lease: IndexLease, config: string, chunks: readonly NewChunk[], percentage: number, leaseMs: number): Promise<void>;
  /**
   * Makes the generation the one that answers, removes what it replaces as far as one transaction should, and ends the lease.
   *
   * @returns whether another run was asked for meanwhile. @throws LeaseLostError
   */
  complete(lease: IndexLease, content: IndexedContent): Promise<{ readonly isRunWanted: boolean }>;
  /** The content is what it was: ends the lease. @throws LeaseLostError */
  completeUnchanged(lease: IndexLease): Promise<{ readonly isRunWanted: boolean }>;
  /** Ends the lease with a reason; what answered before goes on answering. @throws LeaseLostError */
  fail(lease: IndexLease, failure: IndexFailure): Promise<{ readonly isRunWanted: boolean }>;
  /** Gives the item back to the queue. @throws LeaseLostError */
  release(lease: IndexLease): Promise<void>;

  /** Queues the items of a source again; those at work run once more when they end. @returns the ids of those queued now. */
  requeueSource(dataSourceId: string, isForced: boolean): Promise<readonly string[]>;
  /** Queues one item again. @returns false when it is no longer at rest. */
  requeueItem(itemId: string): Promise<boolean>;
  /** Returns items to the queue whose worker fell silent, and gives up those that had `attemptsMax` tries. @returns the ids of the queued. */
  sweepExpired(attemptsMax: number): Promise<readonly string[]>;
  /** Ends the leases of all other owners: nobody else can be alive. */
  expireOthers(owner: string): Promise<void>;
  /** Items that wait for longer than `ageMs`: their job may be lost. */
  findStale(ageMs: number): Promise<readonly string[]>;
  /** Sources whose refresh is due. One that cannot be read as a whole is left alone until somebody refreshes it. */
  findDue(): Promise<readonly string[]>;
  /** Sources whose deletion began and did not end. */
  findDeleting(): Promise<readonly string[]>;
  /** Items at rest that may have chunks of dead generations. */
  findUnclean(): Promise<readonly string[]>;
  /** Removes chunks of dead generations of an item at rest. */
  clean(itemId: string): Promise<void>;
  /** Removes chunks of dead generations before a new one is built. @throws LeaseLostError */
  cleanLeased(lease: IndexLease, leaseMs: number): Promise<void>;
  /** Removes all rows behind a source under deletion; `onBlob` gets the keys of its blobs before their row goes. */
  deleteSource(dataSourceId: string, onBlob: (key: string) => Promise<void>): Promise<void>;
}

/** Chunks removed in one transaction: 25 ms of processor time (median) on the embedded database. */
const removedAtOnce = 100;

export function createIndexingStore(db: Database, signals: Signals, chunks: ChunkStore): IndexingStore {
  const { pool } = db;
  const announce = (dataSourceId: string) => signals.publish('data-source-changed', dataSourceId);

  /** Writes with the lease as a condition. */
  async function leased<Row extends object = object>(
    client: Pick<PoolClient, 'query'>,
    { itemId, owner, generation }: IndexLease,
    set: string,
    values: readonly unknown[] = [],
    returning = 'id',
  ): Promise<Row> {
    const { rows } = await client.query<Row>(
      `update knowledge_items set "updatedAt" = now(), ${set}
       where id = $1 and "leaseOwner" = $2 and "lastGeneration" = $3 returning ${returning}`,
      [itemId, owner, generation, ...values],
    );
    const [row] = rows;
    if (row === undefined) throw new LeaseLostError(`the lease of ${itemId} is lost`);
    return row;
  }

  const until = (placeholder: string) => `"leaseUntil" = now() + ${placeholder}::int * interval '1 millisecond'`;
  const ended = `"leaseOwner" = null, "leaseUntil" = null, attempt = 0, "isForced" = "isForced" and "isRunWanted", "indexPercentage" = 100`;
  const wanted = '"isRunWanted"';

  async function removeDead(itemId: string, dataSourceId: string, generation: number, live: number | null): Promise<void> {
    for (;;) {
      const removed = await db.transaction((client) =>
        chunks.removeDead(client, { dataSourceId, itemId, generation, liveGeneration: live }, removedAtOnce),
      );
      if (removed < removedAtOnce) return;
    }
  }

  return {
    async lease(itemId, owner, leaseMs) {
      const { rows } = await pool.query<IndexLease>(
        `update knowledge_items i set "updatedAt" = now(), "indexStatus" = 'FETCHING', "indexPercentage" = 0, "leaseOwner" = $2, ${until('$3')},
           attempt = attempt + 1, "lastGeneration" = "lastGeneration" + 1, "needsCleaning" = true, "isRunWanted" = false
         from data_sources s
         where i.id = $1 and i."indexStatus" in ('INITIALIZED', 'QUEUED') and s.id = i."dataSourceId" and s."deletingAt" is null
         returning i.id as "itemId", i."dataSourceId", i."orgId", s."ownerUserId", i."leaseOwner" as owner, i."lastGeneration" as generation,
           i.attempt, i."liveGeneration", i."isForced", i."contentHash", i."contentBlobKey", i.name, coalesce(i.filename, '') as filename,
           coalesce(i."mimeType", '') as "mimeType"`,
        [itemId, owner, leaseMs],
      );
      const [lease] = rows;
      if (lease !== undefined) announce(lease.dataSourceId);
      return lease;
    },
    async progress(lease, { status, percentage }, leaseMs) {
      await leased(pool, lease, `"indexStatus" = $4, "indexPercentage" = $5, ${until('$6')}`, [status, percentage, leaseMs]);
      announce(lease.dataSourceId);
    },
    async renew(lease, leaseMs) {
      await leased(pool, lease, until('$4'), [leaseMs]);
    },
    async addChunks(lease, config, newChunks, percentage, leaseMs) {
      const generation: ChunkGeneration = { ...lease, config };
      await db.transaction(async (client) => {
        await leased(client, lease, `"indexPercentage" = $4, ${until('$5')}`, [percentage, leaseMs]);
        await chunks.add(client, generation, newChunks);
      });
      announce(lease.dataSourceId);
    },
    async complete(lease, content) {
      const { itemId, dataSourceId, generation } = lease;
      const result = await db.transaction(async (client) => {
        const row = await leased<{ isRunWanted: boolean }>(
          client,
          lease,
          `"indexStatus" = 'INDEXED', "liveGeneration" = "lastGeneration", "documentCount" = $4, "tokenCount" = $5, "contentHash" = $6,
           "mimeType" = $7, metadata = case when $8::text is null then metadata - 'title' else metadata || jsonb_build_object('title', $8::text) end,
           "errorCode" = null, "errorMessage" = null, "isRetryable" = false, "indexedAt" = now(), "lastCheckedAt" = now(), ${ended}`,
          [content.documentCount, content.tokenCount, content.contentHash, content.mimeType, content.title],
          wanted,
        );
        await client.query('update data_sources set "lastIndexedAt" = now() where id = $1', [dataSourceId]);
        await client.query(
          `insert into usage_entries (id, "orgId", "userId", purpose, "modelId", "inputTokens", "outputTokens")
           values ($1, $2, $3, 'indexing', 'parley/index', $4, 0)`,
          [content.usageEntryId, lease.orgId, lease.ownerUserId, content.tokenCount],
        );
        await chunks.removeDead(client, { dataSourceId, itemId, generation, liveGeneration: generation }, removedAtOnce);
        return row;
      });
      announce(dataSourceId);
      return result;
    },
    async completeUnchanged(lease) {
      const row = await leased<{ isRunWanted: boolean }>(
        pool,
        lease,
        `"indexStatus" = 'INDEXED', "errorCode" = null, "errorMessage" = null, "isRetryable" = false, "lastCheckedAt" = now(), ${ended}`,
        [],
        wanted,
      );
      announce(lease.dataSourceId);
      return row;
    },
    async fail(lease, { status, errorCode, errorMessage, isRetryable }) {
      const row = await leased<{ isRunWanted: boolean }>(
        pool,
        lease,
        `"indexStatus" = $4, "errorCode" = $5, "errorMessage" = $6, "isRetryable" = $7, "lastCheckedAt" = now(), ${ended}`,
        [status, errorCode, errorMessage, isRetryable],
        wanted,
      );
      announce(lease.dataSourceId);
      return row;
    },
    async release(lease) {
      await leased(pool, lease, `"indexStatus" = 'QUEUED', "indexPercentage" = 0, "leaseOwner" = null, "leaseUntil" = null`);
      announce(lease.dataSourceId);
    },
    async requeueSource(dataSourceId, isForced) {
      const { rows } = await pool.query<{ id: string; isQueued: boolean }>(
        `update knowledge_items i set "updatedAt" = now(), "isForced" = i."isForced" or $2,
           "isRunWanted" = i."indexStatus" in ('FETCHING', 'PARSING', 'INDEXING'),
           "indexStatus" = case when i."indexStatus" in ('FETCHING', 'PARSING', 'INDEXING') then i."indexStatus" else 'QUEUED' end,
           "indexPercentage" = case when i."indexStatus" in ('FETCHING', 'PARSING', 'INDEXING') then i."indexPercentage" else 0 end,
           attempt = case when i."indexStatus" in ('FETCHING', 'PARSING', 'INDEXING') then i.attempt else 0 end
         from data_sources s
         where i."dataSourceId" = $1 and i."indexStatus" <> 'DELETING' and s.id = i."dataSourceId" and s."deletingAt" is null
         returning i.id, i."indexStatus" = 'QUEUED' as "isQueued"`,
        [dataSourceId, isForced],
      );
      announce(dataSourceId);
      return rows.filter(({ isQueued }) => isQueued).map(({ id }) => id);
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
    async sweepExpired(attemptsMax) {
      const { rows } = await pool.query<{ id: string; dataSourceId: string; indexStatus: IndexStatus }>(
        `update knowledge_items set "updatedAt" = now(), "leaseOwner" = null, "leaseUntil" = null, "indexPercentage" = 0,
           "indexStatus" = case when attempt < $1 then 'QUEUED' else 'FAILED' end,
           "errorCode" = case when attempt < $1 then "errorCode" else 'INTERRUPTED' end,
           "errorMessage" = case when attempt < $1 then "errorMessage"
             else 'Indexing was cut off ' || attempt || ' times; refresh the source to try again.' end,
           "isRetryable" = attempt >= $1
         where "leaseUntil" < now() and "indexStatus" in ('FETCHING', 'PARSING', 'INDEXING')
         returning id, "dataSourceId", "indexStatus"`,
        [attemptsMax],
      );
      for (const { dataSourceId } of rows) announce(dataSourceId);
      return rows.filter(({ indexStatus }) => indexStatus === 'QUEUED').map(({ id }) => id);
    },
    async expireOthers(owner) {
      await pool.query(
        `update knowledge_items set "leaseUntil" = 'epoch' where "leaseOwner" is not null and "leaseOwner" <> $1`,
        [owner],
      );
    },
    findStale: (ageMs) =>
      ids(
        pool,
        `select id from knowledge_items where "indexStatus" in ('INITIALIZED', 'QUEUED') and "leaseUntil" is null
           and "updatedAt" < now() - $1::int * interval '1 millisecond' order by "updatedAt" limit 500`,
        [ageMs],
      ),
    findDue: () => ids(pool, dueSql),
    findDeleting: () => ids(pool, 'select id from data_sources where "deletingAt" is not null limit 500'),
    findUnclean: () =>
      ids(
        pool,
        `select id from knowledge_items where "needsCleaning" and "indexStatus" in ('INDEXED', 'FAILED', 'SKIPPED', 'CANCELLED') limit 100`,
      ),
    async clean(itemId) {
      const { rows } = await pool.query<{ dataSourceId: string; generation: number; liveGeneration: number | null }>(
        `select "dataSourceId", "lastGeneration" + 1 as generation, "liveGeneration" from knowledge_items
         where id = $1 and "indexStatus" in ('INDEXED', 'FAILED', 'SKIPPED', 'CANCELLED')`,
        [itemId],
      );
      const [item] = rows;
      if (item === undefined) return;
      await removeDead(itemId, item.dataSourceId, item.generation, item.liveGeneration);
      // A lease taken meanwhile has a higher generation, and cleans for itself.
      await pool.query('update knowledge_items set "needsCleaning" = false where id = $1 and "lastGeneration" < $2', [
        itemId,
        item.generation,
      ]);
    },
    async cleanLeased(lease, leaseMs) {
      const { itemId, dataSourceId, generation, liveGeneration } = lease;
      for (;;) {
        const removed = await db.transaction(async (client) => {
          await leased(client, lease, until('$4'), [leaseMs]);
          return chunks.removeDead(client, { dataSourceId, itemId, generation, liveGeneration }, removedAtOnce);
        });
        if (removed < removedAtOnce) return;
      }
    },
    async deleteSource(dataSourceId, onBlob) {
      await pool.query(
        `update knowledge_items set "indexStatus" = 'DELETING', "leaseOwner" = null, "leaseUntil" = null, "lastGeneration" = "lastGeneration" + 1
         where "dataSourceId" = $1 and "indexStatus" <> 'DELETING'`,
        [dataSourceId],
      );
      await chunks.removeLexemes(dataSourceId);
      for (;;) {
        const { rows } = await pool.query<{ id: string; generation: number; keys: (string | null)[] }>(
          `select id, "lastGeneration" + 1 as generation, array["contentBlobKey", "documentsBlobKey"] as keys
           from knowledge_items where "dataSourceId" = $1 limit 100`,
          [dataSourceId],
        );
        for (const { id, generation, keys } of rows) {
          await removeDead(id, dataSourceId, generation, null);
          for (const key of keys) if (key !== null) await onBlob(key);
          await pool.query('delete from knowledge_items where id = $1', [id]);
        }
        if (rows.length < 100) break;
      }
      await chunks.removeLexemes(dataSourceId);
      await pool.query('delete from data_sources where id = $1 and "deletingAt" is not null', [dataSourceId]);
      announce(dataSourceId);
    },
  };
}

/** One tenth either way keeps sources that were made together from being due together. */
const dueSql = `
select s.id from data_sources s
where s."deletingAt" is null and s."refreshPeriod" <> 'NEVER' and s."errorCode" is null
  and not exists (select 1 from knowledge_items i where i."dataSourceId" = s.id and i."indexStatus" in ('QUEUED', 'FETCHING', 'PARSING', 'INDEXING'))
  and (select coalesce(max(i."lastCheckedAt"), s."createdAt") from knowledge_items i where i."dataSourceId" = s.id)
    < now() - (0.9 + (hashtext(s.id) & 1023) / 5120.0)
      * case s."refreshPeriod" when 'DAILY' then interval '1 day' when 'WEEKLY' then interval '7 days' else interval '30 days' end
limit 500`;

async function ids(pool: Database['pool'], sql: string, values: unknown[] = []): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string }>(sql, values);
  return rows.map(({ id }) => id);
}
