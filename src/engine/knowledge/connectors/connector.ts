import type { Logger } from 'pino';
import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import type { Settings } from '../../../settings.ts';
import type { Egress } from '../../egress/egress.ts';
import type { InstallationTokens } from '../connections/installations.ts';
import type { ConnectionTokens } from '../connections/tokens.ts';
import type { ServiceClient } from './service-client/client.ts';

/** One document of a source, as a listing shows it. */
export interface ListedItem {
  /** The id at the other service: never a title or a hash. */
  readonly uniqueId: string;
  readonly parentUniqueId: string | null;
  /** For people, and the title of passages without one. */
  readonly name: string;
  /** Where a person opens it; null when there is no such place. */
  readonly url: string | null;
  /** Equal to that of the indexed content: the content is not fetched again. Null when the service has no such value. */
  readonly changeKey: string | null;
  /** Its ending helps to tell the format. */
  readonly filename: string;
  /** As the service says; the bytes decide. */
  readonly mimeType: string;
  readonly sizeBytes?: number | null;
  /** Kept with the item and given to `fetch`; shown to those who may see the source. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** What the connector keeps for its next run. Nobody else is shown it. */
  readonly notes?: Readonly<Record<string, unknown>>;
  /** Why it is listed and not read: by its type or size, or because the service does not give it; see unreadStatus. */
  readonly skipped?: { readonly code: string; readonly message: string };
  /** Content that the listing has already: `fetch` is not asked. */
  readonly content?: Uint8Array;
}

/** A part of a listing. What it says is stored before the next part is asked for. */
export interface ListedPage {
  readonly items: readonly ListedItem[];
  /** Items that the service itself calls deleted. */
  readonly goneIds?: readonly string[];
  /** Items that were looked at and are as they were: they are kept although `items` does not name them. */
  readonly unchangedIds?: readonly string[];
  /** Parents of which nothing changed: all items below them are kept. */
  readonly unchangedParents?: readonly string[];
  /** Where a listing that was cut off goes on; any JSON. */
  readonly place: unknown;
}

export interface ListingEnd {
  /** Whether everything that the source covers was listed: only then an item that was not listed is gone. */
  readonly isComplete: boolean;
  /** Given to the next run, such as the token of a change feed; any JSON. Absent: what was there before is kept. */
  readonly state?: unknown;
  /** A limit of the source's configuration that ended the listing early, in words: "maxPages (100 pages)". */
  readonly bound?: string;
}

/** The source that is read. */
export interface SyncedSource extends ShareOwner {
  readonly id: string;
  readonly ownerUserId: string;
  readonly type: ConnectedType;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What is known of an item from earlier runs. */
export interface ExistingItem {
  readonly uniqueId: string;
  /** Of the content that was fetched last. */
  readonly changeKey: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What the connector noted for itself when it listed the item last: `notes`. */
  readonly notes: Readonly<Record<string, unknown>>;
  readonly isIndexed: boolean;
  readonly parentUniqueId: string | null;
  /** Whether this run listed it already, also before it was cut off. */
  readonly isListed: boolean;
}

export interface ListTask {
  readonly source: SyncedSource;
  /** Whether everything is read again: do not use change feeds or conditional requests. */
  readonly isForced: boolean;
  /** What the last complete run left. */
  readonly state: unknown;
  /** Where this run was cut off; undefined at its beginning. */
  readonly place: unknown;
  /** Fires when the run was cancelled, its source deleted, or the process stops. */
  readonly signal: AbortSignal;
  known(uniqueIds: readonly string[]): Promise<ReadonlyMap<string, ExistingItem>>;
  /** Says what is being read now, for people who watch. */
  progress(current: string): void;
}

export interface FetchTask {
  readonly source: SyncedSource;
  readonly item: Pick<ListedItem, 'uniqueId' | 'name' | 'url' | 'filename' | 'mimeType'> & {
    readonly metadata: Readonly<Record<string, unknown>>;
  };
  /** Where the bytes go. */
  readonly path: string;
  /** Most bytes; more is a SourceError TOO_LARGE. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

/** What was fetched, where it differs from what the listing said. */
export interface FetchedContent {
  readonly filename?: string;
  readonly mimeType?: string;
}

/** Reads one kind of source. Holds no state between calls. Both throw SourceError, or the signal's reason. */
export interface Connector {
  /** Lists the documents: all, or what changed since `state`. */
  list(task: ListTask): AsyncGenerator<ListedPage, ListingEnd, void>;
  /** Writes the bytes of one document to a file. */
  fetch(task: FetchTask): Promise<FetchedContent>;
}

/** What connectors work with. */
export interface ConnectorServices {
  readonly settings: Settings;
  readonly logger: Logger;
  /** For addresses that users and other services name. */
  readonly egress: Egress;
  /** For addresses that the operator set. */
  readonly vendors: ServiceClient;
  readonly tokens: ConnectionTokens;
  readonly installations: InstallationTokens;
  now(): Date;
}
