import type { DataSourceType, IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { RunTrigger } from '../../../entities/knowledge/source-run.ts';
import type { ShareOwner } from '../../../lib/fair-share.ts';
import type { NewChunk } from '../chunks.ts';

/** The right to index one item, for a limited time. Every write with it fails once another process holds the item. */
export interface IndexLease {
  readonly itemId: string;
  readonly dataSourceId: string;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly owner: string;
  /** The generation to build; also the fence of the lease. */
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
  readonly uniqueId: string;
  readonly contentUrl: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The other service's mark of the content; null when there is none. */
  readonly listedKey: string | null;
  readonly source: { readonly type: DataSourceType; readonly data: Readonly<Record<string, unknown>>; readonly tenantId: string };
}

/** Another process holds the item, or the item was deleted: stop without logging an error. */
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

/** An item or a source, with its organization and tenant. */
export interface OwnedId extends ShareOwner {
  readonly id: string;
}

/** The writes of the indexing jobs. Each call is one short transaction and announces the change. */
export interface IndexingStore {
  /** Takes a queued item; undefined when it is not queued. */
  lease(itemId: string, owner: string, leaseMs: number): Promise<IndexLease | undefined>;
  /** Stores the progress, and extends the lease. @throws LeaseLostError */
  progress(lease: IndexLease, to: { readonly status: IndexStatus; readonly percentage: number }, leaseMs: number): Promise<void>;
  /** Extends the lease. @throws LeaseLostError */
  renew(lease: IndexLease, leaseMs: number): Promise<void>;
  /** Adds chunks to the generation under construction, stores the progress, and extends the lease. @throws LeaseLostError */
  addChunks(lease: IndexLease, config: string, chunks: readonly NewChunk[], percentage: number, leaseMs: number): Promise<void>;
  /**
   * Makes the generation the live one, removes as much of the replaced generation as one transaction should, and ends the lease.
   *
   * @returns whether another run was requested meanwhile, and whether no chunk of another generation is left. @throws LeaseLostError
   */
  complete(lease: IndexLease, content: IndexedContent): Promise<{ readonly isRunWanted: boolean; readonly isClean: boolean }>;
  /** The content has not changed: ends the lease. @throws LeaseLostError */
  completeUnchanged(lease: IndexLease): Promise<{ readonly isRunWanted: boolean }>;
  /** Ends the lease with a reason; the earlier generation stays live. @throws LeaseLostError */
  fail(lease: IndexLease, failure: IndexFailure): Promise<{ readonly isRunWanted: boolean }>;
  /** Returns the item to the queue. `isCounted`: this attempt failed. @throws LeaseLostError */
  release(lease: IndexLease, isCounted: boolean): Promise<void>;

  /**
   * Queues the items of a source again, in a run of it; items that are being indexed run once more after they end, in the run that is going on.
   *
   * @returns the items queued now.
   */
  requeueSource(
    dataSourceId: string,
    isForced: boolean,
    run: { readonly id: string; readonly trigger: RunTrigger },
  ): Promise<readonly OwnedId[]>;
  /** Queues one item again. @returns false when the item is queued or being indexed already. */
  requeueItem(itemId: string): Promise<boolean>;
  /**
   * Returns items to the queue whose lease ran out, and fails those that were begun `startsMax` times: they may have ended the process.
   *
   * @returns the queued items.
   */
  sweepExpired(startsMax: number): Promise<readonly OwnedId[]>;
  /** Ends the leases of all other owners: this process is the only one on the database. */
  expireOthers(owner: string): Promise<void>;
  /** Items queued for longer than `ageMs`: their job may be lost. */
  findStale(ageMs: number): Promise<readonly OwnedId[]>;
  /** Sources whose refresh is due. A source that cannot be read as a whole waits until somebody refreshes it by hand. */
  findDue(): Promise<readonly OwnedId[]>;
  /** Sources whose deletion began and has not ended. */
  findDeleting(): Promise<readonly OwnedId[]>;
  /** Items that nobody indexes and that may have chunks of dead generations. */
  findUnclean(): Promise<readonly string[]>;
  /** Removes chunks of dead generations of an item that nobody indexes. */
  clean(itemId: string): Promise<void>;
  /** Removes chunks of dead generations before a new one is built. @throws LeaseLostError */
  cleanLeased(lease: IndexLease, leaseMs: number): Promise<void>;
  /** Removes all rows of a source under deletion; `onBlob` gets the keys of its blobs before their rows are deleted. */
  deleteSource(dataSourceId: string, onBlob: (key: string) => Promise<void>): Promise<void>;
  /** Items under deletion whose source stays. */
  findDeletingItems(): Promise<readonly OwnedId[]>;
  /** Removes an item under deletion with its chunks, as `deleteSource` does. */
  deleteItem(itemId: string, onBlob: (key: string) => Promise<void>): Promise<void>;
}

/** Chunks removed in one transaction: 25 ms of processor time (median) on the embedded database. */
export const removedAtOnce = 100;
