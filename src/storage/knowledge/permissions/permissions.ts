import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Connection } from '../../../entities/knowledge/connection.ts';
import type { GroupMembers, ItemAccess } from '../../../entities/knowledge/permissions.ts';
import type { User } from '../../../entities/people/account.ts';
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { PublishingStore } from '../../ground/store.ts';
import { AccessGates } from './gates.ts';
import { writeGroups } from './groups.ts';
import { type ProvenIdentities, readIdentities, type ServiceIdentity, writeAccount } from './identities.ts';
import { findPrincipals, type Reader } from './open-rules.ts';
import { findOpenings, type Opening } from './openings.ts';
import type { PrincipalKey, PrincipalPlace } from './principals.ts';
import {
  type PushCounts,
  type PushedItem,
  PushedItemStore,
  type PushedOwner,
  type PushJobs,
  writePushedItems,
} from './pushed-items.ts';
import { type PermissionReadingState, type PermissionReport, readPermissionReports, readReadingStates } from './report.ts';
import { type PermissionPlace, writeItemAccess } from './rules.ts';
import { findOrganizationsWithPermissions, sweepPermissions } from './sweep.ts';
import { listUnidentified, type ReportedSource } from './unidentified.ts';

/** A part of what a source says of who may open its items. */
export interface WrittenPermissions {
  readonly items?: readonly ItemAccess[];
  readonly groups?: readonly GroupMembers[];
}

/** Who may open what at MIRRORED sources. */
export class PermissionStore extends PublishingStore {
  readonly gates: AccessGates;
  readonly pushed: PushedItemStore;
  readonly #maxAgeMs: number;

  constructor(db: Database, signals: Signals, maxAgeMs: number) {
    super(db, signals);
    this.gates = new AccessGates(db, signals, maxAgeMs);
    this.pushed = new PushedItemStore(db);
    this.#maxAgeMs = maxAgeMs;
  }

  /** Stores a part of the permissions of a source: all of it or nothing. @returns how many items changed. */
  async write(place: PermissionPlace, { items = [], groups = [] }: WrittenPermissions): Promise<number> {
    const changedCount = await this.db.transaction(async (tx) => {
      await writeGroups(tx, place, groups);
      return writeItemAccess(tx, place, items);
    });
    if (changedCount > 0 || groups.length > 0) this.signals.publish('permissions-changed', place.dataSourceId);
    return changedCount;
  }

  /** Writes documents that a program pushes, with who may open them: all or nothing. */
  async push(
    place: PermissionPlace,
    owner: PushedOwner,
    change: {
      readonly items: readonly PushedItem[];
      readonly accesses: readonly ItemAccess[];
      readonly removedIds: readonly string[];
      readonly runId: string;
    },
    jobs: PushJobs,
  ): Promise<PushCounts & { readonly permissionsChangedCount: number }> {
    const counts = await this.db.transaction(async (tx) => {
      const written = await writePushedItems(tx, owner, change, jobs);
      return { ...written, permissionsChangedCount: await writeItemAccess(tx, place, change.accesses) };
    });
    this.signals.publish('permissions-changed', place.dataSourceId);
    this.signals.publish('data-source-changed', place.dataSourceId);
    return counts;
  }

  /** Which of these groups have had their members told in a directory. */
  async knownGroups({ orgId, directory }: PrincipalPlace, keys: readonly string[]): Promise<readonly string[]> {
    const where = { orgId, directory, kind: 'group', key: { in: [...keys] }, membersReadAt: { not: null } };
    const groups = await this.db.prisma.permissionPrincipal.findMany({ where, select: { key: true } });
    return groups.map(({ key }) => key);
  }

  /** What is known of the permissions of MIRRORED sources; the others are absent. */
  reports(sources: readonly ReportedSource[]): Promise<ReadonlyMap<string, PermissionReport>> {
    return readPermissionReports(this.db, sources);
  }

  /** Persons of the organization who are not known at a source, in the order of their ids. */
  unidentified(source: ReportedSource, page: PageRequest): Promise<Page<User>> {
    return listUnidentified(this.db, source, page);
  }

  /** How far the readings of the permissions of sources are; those that no connector reads are absent. */
  readingStates(ids: readonly string[]): Promise<ReadonlyMap<string, PermissionReadingState>> {
    return readReadingStates(this.db, ids);
  }

  /** Notes whose account a connection is at its service; without an identity, that it proves none. */
  async proveAccount(
    connection: Pick<Connection, 'id' | 'orgId' | 'ownerUserId'>,
    identity: ServiceIdentity | undefined,
  ): Promise<void> {
    await writeAccount(this.db, connection, identity);
    this.signals.publish('permissions-changed', connection.ownerUserId);
  }

  /** What a member of an organization is known by at sources; undefined for somebody else. */
  identitiesOf(person: { readonly orgId: string; readonly userId: string }): Promise<ProvenIdentities | undefined> {
    return readIdentities(this.db, person);
  }

  /** Why a person opens documents of a MIRRORED source: by document, for each access list the principals that open it. Never remembered. */
  openingsOf(
    reader: Reader,
    dataSourceId: string,
    itemIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly (readonly Opening[])[]>> {
    return findOpenings(this.db, reader, dataSourceId, itemIds, this.#maxAgeMs);
  }

  /** Organizations that have permissions of sources, in the order of their ids. */
  organizations(after: string): Promise<readonly string[]> {
    return findOrganizationsWithPermissions(this.db, after);
  }

  /** Deletes what nothing names any more of the permissions of an organization's sources. @returns how many rows; call it until there are none. */
  sweep(orgId: string): Promise<number> {
    return sweepPermissions(this.db, orgId, this.#maxAgeMs);
  }

  /** Whom a person is known as in the directory of a source. */
  principalsOf(reader: Reader, dataSourceId: string): Promise<readonly PrincipalKey[]> {
    return findPrincipals(this.db, reader, dataSourceId, this.#maxAgeMs);
  }

  /** Items as a reader of permissions knows them. */
  async items(ids: readonly string[]): Promise<readonly StoredPermissionItem[]> {
    const select = { id: true, uniqueId: true, parentUniqueId: true, metadata: true, notes: true } as const;
    return this.db.prisma.knowledgeItem.findMany({ where: { id: { in: [...ids] } }, select });
  }
}

interface StoredPermissionItem {
  readonly id: string;
  readonly uniqueId: string;
  readonly parentUniqueId: string | null;
  readonly metadata: unknown;
  readonly notes: unknown;
}
