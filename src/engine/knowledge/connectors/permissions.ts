import type { GroupMembers, IdentityService, ItemAccess, ItemPermissions } from '../../../entities/knowledge/permissions.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import type { Settings } from '../../../settings.ts';
import type { ConnectorServices, SyncedSource } from './connector.ts';

/**
 * What a kind of source tells of the rights of its service, as the member `permissions` of its record (kind.ts). A kind without it cannot be MIRRORED.
 *
 * A reader says what is so and never guesses. What is not known for certain is said to be unknown, and nobody finds it. What could not be read for the
 * moment (a 429, a 5xx, a lost connection) is thrown as SourceError: what was known stays, for at most PERMISSION_MAX_AGE_HOURS.
 */
export interface PermissionKind {
  /** Whose account ids its principals have. */
  readonly service: IdentityService;
  /** Rights beyond those of reading documents: asked for when an account is connected, and named to administrators where they are missing. */
  readonly scopes: readonly string[];
  /** Whether `read` has a feed of changes, so that it runs every minute instead of every PERMISSION_SYNC_MINUTES. */
  readonly hasChangeFeed: boolean;
  /**
   * Which groups have the same ids and members in several sources: those of one connection, say. The text is compared; groups of one directory are read
   * once for all. It never holds a secret.
   */
  directory(data: JsonObject): string;
  /**
   * Which account a person has just connected. The id is that of principals of the service; an e-mail counts where the service says that it is
   * verified, and is left out otherwise.
   *
   * @param ask  reads an address of the service with the token of the person.
   * @throws SourceError
   */
  account(settings: Settings, ask: (url: string) => Promise<unknown>): Promise<ServiceAccount>;
  /** Opens what reads the permissions of sources of this kind. */
  open(services: ConnectorServices): PermissionReader;
}

export interface ServiceAccount {
  readonly accountId: string;
  readonly verifiedEmail?: string;
}

/** Reads permissions of one kind of source. Holds no state between calls. All throw SourceError, or the signal's reason. */
export interface PermissionReader {
  /**
   * Reads who may open the items of a source: of all, or what changed since `state`. Never reads a document. Page by page: what a page says is stored
   * before the next is asked for, and after a crash it goes on at `place`.
   *
   * A listing of documents (`Connector.list`) says nothing of permissions, also where its answers have some: what a drive lists of a file lacks what its
   * folders and its drive say, and is a part for an account that does not own it. This reading follows each listing that has new items, at once.
   */
  read(task: PermissionTask): AsyncGenerator<PermissionPage, PermissionEnd, void>;
  /**
   * Asks the service now whether a person may open items. Absent: the kind cannot, and `recheck: ON_ANSWER` is refused.
   *
   * One batched call within `signal`, which fires after a second. @returns the ids of those that may be given; whatever is left out is not.
   */
  recheck?(task: RecheckTask): Promise<ReadonlySet<string>>;
}

export interface PermissionTask {
  readonly source: SyncedSource;
  /** Read everything: do not use a feed of changes. */
  readonly isFull: boolean;
  /** What the last complete reading left; undefined for none, and whenever `isFull`. */
  readonly state: unknown;
  /** Where a reading that was cut off goes on; undefined at its beginning. */
  readonly place: unknown;
  readonly signal: AbortSignal;
  /** Items of the source by their ids at the service; an unknown id is left out. */
  known(uniqueIds: readonly string[]): Promise<ReadonlyMap<string, PermissionItem>>;
  /** All items of the source that exist, in the order of `uniqueId`, 1,000 at a time. @param after  begins behind this id. */
  items(after?: string): AsyncGenerator<readonly PermissionItem[], void, void>;
  /** Items of which nothing was ever told, such as those of the last listing: a feed of changes may have named them before they were there. */
  newItems(): AsyncGenerator<readonly PermissionItem[], void, void>;
}

/** What is stored of an item. */
export interface PermissionItem {
  readonly uniqueId: string;
  readonly parentUniqueId: string | null;
  readonly metadata: JsonObject;
  /** What the connector noted for itself when it listed the item: `ListedItem.notes`. */
  readonly notes: JsonObject;
}

export interface PermissionPage {
  /** At most 1,000. An item that is not there (yet) is ignored. */
  readonly items: readonly ItemAccess[];
  /** At most 1,000. Each is told whole: a group whose members were not all read is `unknown`, never a part. */
  readonly groups?: readonly GroupMembers[];
  /** Where a reading that is cut off goes on; any JSON. */
  readonly place: unknown;
}

export interface PermissionEnd {
  /**
   * Whether all items and groups of the source were told. Then items that were not become unknown (UNREPORTED). A group that nobody tells any
   * more opens nothing after PERMISSION_MAX_AGE_HOURS. After a reading by a feed of changes it is false.
   */
  readonly isFull: boolean;
  /** Given to the next reading, such as the token of a change feed; any JSON. Absent: what was there before is kept. */
  readonly state?: unknown;
  /** What the account lacks, for the page of the source: "GroupMember.Read.All: members of groups". */
  readonly missingRights?: readonly string[];
}

export interface RecheckTask {
  readonly source: SyncedSource;
  /** At most 50. */
  readonly items: readonly PermissionItem[];
  readonly person: {
    /** Ids of the person's accounts at `PermissionKind.service`, proven. */
    readonly accountIds: readonly string[];
    /** Verified, in lower case. */
    readonly emails: readonly string[];
  };
  readonly signal: AbortSignal;
  /** Whether permissions that were just read open to the person, with the members of groups that are stored. */
  opens(permissions: ItemPermissions): Promise<boolean>;
}
