import type { ListedItem } from '../connector.ts';

/** Names a file, folder or shortcut at a service. */
export interface EntryRef {
  readonly id: string;
  /** The drive that it lies in; undefined: the one that the service begins from. */
  readonly drive: string | undefined;
}

/** A file, folder or shortcut. */
export interface DriveEntry extends EntryRef {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'shortcut';
  readonly parents: readonly string[];
  /** Whether it is the root of the drive that the service begins from. */
  readonly isHome: boolean;
  /** Deleted, though the service still shows it. */
  readonly isGone: boolean;
  /** What a shortcut leads to; undefined for all others, and for one that leads nowhere. */
  readonly target: EntryRef | undefined;
  /** As a document of a source. */
  listed(parentUniqueId: string | null): ListedItem;
}

export interface EntryPage {
  readonly entries: readonly DriveEntry[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: string | undefined;
  /** The service did not look everywhere: what is missing may still be there. */
  readonly isIncomplete: boolean;
}

export interface EntryChange {
  readonly id: string;
  /** Undefined: deleted, or hidden from the account. */
  readonly entry: DriveEntry | undefined;
}

export interface ChangePage {
  readonly changes: readonly EntryChange[];
  /** Whether something changed that the changes do not tell one by one. */
  readonly isReset: boolean;
  /** The next page of this feed; undefined on the last one. */
  readonly next: string | undefined;
  /** On the last page: where the next run begins. */
  readonly last: string | undefined;
}

/** A service that keeps files in folders, seen with one account. Every call throws SourceError, or the signal's reason. */
export interface DriveService {
  /** In messages. */
  readonly name: string;
  entry(ref: EntryRef): Promise<DriveEntry>;
  /** @returns 'expired' when `page` is not known any more: the folder has to be listed from its beginning. */
  children(folder: EntryRef, page: string | undefined): Promise<EntryPage | 'expired'>;
  /** Where the changes of a drive go on from now; undefined when the service tells none. */
  changesFromNow(drive: string | undefined): Promise<string | undefined>;
  /** @returns 'expired' when `page` is not known any more: everything has to be listed. */
  changes(drive: string | undefined, page: string): Promise<ChangePage | 'expired'>;
  /**
   * Everything in the drive that the service begins from, page by page, parents in any order. Undefined where there is no such listing.
   *
   * @param page  undefined for the first one.
   */
  readonly everything?: (page: string | undefined) => Promise<ChangePage | 'expired'>;
}
