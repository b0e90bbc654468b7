import type { Connection } from '../../../entities/knowledge/connection.ts';
import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { RunTrigger } from '../../../entities/knowledge/source-run.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import type { Lease } from '../../ground/leases.ts';
import type { AlsoInTransaction, OwnedId } from '../indexing/store.ts';

/** The right to list a source: a lease of its run, whose `id` it has. */
export interface SyncLease extends Lease, ShareOwner {
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
  /** What its connector keeps for the next run; nobody else is shown it. */
  readonly notes: Readonly<Record<string, unknown>>;
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
  readonly notes: Readonly<Record<string, unknown>>;
  readonly isIndexed: boolean;
  readonly parentUniqueId: string | null;
  /** Whether the run listed it already. */
  readonly isListed: boolean;
}

/**
 * The runs of sources. Each call is one short transaction and announces the change.
 *
 * ```text
 * none ──begin──▶ LISTING ──finish──▶ INDEXING ──closeEnded: its last item is done──▶ COMPLETED, FAILED
 *  │               │  ▲  │                │  ▲
 *  │         cut off, release (the        │  └── added to by retries and further content
 *  │         next attempt of the job)     └──cancel──▶ CANCELLED
 *  │                     └──fail, nothing listed──▶ FAILED
 *  └── content was given: INDEXING at once
 * ```
 *
 * One job `knowledge.sync-source` reads a source. A refresh that is asked for during a run is noted in the source (`isSyncWanted`), and the statement
 * that ends the run queues the next job. The items of a run have jobs of their own, because several processes read them in parallel.
 */
export interface SyncStore {
  /**
   * Begins a run, or goes on with one that was cut off.
   *
   * @returns `held` while another process lists the source. Undefined while the items of a run are indexed, and when there is nothing to do. In both
   * cases another run follows the present one, unless the trigger is the schedule.
   */
  begin(
    dataSourceId: string,
    run: { readonly id: string; readonly owner: string; readonly leaseMs: number; readonly trigger: RunTrigger },
  ): Promise<SyncLease | 'held' | undefined>;
  /** Stores the name of what is being read. @throws LeaseLostError */
  show(lease: SyncLease, currentItem: string | null): Promise<void>;
  known(lease: Pick<SyncLease, 'id' | 'source'>, uniqueIds: readonly string[]): Promise<readonly ExistingSyncItem[]>;
  /** Stores a part of the listing. `also` gets the items to index. @throws LeaseLostError */
  apply(lease: SyncLease, page: SyncedPage, also: AlsoInTransaction): Promise<PageOutcome>;
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
  /** Gives the lease back. `isCounted`: this attempt failed. `also` queues the job that goes on with the run. @throws LeaseLostError */
  release(lease: SyncLease, isCounted: boolean, also?: AlsoInTransaction): Promise<void>;

  /** Notes that a source is to be read, after the present run if there is one. `also` queues the job. */
  want(dataSourceId: string, isForced: boolean, also: AlsoInTransaction): Promise<void>;
  /** Ends the run of a source whose items are all indexed or failed. `also` queues a further run that is wanted. */
  closeEnded(dataSourceId: string, also: AlsoInTransaction): Promise<void>;
  /** Sources whose refresh is due, also after a failure. A source that needs a new connection waits for it. */
  findDue(): Promise<readonly OwnedId[]>;
  /** Ends the run and the indexing of a source. @returns whether there was anything to end. */
  cancel(dataSourceId: string): Promise<boolean>;
  /** Queues the items that failed. `runId`: of a source whose content was given, whose run it is noted in. `also` queues their jobs. */
  retryFailed(dataSourceId: string, runId: string | undefined, also: AlsoInTransaction): Promise<void>;
  /** Makes the sources readable again that read with a connection and could not. `also` queues their jobs. */
  reconnected(
    connection: Pick<Connection, 'id' | 'orgId' | 'ownerUserId' | 'installationId'>,
    also: AlsoInTransaction,
  ): Promise<void>;
}
