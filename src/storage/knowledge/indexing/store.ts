import type { DataSourceType, IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { Omission } from '../../../entities/knowledge/omission.ts';
import type { RunTrigger } from '../../../entities/knowledge/source-run.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import type { Transaction } from '../../ground/database.ts';
import type { Lease } from '../../ground/leases.ts';
import type { NewChunk } from '../passages/chunks.ts';

/** The right to index one item. Its fence is the number of the generation to build. */
export interface IndexLease extends Lease {
  readonly dataSourceId: string;
  readonly orgId: string;
  readonly ownerUserId: string;
  /** How many leases this content has had. */
  readonly attempt: number;
  /** The holder before ended without ending its lease: its process was killed. */
  readonly isTakenOver: boolean;
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

export interface IndexedContent {
  readonly contentHash: string;
  readonly title: string | null;
  readonly mimeType: string;
  readonly omissions: readonly Omission[];
  readonly documentCount: number;
  readonly tokenCount: number;
  readonly usageEntryId: string;
  /** The last chunks of the generation, which are added with its end; `[]` when all are there. */
  readonly lastChunks: readonly NewChunk[];
  /** The text-search configuration of its chunks. */
  readonly config: string;
}
export interface IndexFailure {
  readonly status: 'FAILED' | 'SKIPPED';
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly isRetryable: boolean;
}

/** What is left to do for an item when a lease ends. */
export interface ItemLeft {
  /** Another run was requested meanwhile: the item is queued. */
  readonly isRunWanted: boolean;
  /** Passages of dead generations may be left: see `clean`. */
  readonly needsCleaning: boolean;
}

/** An item or a source, with its organization and tenant. */
export interface OwnedId extends ShareOwner {
  readonly id: string;
}

/** Queues jobs in the transaction of the change: rows and their jobs commit together, so no job is ever missing. */
export type AlsoInTransaction = (tx: Transaction, items: readonly OwnedId[]) => Promise<void>;

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
 * A new document of few passages is INDEXED right after PARSING. Every item outside of the states at rest has a job `knowledge.index-item`, which is
 * queued in the transaction that changes the state.
 */
export interface IndexingStore {
  /**
   * Takes an item that is queued, or whose holder is gone: its lease ran out, or was one of `owner`.
   *
   * @returns where it belongs, when it cannot be taken: another holder indexes it, or it is at rest; undefined when it is gone.
   */
  take(
    itemId: string,
    owner: string,
    leaseMs: number,
  ): Promise<IndexLease | { readonly dataSourceId: string; readonly isBusy: boolean } | undefined>;
  /** @throws LeaseLostError */
  progress(lease: IndexLease, to: { readonly status: IndexStatus; readonly percentage: number }): Promise<void>;
  /** Adds chunks to the generation under construction, and stores the progress. @throws LeaseLostError */
  addChunks(lease: IndexLease, config: string, chunks: readonly NewChunk[], percentage: number): Promise<void>;
  /**
   * Adds the last chunks, makes the generation the live one, removes as much of the replaced generation as one transaction should, and ends the lease.
   *
   * @throws LeaseLostError
   */
  complete(lease: IndexLease, content: IndexedContent): Promise<ItemLeft>;
  /** The content has not changed: ends the lease. @throws LeaseLostError */
  completeUnchanged(lease: IndexLease): Promise<ItemLeft>;
  /** Ends the lease with a reason; the earlier generation stays live. @throws LeaseLostError */
  fail(lease: IndexLease, failure: IndexFailure): Promise<ItemLeft>;
  /** Returns the item to the queue. `isCounted`: this attempt failed. `also` queues its next job. @throws LeaseLostError */
  release(lease: IndexLease, isCounted: boolean, also?: AlsoInTransaction): Promise<void>;

  /**
   * Queues the items of a source again, in a run of it; items that are being indexed run once more after they end, in the run that is going on.
   *
   * @param also  queues the jobs of the items that wait now.
   */
  requeueSource(
    dataSourceId: string,
    isForced: boolean,
    run: { readonly id: string; readonly trigger: RunTrigger },
    also: AlsoInTransaction,
  ): Promise<void>;
  /** Sources whose refresh is due. A source that cannot be read as a whole waits until somebody refreshes it by hand. */
  findDue(): Promise<readonly OwnedId[]>;
  /** Removes chunks of dead generations of an item that nobody indexes. */
  clean(itemId: string): Promise<void>;
  /** Removes chunks of dead generations before a new one is built. @throws LeaseLostError */
  cleanLeased(lease: IndexLease): Promise<void>;
  /** Removes all rows of a source under deletion; `onBlob` gets the keys of its blobs before their rows are deleted. */
  deleteSource(dataSourceId: string, onBlob: (key: string) => Promise<void>): Promise<void>;
  /** Removes an item under deletion with its chunks, as `deleteSource` does. @returns its source. */
  deleteItem(itemId: string, onBlob: (key: string) => Promise<void>): Promise<string | undefined>;
}

/** Chunks removed in one transaction: 25 ms of processor time (median) on the embedded database. */
export const removedAtOnce = 100;
