import type { Connection } from '../../../entities/knowledge/connection.ts';
import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { RunTrigger, SourceRun } from '../../../entities/knowledge/source-run.ts';
import type { Page, PageRequest } from '../../../entities/page.ts';
import type { ShareOwner } from '../../../lib/fair-share.ts';
import type { Transaction } from '../../database/database.ts';
import type { OwnedId } from '../indexing/lease.ts';

/** The right to list a source, for a limited time. Every write with it fails once another process lists it or the run was cancelled. */
export interface SyncLease extends ShareOwner {
  readonly runId: string;
  readonly owner: string;
  readonly fence: number;
  /** How many leases this run has had. */
  readonly attempt: number;
  readonly isForced: boolean;
  /** Where the run was cut off; undefined at its beginning. */
  readonly place: unknown;
  readonly source: {
    readonly id: string;
    readonly ownerUserId: string;
    readonly type: ConnectedType;
    readonly data: Readonly<Record<string, unknown>>;
    readonly state: unknown;
  };
}

/** A document as the run found it. */
export interface SyncedItem {
  /** Given to a document that is new. */
  readonly newId: string;
  readonly uniqueId: string;
  readonly parentUniqueId: string | null;
  readonly name: string;
  readonly contentUrl: string | null;
  /** Null: the content has to be fetched to know whether it changed. */
  readonly listedKey: string | null;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The blob of content that came with the listing. */
  readonly contentBlobKey: string | null;
  /** Why it is not read, and the state that it has for that. */
  readonly unread: { readonly status: 'SKIPPED' | 'FAILED'; readonly code: string; readonly message: string } | null;
}

export interface SyncedPage {
  readonly items: readonly SyncedItem[];
  readonly goneIds: readonly string[];
  readonly unchangedIds: readonly string[];
  /** Parents whose items are all as they were. */
  readonly unchangedParents: readonly string[];
  readonly place: unknown;
}

export interface PageOutcome {
  /** To be indexed. */
  readonly queued: readonly OwnedId[];
  /** Blobs that nothing refers to any more, or never did. */
  readonly unusedBlobKeys: readonly string[];
}

export interface RunEnd {
  readonly isComplete: boolean;
  readonly bound: string | null;
  /** Undefined: what was there before is kept. */
  readonly state: unknown;
}

export interface ExistingSyncItem {
  readonly uniqueId: string;
  readonly changeKey: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly isIndexed: boolean;
  readonly parentUniqueId: string | null;
  /** Whether the run listed it already. */
  readonly isListed: boolean;
}

/** Runs in the transaction of the change. */
export type AlsoInTransaction = (tx: Transaction, items: readonly OwnedId[]) => Promise<void>;

/** The runs of connected sources. Each call is one short transaction and announces the change. */
export interface SyncStore {
  /**
   * Begins a run, or goes on with one that was cut off. Undefined while another process lists the source, and while the items of a run are indexed:
   * another run follows then.
   */
  begin(
    dataSourceId: string,
    run: { readonly id: string; readonly owner: string; readonly leaseMs: number; readonly trigger: RunTrigger },
  ): Promise<SyncLease | undefined>;
  /** @throws LeaseLostError */
  renew(lease: SyncLease, currentItem: string | null, leaseMs: number): Promise<void>;
  known(lease: Pick<SyncLease, 'runId' | 'source'>, uniqueIds: readonly string[]): Promise<readonly ExistingSyncItem[]>;
  /** Stores a part of the listing. `also` gets the items to index. @throws LeaseLostError */
  apply(lease: SyncLease, page: SyncedPage, leaseMs: number, also: AlsoInTransaction): Promise<PageOutcome>;
  /**
   * Ends the listing. `remove` gets the items to remove; `index` those that earlier runs listed, that were not read, and that this run may not have
   * named. @throws LeaseLostError
   */
  finish(
    lease: SyncLease,
    end: RunEnd,
    also: { readonly remove: AlsoInTransaction; readonly index: AlsoInTransaction },
  ): Promise<void>;
  /** Ends the run; what was indexed stays. @throws LeaseLostError */
  fail(lease: SyncLease, reason: { readonly code: string; readonly message: string }): Promise<void>;
  /** Gives the lease back: the run goes on at the next job. `isCounted`: this attempt failed. @throws LeaseLostError */
  release(lease: SyncLease, isCounted: boolean): Promise<void>;

  /** Notes that a source is to be read, after the present run if there is one. */
  want(dataSourceId: string, isForced: boolean): Promise<void>;
  /** Ends runs whose items are all indexed or failed. @returns the sources that are to be read once more. */
  closeEnded(dataSourceId?: string): Promise<readonly OwnedId[]>;
  /** Runs whose lister is silent; of an embedded database, all but those of `owner` at the first call. */
  findStale(): Promise<readonly OwnedId[]>;
  expireOthers(owner: string): Promise<void>;
  /** Sources whose refresh is due, also after a failure. A source that needs a new connection waits for it. */
  findDue(): Promise<readonly OwnedId[]>;
  /** Ends the run and the indexing of a source. @returns whether there was anything to end. */
  cancel(dataSourceId: string): Promise<boolean>;
  /** Queues the items that failed. `runId`: of a source whose content was given, whose run it is noted in. @returns them. */
  retryFailed(dataSourceId: string, runId: string | undefined): Promise<readonly OwnedId[]>;
  /** The sources that read with a connection and could not; they are readable again. */
  reconnected(connection: Pick<Connection, 'id' | 'orgId' | 'ownerUserId' | 'installationId'>): Promise<readonly OwnedId[]>;
  /** Newest first. The domain has decided that the caller may see the source. */
  runs(dataSourceId: string, page: PageRequest): Promise<Page<SourceRun>>;
}
