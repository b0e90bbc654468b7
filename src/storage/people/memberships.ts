import { type Page, type PageRequest, timeKey, toPage } from '../../entities/ground/page.ts';
import type { AdminReach } from '../../entities/people/access.ts';
import type { Membership } from '../../entities/people/account.ts';
import type { MemberRole } from '../../entities/people/caller.ts';
import type { Transaction } from '../ground/database.ts';
import { countsOfEach, newestFirst } from '../ground/lists/paging.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { lockRow } from '../ground/sql/locks.ts';
import { PublishingStore } from '../ground/store.ts';
import { endOperator } from './operators.ts';
import { membershipsIn } from './reach.ts';
import { noteRemoval } from './removals.ts';
import { endSessionsOfMember } from './sign-in/sessions.ts';

/** `last-admin`: nothing was changed, because the organization would be left without an administrator. */
export type MembershipChange = 'changed' | 'missing' | 'last-admin';

export interface MembershipsOf {
  readonly orgId: string | undefined;
  readonly userId: string | undefined;
}

export class MembershipStore extends PublishingStore {
  async find(id: string, reach: AdminReach): Promise<Membership | undefined> {
    const row = await this.db.prisma.membership.findFirst({ where: { AND: [{ id }, membershipsIn(reach)] } });
    return row === null ? undefined : toMembership(row);
  }

  /** Newest first. */
  async list(reach: AdminReach, { orgId, userId }: MembershipsOf, page: PageRequest): Promise<Page<Membership>> {
    const placeFilter = { ...(orgId === undefined ? {} : { orgId }), ...(userId === undefined ? {} : { userId }) };
    const where = { AND: [membershipsIn(reach), placeFilter] };
    const rows = await this.db.prisma.membership.findMany(newestFirst(where, page));
    return toPage(rows.map(toMembership), page, timeKey, (take) => this.db.prisma.membership.count({ where, take }));
  }

  async findMany(ids: readonly string[], reach: AdminReach): Promise<readonly Membership[]> {
    const where = { AND: [{ id: { in: [...ids] } }, membershipsIn(reach)] };
    return (await this.db.prisma.membership.findMany({ where })).map(toMembership);
  }

  /** The same page of each of several users or organizations, by its id. Cost: one statement, and one for the counts of all. */
  async pagesOf(
    owner: 'user' | 'organization',
    ids: readonly string[],
    reach: AdminReach,
    page: PageRequest,
  ): Promise<ReadonlyMap<string, Page<Membership>>> {
    const where = { id: { in: [...ids] } };
    const select = { id: true, memberships: newestFirst(membershipsIn(reach), page) };
    const rows =
      owner === 'user'
        ? await this.db.prisma.user.findMany({ where, select })
        : await this.db.prisma.organization.findMany({ where, select });
    const column = owner === 'user' ? 'userId' : 'orgId';
    const countAll = countsOfEach(ids, async (some) => {
      const membersFilter = { AND: [membershipsIn(reach), { [column]: { in: [...some] } }] };
      const counts = await this.db.prisma.membership.groupBy({ by: [column], where: membersFilter, _count: true });
      return new Map(counts.map((row) => [row[column], row._count]));
    });
    return new Map(rows.map(({ id, memberships }) => [id, toPage(memberships.map(toMembership), page, timeKey, countAll(id))]));
  }

  /** Those of the users who have a membership in reach. */
  async membersAmong(userIds: readonly string[], reach: AdminReach): Promise<ReadonlySet<string>> {
    const where = { AND: [{ userId: { in: [...userIds] } }, membershipsIn(reach)] };
    const rows = await this.db.prisma.membership.findMany({ where, select: { userId: true }, distinct: ['userId'] });
    return new Set(rows.map(({ userId }) => userId));
  }

  /** Sessions of the member in the organization end, as by `delete`: the next one has the new rights. */
  setRole(id: string, role: MemberRole): Promise<MembershipChange> {
    return this.#change(id, role !== 'ADMIN', (tx) => tx.prisma.membership.update({ where: { id }, data: { role } }));
  }

  /** The same by organization and user. */
  async deleteOf({ orgId, userId }: { readonly orgId: string; readonly userId: string }): Promise<MembershipChange> {
    const found = await this.db.prisma.membership.findUnique({
      where: { orgId_userId: { orgId, userId } },
      select: { id: true },
    });
    return found === null ? 'missing' : this.#change(found.id, true, (tx) => remove(tx, this.signals, found.id));
  }

  /** Who is an operator is none any more. */
  delete(id: string, also: (tx: Transaction) => Promise<void>): Promise<MembershipChange> {
    return this.#change(id, true, async (tx) => {
      await remove(tx, this.signals, id);
      await also(tx);
    });
  }

  async #change(id: string, isLoss: boolean, write: (tx: Transaction) => Promise<unknown>): Promise<MembershipChange> {
    const found = await this.db.prisma.membership.findUnique({ where: { id } });
    if (found === null) return 'missing';
    const { orgId } = found;
    const result = await this.db.transaction(async (tx): Promise<MembershipChange> => {
      // The lock serializes changes of an organization's administrators.
      await lockRow(tx, 'organizations', orgId);
      const { membership } = tx.prisma;
      const now = await membership.findUnique({ where: { id } });
      if (now === null) return 'missing';
      if (isLoss && now.role === 'ADMIN' && (await membership.count({ where: { orgId, role: 'ADMIN' } })) === 1)
        return 'last-admin';
      await write(tx);
      const after = await membership.findUnique({ where: { id }, select: { role: true } });
      if (after?.role !== now.role) await endSessionsOfMember(tx, found);
      return 'changed';
    });
    if (result === 'changed') {
      this.signals.publish('user-changed', found.userId);
      this.signals.publish('membership-changed', id);
    }
    return result;
  }
}

async function remove(tx: Transaction, signals: Signals, id: string): Promise<void> {
  const { orgId, userId } = await tx.prisma.membership.delete({ where: { id }, select: { orgId: true, userId: true } });
  await noteRemoval(tx, signals, orgId, userId);
  await endOperator(tx, userId);
}

function toMembership(row: Omit<Membership, 'role'> & { readonly role: string }): Membership {
  return { ...row, role: row.role as MemberRole };
}
