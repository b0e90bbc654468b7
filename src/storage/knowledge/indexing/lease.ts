import type { IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { ShareOwner } from '../../../lib/fair-share.ts';
import type { NewChunk } from '../chunks.ts';

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

/** An item or a source, and whose it is. */
export interface OwnedId extends ShareOwner {
  readonly id: string;
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

  /** Queues the items of a source again; those at work run once more when they end. @returns those queued now. */
  requeueSource(dataSourceId: string, isForced: boolean): Promise<readonly OwnedId[]>;
  /** Queues one item again. @returns false when it is no longer at rest. */
  requeueItem(itemId: string): Promise<boolean>;
  /** Returns items to the queue whose worker fell silent, and gives up those that had `attemptsMax` tries. @returns the queued. */
  sweepExpired(attemptsMax: number): Promise<readonly OwnedId[]>;
  /** Ends the leases of all other owners: nobody else can be alive. */
  expireOthers(owner: string): Promise<void>;
  /** Items that wait for longer than `ageMs`: their job may be lost. */
  findStale(ageMs: number): Promise<readonly OwnedId[]>;
  /** Sources whose refresh is due. One that cannot be read as a whole is left alone until somebody refreshes it. */
  findDue(): Promise<readonly OwnedId[]>;
  /** Sources whose deletion began and did not end. */
  findDeleting(): Promise<readonly OwnedId[]>;
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
export const removedAtOnce = 100;
