import type { RunTrigger } from '../../../entities/knowledge/source-run.ts';
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { busyStates, isBusy } from '../items/states.ts';
import type { ChunkStore } from '../passages/chunks.ts';
import { findDueSources, isPeriodOver, openRuns } from '../sources/refresh-period.ts';
import { addUploadRun } from '../syncing/upload-runs.ts';
import { ItemGroups } from './item-groups.ts';
import { type AlsoInTransaction, type OwnedId, removedAtOnce } from './lease.ts';
import { LeasedItems } from './leased-items.ts';

export type { IndexedContent, IndexFailure, IndexLease, ItemLeft, OwnedId } from './lease.ts';

/**
 * The items of sources, from the queue to a live generation. Each call is one short transaction and announces the change.
 *
 * ```text
 * INITIALIZED, QUEUED ──take──▶ FETCHING ▶ PARSING ▶ INDEXING ──complete, fail──▶ INDEXED, FAILED, SKIPPED
 *        ▲                          │  ▲        │         │
 *        ├──release, a run is wanted┘  └────────┴─────────┴── taken over by the next attempt of the job
 *        └──requeue── INDEXED, FAILED, SKIPPED, CANCELLED          (cancel: CANCELLED or INDEXED; delete: DELETING, from any state)
 * ```
 *
 * A new document of few passages is INDEXED right after PARSING, a short one right after FETCHING. Every item outside of the states at rest has a job `knowledge.index-item`, or is
 * in one of `knowledge.index-items`, which is queued in the transaction that changes the state.
 */
export class IndexingStore extends LeasedItems {
  readonly groups: ItemGroups;
  readonly #db: Database;
  readonly #signals: Signals;
  readonly #chunks: ChunkStore;

  constructor(db: Database, signals: Signals, chunks: ChunkStore) {
    super(db, signals, chunks);
    this.groups = new ItemGroups(db, signals, chunks);
    this.#db = db;
    this.#signals = signals;
    this.#chunks = chunks;
  }

  /**
   * Queues the items of a source again, in a run of it; items that are being indexed run once more after they end, in the run that is going on.
   *
   * @param also  queues the jobs of the items that wait now.
   */
  async requeueSource(
    dataSourceId: string,
    isForced: boolean,
    run: { readonly id: string; readonly trigger: RunTrigger },
    also: AlsoInTransaction,
  ): Promise<void> {
    await this.#db.transaction(async (tx) => {
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
    this.#signals.publish('data-source-changed', dataSourceId);
  }

  /** Sources whose refresh is due. A source that cannot be read as a whole waits until somebody refreshes it by hand. */
  findDue(): Promise<readonly OwnedId[]> {
    return findDueSources(this.#db, givenAndIdle);
  }

  /** Removes chunks of dead generations of an item that nobody indexes. */
  async clean(itemId: string): Promise<void> {
    const item = await this.#db.prisma.knowledgeItem.findUnique({ where: { id: itemId, indexStatus: { in: statesAtRest } } });
    if (item?.needsCleaning !== true) return;
    const { dataSourceId, lastGeneration, liveGeneration } = item;
    await this.#removeDead(itemId, dataSourceId, lastGeneration + 1, liveGeneration);
    // A new lease has a higher generation, and its holder cleans the item.
    await this.#db.prisma.knowledgeItem.updateMany({
      where: { id: itemId, lastGeneration: { lte: lastGeneration } },
      data: { needsCleaning: false },
    });
  }

  /** Removes an item under deletion with its chunks, as `deleteSource` does. @returns its source. */
  async deleteItem(itemId: string, onBlob: (key: string) => Promise<void>): Promise<string | undefined> {
    const item = await this.#db.prisma.knowledgeItem.findUnique({ where: { id: itemId, indexStatus: 'DELETING' } });
    if (item === null) return undefined;
    const { dataSourceId, lastGeneration, contentBlobKey, documentsBlobKey } = item;
    await this.#removeDead(itemId, dataSourceId, lastGeneration + 1, null);
    for (const key of [contentBlobKey, documentsBlobKey]) if (key !== null) await onBlob(key);
    await this.#db.prisma.knowledgeItem.deleteMany({ where: { id: itemId } });
    this.#signals.publish('data-source-changed', dataSourceId);
    return dataSourceId;
  }

  /** Removes all rows of a source under deletion; `onBlob` gets the keys of its blobs before their rows are deleted. */
  async deleteSource(dataSourceId: string, onBlob: (key: string) => Promise<void>): Promise<void> {
    await this.#db.prisma.knowledgeItem.updateMany({
      where: { dataSourceId, indexStatus: { not: 'DELETING' } },
      data: { indexStatus: 'DELETING', leaseOwner: null, leaseUntil: null, lastGeneration: { increment: 1 } },
    });
    await this.#chunks.removeLexemes(dataSourceId);
    for (;;) {
      const items = await this.#db.prisma.knowledgeItem.findMany({ where: { dataSourceId }, take: 100 });
      for (const { id, lastGeneration, contentBlobKey, documentsBlobKey } of items) {
        await this.#removeDead(id, dataSourceId, lastGeneration + 1, null);
        for (const key of [contentBlobKey, documentsBlobKey]) if (key !== null) await onBlob(key);
        await this.#db.prisma.knowledgeItem.deleteMany({ where: { id } });
      }
      if (items.length < 100) break;
    }
    await this.#chunks.removeLexemes(dataSourceId);
    await this.#db.prisma.dataSource.deleteMany({ where: { id: dataSourceId, deletingAt: { not: null } } });
    this.#signals.publish('data-source-changed', dataSourceId);
  }

  async #removeDead(itemId: string, dataSourceId: string, generation: number, live: number | null): Promise<void> {
    for (;;) {
      const removedCount = await this.#db.transaction((tx) =>
        this.#chunks.removeDead(tx, { dataSourceId, itemId, generation, liveGeneration: live }, removedAtOnce),
      );
      if (removedCount < removedAtOnce) return;
    }
  }
}

/** States of an item that no process indexes. */
const statesAtRest = ['INDEXED', 'FAILED', 'SKIPPED', 'CANCELLED'];

/** Sources whose content was given, of which nothing waits to be indexed: those of connected kinds are listed anew by their own schedule. */
const givenAndIdle = {
  type: { in: ['API', 'FILE_UPLOAD'] },
  errorCode: null,
  items: { none: { indexStatus: { in: ['QUEUED', ...busyStates] } } },
};
