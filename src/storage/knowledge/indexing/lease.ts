import type { DataSourceType } from '../../../entities/knowledge/data-source.ts';
import type { Omission } from '../../../entities/knowledge/omission.ts';
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

/** The content of an item that is new, which is stored here. */
export interface NewItemContent {
  readonly id: string;
  /** Null: not known. */
  readonly sizeBytes: number | null;
}

/** Queues jobs in the transaction of the change: rows and their jobs commit together, so no job is ever missing. */
export type AlsoInTransaction = (tx: Transaction, items: readonly OwnedId[]) => Promise<void>;

/** Chunks removed in one transaction: 25 ms of processor time (median) on the embedded database. */
export const removedAtOnce = 100;
