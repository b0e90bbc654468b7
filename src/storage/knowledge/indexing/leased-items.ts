// Raw SQL: leases. The statement that takes an item also reads it.
import type { IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { Database, Sql } from '../../ground/database.ts';
import { leaseSql, takeLeased, writeLeased } from '../../ground/leases.ts';
import { addUsage, UsageBatch, type UsageRow } from '../../ground/ledger/ledger.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { isBusy, openStates } from '../items/states.ts';
import type { ChunkGeneration, ChunkStore, NewChunk } from '../passages/chunks.ts';
import {
  type AlsoInTransaction,
  type IndexedContent,
  type IndexFailure,
  type IndexLease,
  type ItemLeft,
  removedAtOnce,
} from './lease.ts';

/** Nothing is reserved for indexing: no call of a model waits behind it. */
export const nobody = '';
const leftoverColumns = '"isRunWanted", "needsCleaning"';

/** The items that a process holds the lease of. */
export class LeasedItems {
  readonly #db: Database;
  readonly #signals: Signals;
  readonly #chunks: ChunkStore;

  constructor(db: Database, signals: Signals, chunks: ChunkStore) {
    this.#db = db;
    this.#signals = signals;
    this.#chunks = chunks;
  }

  /**
   * Takes an item that is queued, or whose holder is gone: its lease ran out, or was one of `owner`.
   *
   * @returns where it belongs, when it cannot be taken: another holder indexes it, or it is at rest; undefined when it is gone.
   */
  async take(
    itemId: string,
    owner: string,
    leaseMs: number,
  ): Promise<IndexLease | { readonly dataSourceId: string; readonly isBusy: boolean } | undefined> {
    const before = await findPlace(this.#db, itemId);
    if (before === null) return undefined;
    const { dataSourceId, indexStatus, dataSource } = before;
    const lease =
      dataSource.deletingAt === null ? await takeItem(this.#db, { id: itemId, owner, leaseMs }, indexStatus) : undefined;
    if (lease !== undefined) {
      this.#signals.publish('data-source-changed', dataSourceId);
      return lease;
    }
    const now = await findPlace(this.#db, itemId);
    return now === null ? undefined : { dataSourceId, isBusy: isBusy(now.indexStatus) };
  }

  /** @throws LeaseLostError */
  async progress(
    lease: IndexLease,
    { status, percentage }: { readonly status: IndexStatus; readonly percentage: number },
  ): Promise<void> {
    await updateLeased(this.#db, lease, '"indexStatus" = $4, "indexPercentage" = $5', [status, percentage]);
    this.#signals.publish('data-source-changed', lease.dataSourceId);
  }

  /** Adds chunks to the generation under construction, and stores the progress. @throws LeaseLostError */
  async addChunks(lease: IndexLease, config: string, newChunks: readonly NewChunk[], percentage: number): Promise<void> {
    await this.#db.transaction(async (tx) => {
      await updateLeased(tx, lease, `"indexStatus" = 'INDEXING', "indexPercentage" = $4, "needsCleaning" = true`, [percentage]);
      await this.#chunks.add(tx, toGeneration(lease, config), newChunks);
    });
    await this.#settleIndex();
    this.#signals.publish('data-source-changed', lease.dataSourceId);
  }

  /**
   * Adds the last chunks, makes the generation the live one, removes as much of the replaced generation as one transaction should, and ends the lease.
   *
   * @throws LeaseLostError
   */
  async complete(lease: IndexLease, content: IndexedContent): Promise<ItemLeft> {
    const { id: itemId, dataSourceId, fence: generation, liveGeneration } = lease;
    // What earlier attempts left was removed before this generation was built.
    const isClean = liveGeneration === null;
    const result = await this.#db.transaction(async (tx) => {
      const { accessRuleId, ...row } = await updateLeased<ItemLeft & { readonly accessRuleId: number | null }>(
        tx,
        lease,
        liveSql({
          ...{ documentCount: '$4', tokenCount: '$5', contentHash: '$6', mimeType: '$7', title: '$8::text' },
          ...{ changeKey: '$9', needsCleaning: '$10', omissions: '$11::jsonb' },
        }),
        [
          content.documentCount,
          content.tokenCount,
          content.contentHash,
          content.mimeType,
          content.title,
          lease.listedKey,
          !isClean,
          JSON.stringify(content.omissions),
        ],
        `${leftoverColumns}, "accessRuleId"`,
      );
      await tx.prisma.dataSource.updateMany({ where: { id: dataSourceId }, data: { lastIndexedAt: new Date() } });
      await this.#chunks.add(tx, toGeneration(lease, content.config), content.lastChunks);
      // It may have changed since the first passages were added.
      if (accessRuleId !== null) await this.#chunks.setAccessRule(tx, { itemId, generation }, accessRuleId);
      if (!isClean)
        await this.#chunks.removeDead(tx, { dataSourceId, itemId, generation, liveGeneration: generation }, removedAtOnce);
      await addUsage(tx, UsageBatch.of([toUsage(lease, content)]), nobody);
      return row;
    });
    await this.#settleIndex();
    this.#signals.publish('usage-changed', lease.orgId);
    this.#signals.publish('data-source-changed', dataSourceId);
    return result;
  }

  /** The content has not changed: ends the lease. @throws LeaseLostError */
  async completeUnchanged(lease: IndexLease): Promise<ItemLeft> {
    const row = await updateLeased<ItemLeft>(
      this.#db,
      lease,
      `"errorCode" = null, "errorMessage" = null, "isRetryable" = false, "lastCheckedAt" = now(), "changeKey" = $4, ${endSql("'INDEXED'")}`,
      [lease.listedKey],
      leftoverColumns,
    );
    this.#signals.publish('data-source-changed', lease.dataSourceId);
    return row;
  }

  /** Ends the lease with a reason; the earlier generation stays live. @throws LeaseLostError */
  async fail(lease: IndexLease, { status, errorCode, errorMessage, isRetryable }: IndexFailure): Promise<ItemLeft> {
    const row = await updateLeased<ItemLeft>(
      this.#db,
      lease,
      // The same content would fail again: it is not fetched before it changes.
      `"errorCode" = $5, "errorMessage" = $6, "isRetryable" = $7, "lastCheckedAt" = now(),
       "changeKey" = case when $7 then "changeKey" else $8 end, ${endSql('$4')}`,
      [status, errorCode, errorMessage, isRetryable, lease.listedKey],
      leftoverColumns,
    );
    this.#signals.publish('data-source-changed', lease.dataSourceId);
    return row;
  }

  /** Returns the item to the queue. `isCounted`: this attempt failed. `also` queues its next job. @throws LeaseLostError */
  async release(lease: IndexLease, isCounted: boolean, also?: AlsoInTransaction): Promise<void> {
    const attempt = isCounted ? 'attempt' : 'attempt - 1';
    await this.#db.transaction(async (tx) => {
      await updateLeased(
        tx,
        lease,
        `"indexStatus" = 'QUEUED', "indexPercentage" = 0, ${leaseSql.ended('item')}, attempt = ${attempt}`,
      );
      await also?.(tx, [{ id: lease.id, orgId: lease.orgId, tenantId: lease.source.tenantId }]);
    });
    this.#signals.publish('data-source-changed', lease.dataSourceId);
  }

  /** Removes chunks of dead generations before a new one is built. @throws LeaseLostError */
  async cleanLeased(lease: IndexLease): Promise<void> {
    const { id: itemId, dataSourceId, fence: generation, liveGeneration } = lease;
    // The first generation replaces nothing.
    if (generation === 1) return;
    for (;;) {
      const removedCount = await this.#db.transaction(async (tx) => {
        await updateLeased(tx, lease, '"needsCleaning" = true');
        return this.#chunks.removeDead(tx, { dataSourceId, itemId, generation, liveGeneration }, removedAtOnce);
      });
      if (removedCount < removedAtOnce) return;
    }
  }

  /** The chunks are stored: what fails here is done by the next batch, or by the task that repeats it and tells of a failure. */
  async #settleIndex(): Promise<void> {
    await this.#chunks.settleIndex().catch(() => undefined);
  }
}

function updateLeased<Row = object>(
  tx: Sql,
  lease: IndexLease,
  set: string,
  values: readonly unknown[] = [],
  returning = 'id',
): Promise<Row> {
  return writeLeased<Row>(tx, 'item', lease, `"updatedAt" = now(), ${set}`, values, returning);
}

type LiveColumn =
  | 'documentCount'
  | 'tokenCount'
  | 'contentHash'
  | 'mimeType'
  | 'title'
  | 'changeKey'
  | 'needsCleaning'
  | 'omissions';

/** SET: the generation that was built becomes the live one, and the lease ends. @param given  SQL for what it is. */
export function liveSql(given: Readonly<Record<LiveColumn, string>>): string {
  return `"liveGeneration" = "lastGeneration", "documentCount" = ${given.documentCount}, "tokenCount" = ${given.tokenCount},
    "contentHash" = ${given.contentHash}, "mimeType" = ${given.mimeType},
    metadata = case when ${given.title} is null then metadata - 'title' else metadata || jsonb_build_object('title', ${given.title}) end,
    "errorCode" = null, "errorMessage" = null, "isRetryable" = false, "indexedAt" = now(), "lastCheckedAt" = now(), "changeKey" = ${given.changeKey},
    "needsCleaning" = ${given.needsCleaning}, omissions = ${given.omissions}, ${endSql("'INDEXED'")}`;
}

/** An item that changed meanwhile is queued in the same statement: a process that is killed after it loses nothing. */
function endSql(status: string): string {
  return `"indexStatus" = case when "isRunWanted" then 'QUEUED' else ${status} end, ${leaseSql.ended('item')}, attempt = 0,
     "isForced" = "isForced" and "isRunWanted", "indexPercentage" = case when "isRunWanted" then 0 else 100 end`;
}

function toGeneration({ dataSourceId, id: itemId, fence: generation }: IndexLease, config: string): ChunkGeneration {
  return { dataSourceId, itemId, generation, config };
}

function findPlace({ prisma }: Database, id: string) {
  const select = { dataSourceId: true, indexStatus: true, dataSource: { select: { deletingAt: true } } };
  return prisma.knowledgeItem.findUnique({ where: { id }, select });
}

/** @param indexStatus  the state in which it was found: an item that is in another one by now is not taken. */
async function takeItem(
  db: Database,
  request: { readonly id: string; readonly owner: string; readonly leaseMs: number },
  indexStatus: string,
): Promise<IndexLease | undefined> {
  if (!(openStates as readonly string[]).includes(indexStatus)) return undefined;
  const terms = { set: takenSql, where: '"indexStatus" = $4', returning: leaseColumns };
  const item = await takeLeased<TakenItem>(db, 'item', request, terms, [indexStatus]);
  return item === undefined ? undefined : toLease(item, request.owner, isBusy(indexStatus));
}

/** SET: an item that is taken. */
export const takenSql = `"updatedAt" = now(), "indexStatus" = 'FETCHING', "indexPercentage" = 0, attempt = attempt + 1, "isRunWanted" = false`;

export function toLease(item: TakenItem, owner: string, isTakenOver: boolean): IndexLease {
  const { ownerUserId, ...source } = item.source;
  return { ...item, owner, ownerUserId, source, isTakenOver };
}

export type TakenItem = Omit<IndexLease, 'owner' | 'ownerUserId' | 'source' | 'isTakenOver'> & {
  readonly source: IndexLease['source'] & Pick<IndexLease, 'ownerUserId'>;
};

export const leaseColumns = `id, attempt, "dataSourceId", "orgId", "liveGeneration", "isForced", "contentHash", "contentBlobKey", name, "uniqueId", "contentUrl",
  metadata, "listedKey", coalesce(filename, '') as filename, coalesce("mimeType", '') as "mimeType", (
    select json_build_object('ownerUserId', s."ownerUserId", 'type', s.type, 'data', s.data, 'tenantId', o."tenantId")
    from data_sources s join organizations o on o.id = s."orgId" where s.id = "dataSourceId"
  ) as source`;

/** What indexing an item adds to the ledger. */
export function toUsage({ orgId, ownerUserId }: IndexLease, { usageEntryId, tokenCount }: IndexedContent): UsageRow {
  return {
    ...{ id: usageEntryId, createdAt: new Date(), orgId, userId: ownerUserId, keyId: null, agentId: null, runId: null },
    ...{
      purpose: 'indexing',
      modelId: 'parley/index',
      inputTokens: tokenCount,
      outputTokens: 0,
      cachedTokens: 0,
      reasoningTokens: 0,
    },
  };
}
