import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { SourceAccess } from '../../../entities/knowledge/permissions.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import type { Lease } from '../../ground/leases.ts';

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
    readonly access: SourceAccess;
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
