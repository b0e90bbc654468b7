import { type Page, type PageRequest, pageOf, timeKey } from '../../../entities/ground/page.ts';
import type { AdminReach } from '../../../entities/people/access.ts';
import type { Membership } from '../../../entities/people/account.ts';
import type { MemberRole } from '../../../entities/people/caller.ts';
import type { Identity } from '../../../entities/people/identity.ts';
import type { SessionEnd } from '../../../entities/people/session.ts';
import { settled } from '../../ground/conflicts.ts';
import type { Database } from '../../ground/database.ts';
import { countsOfEach, newestFirst } from '../../ground/lists/paging.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { usersIn } from '../reach.ts';

/** People at providers of sign-ins, and what a sign-in by a provider looks up. */
export interface IdentityStore {
  find(key: IdentityKey): Promise<Identity | undefined>;
  findById(id: string): Promise<Identity | undefined>;
  /** An identity that signs in within an administration. */
  findIn(id: string, reach: AdminReach): Promise<Identity | undefined>;
  /** Other subjects that sign in as the user, by this provider or by another one with this issuer. */
  findRivals(userId: string, key: IdentityKey): Promise<readonly Pick<Identity, 'id' | 'issuer'>[]>;
  /** @throws DomainError CONFLICT when another call has stored it first, or another identity of the provider and the user. */
  create(identity: Identity): Promise<void>;
  /** Its sessions end: REVOKED. */
  delete(id: string, at: Date): Promise<void>;
  update(id: string, changes: Partial<Pick<Identity, 'email' | 'lastUsedAt' | 'isAdminByGroup' | 'groupIds'>>): Promise<void>;
  /** The same page of the identities of each of several users, newest first. Cost: one statement, and one for the counts of all. */
  pagesOf(userIds: readonly string[], sight: IdentitySight, page: PageRequest): Promise<ReadonlyMap<string, Page<Identity>>>;
  /** The organization, where the installation has only one. */
  soleOrganizationId(): Promise<string | undefined>;
  findMembership(orgId: string, userId: string): Promise<Pick<Membership, 'id' | 'role'> | undefined>;
  /** Memberships of users with this e-mail, of all tenants. */
  membershipsOfEmail(email: string, limit: number): Promise<readonly Pick<Membership, 'userId' | 'orgId'>[]>;
  /** Groups of an organization by their names, of those that belong to its administrators: others could be made to catch people. */
  groupsNamed(orgId: string, names: readonly string[], limit: number): Promise<readonly string[]>;
  /** Those of the groups that the user is a member of. */
  memberIn(groupIds: readonly string[], userId: string): Promise<readonly string[]>;
}

export interface IdentityKey {
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
}

/** Whose identities are shown: the user's own, or those of users and organizations within an administration. */
export interface IdentitySight {
  readonly ownUserId: string;
  readonly reach: AdminReach | undefined;
}

/** A statement has a bounded number of values. */
const namesAtOnce = 1_000;

export function createIdentityStore(db: Database, signals: Signals): IdentityStore {
  return {
    find: async ({ provider, issuer, subject }) =>
      (await db.prisma.signInIdentity.findUnique({
        where: { provider_issuer_subject: { provider, issuer, subject } },
      })) ?? undefined,
    findById: async (id) => (await db.prisma.signInIdentity.findUnique({ where: { id } })) ?? undefined,
    findIn: async (id, reach) =>
      (await db.prisma.signInIdentity.findFirst({ where: { AND: [{ id }, identitiesWithin(reach)] } })) ?? undefined,
    async findRivals(userId, { provider, issuer, subject }) {
      const where = { userId, OR: [{ provider }, { issuer, subject: { not: subject } }] };
      return db.prisma.signInIdentity.findMany({ where, select: { id: true, issuer: true } });
    },
    async delete(id, at) {
      const data = { endedAt: at, endedBy: 'REVOKED' satisfies SessionEnd };
      await db.prisma.session.updateMany({ where: { identityId: id, endedAt: null }, data });
      const { userId } = await settled(db.prisma.signInIdentity.delete({ where: { id }, select: { userId: true } }), 'identity');
      signals.publish('user-changed', userId);
    },
    async create({ groupIds, ...identity }) {
      await settled(db.prisma.signInIdentity.create({ data: { ...identity, groupIds: [...groupIds] } }), 'identity');
    },
    async update(id, { groupIds, ...changes }) {
      const data = { ...changes, ...(groupIds === undefined ? {} : { groupIds: [...groupIds] }) };
      await db.prisma.signInIdentity.updateMany({ where: { id }, data });
    },
    async pagesOf(userIds, sight, page) {
      const shown = identitiesIn(sight);
      const where = { AND: [{ id: { in: [...userIds] } }, usersShown(sight)] };
      const users = await db.prisma.user.findMany({ where, select: { id: true, identities: newestFirst(shown, page) } });
      const ids = users.map(({ id }) => id);
      const countAll = countsOfEach(ids, async (some) => {
        const named = { AND: [shown, { userId: { in: [...some] } }] };
        const counts = await db.prisma.signInIdentity.groupBy({ by: ['userId'], where: named, _count: true });
        return new Map(counts.map(({ userId, _count }) => [userId, _count]));
      });
      return new Map(users.map(({ id, identities }) => [id, pageOf(identities, page, timeKey, countAll(id))]));
    },
    async soleOrganizationId() {
      const [first, second] = await db.prisma.organization.findMany({ select: { id: true }, take: 2 });
      return second === undefined ? first?.id : undefined;
    },
    async findMembership(orgId, userId) {
      const select = { id: true, role: true };
      const found = await db.prisma.membership.findUnique({ where: { orgId_userId: { orgId, userId } }, select });
      return found === null ? undefined : { id: found.id, role: found.role as MemberRole };
    },
    membershipsOfEmail: (email, limit) =>
      db.prisma.membership.findMany({ where: { user: { email } }, select: { userId: true, orgId: true }, take: limit }),
    async groupsNamed(orgId, names, limit) {
      const groups = [];
      for (let at = 0; at < names.length; at += namesAtOnce) {
        const where = { orgId, name: { in: names.slice(at, at + namesAtOnce) } };
        const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
        const select = { id: true, ownerUserId: true };
        groups.push(...(await db.prisma.group.findMany({ where, orderBy, take: limit - groups.length, select })));
        if (groups.length >= limit) break;
      }
      if (groups.length === 0) return [];
      const owners = { orgId, role: 'ADMIN', userId: { in: groups.map(({ ownerUserId }) => ownerUserId) } };
      const administrators = await db.prisma.membership.findMany({ where: owners, select: { userId: true } });
      const ids = new Set(administrators.map(({ userId }) => userId));
      return groups.filter(({ ownerUserId }) => ids.has(ownerUserId)).map(({ id }) => id);
    },
    async memberIn(groupIds, userId) {
      const where = { userId, groupId: { in: [...groupIds] } };
      return (await db.prisma.groupMember.findMany({ where, select: { groupId: true } })).map(({ groupId }) => groupId);
    },
  };
}

function identitiesWithin(reach: AdminReach) {
  if (reach.reach === 'instance') return {};
  return reach.reach === 'tenant' ? { user: { tenantId: reach.tenantId } } : { orgId: reach.orgId };
}

function usersShown({ ownUserId, reach }: IdentitySight) {
  if (reach === undefined) return { id: ownUserId };
  // Prisma leaves an empty condition out of an OR, where it would match everything.
  return reach.reach === 'instance' ? {} : { OR: [{ id: ownUserId }, usersIn(reach)] };
}

/** An administrator of an organization sees how people sign in there. */
function identitiesIn({ ownUserId, reach }: IdentitySight) {
  return reach?.reach === 'organization' ? { OR: [{ userId: ownUserId }, { orgId: reach.orgId }] } : {};
}
