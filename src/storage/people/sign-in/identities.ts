import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { AdminReach } from '../../../entities/people/access.ts';
import type { Membership } from '../../../entities/people/account.ts';
import type { MemberRole } from '../../../entities/people/caller.ts';
import type { Identity } from '../../../entities/people/identity.ts';
import type { SessionEnd } from '../../../entities/people/session.ts';
import { settled } from '../../ground/conflicts.ts';
import { countsOfEach, newestFirst } from '../../ground/lists/paging.ts';
import { PublishingStore } from '../../ground/store.ts';
import { usersIn } from '../reach.ts';

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

/** People at providers of sign-ins, and what a sign-in by a provider looks up. */
export class IdentityStore extends PublishingStore {
  async find({ provider, issuer, subject }: IdentityKey): Promise<Identity | undefined> {
    return (
      (await this.db.prisma.signInIdentity.findUnique({
        where: { provider_issuer_subject: { provider, issuer, subject } },
      })) ?? undefined
    );
  }

  async findById(id: string): Promise<Identity | undefined> {
    return (await this.db.prisma.signInIdentity.findUnique({ where: { id } })) ?? undefined;
  }

  /** An identity that signs in within an administration. */
  async findIn(id: string, reach: AdminReach): Promise<Identity | undefined> {
    return (await this.db.prisma.signInIdentity.findFirst({ where: { AND: [{ id }, identitiesWithin(reach)] } })) ?? undefined;
  }

  /** Other subjects that sign in as the user, by this provider or by another one with this issuer. */
  async findRivals(
    userId: string,
    { provider, issuer, subject }: IdentityKey,
  ): Promise<readonly Pick<Identity, 'id' | 'issuer'>[]> {
    const where = { userId, OR: [{ provider }, { issuer, subject: { not: subject } }] };
    return this.db.prisma.signInIdentity.findMany({ where, select: { id: true, issuer: true } });
  }

  /** Its sessions end: REVOKED. */
  async delete(id: string, at: Date): Promise<void> {
    const data = { endedAt: at, endedBy: 'REVOKED' satisfies SessionEnd };
    await this.db.prisma.session.updateMany({ where: { identityId: id, endedAt: null }, data });
    const { userId } = await settled(
      this.db.prisma.signInIdentity.delete({ where: { id }, select: { userId: true } }),
      'identity',
    );
    this.signals.publish('user-changed', userId);
  }

  /** @throws DomainError CONFLICT when another call has stored it first, or another identity of the provider and the user. */
  async create({ groupIds, ...identity }: Identity): Promise<void> {
    await settled(this.db.prisma.signInIdentity.create({ data: { ...identity, groupIds: [...groupIds] } }), 'identity');
  }

  async update(
    id: string,
    { groupIds, ...changes }: Partial<Pick<Identity, 'email' | 'lastUsedAt' | 'isAdminByGroup' | 'groupIds'>>,
  ): Promise<void> {
    const data = { ...changes, ...(groupIds === undefined ? {} : { groupIds: [...groupIds] }) };
    await this.db.prisma.signInIdentity.updateMany({ where: { id }, data });
  }

  /** The same page of the identities of each of several users, newest first. Cost: one statement, and one for the counts of all. */
  async pagesOf(
    userIds: readonly string[],
    sight: IdentitySight,
    page: PageRequest,
  ): Promise<ReadonlyMap<string, Page<Identity>>> {
    const visibility = identitiesIn(sight);
    const where = { AND: [{ id: { in: [...userIds] } }, usersShown(sight)] };
    const users = await this.db.prisma.user.findMany({ where, select: { id: true, identities: newestFirst(visibility, page) } });
    const ids = users.map(({ id }) => id);
    const countAll = countsOfEach(ids, async (some) => {
      const identityFilter = { AND: [visibility, { userId: { in: [...some] } }] };
      const counts = await this.db.prisma.signInIdentity.groupBy({ by: ['userId'], where: identityFilter, _count: true });
      return new Map(counts.map(({ userId, _count }) => [userId, _count]));
    });
    return new Map(users.map(({ id, identities }) => [id, toPage(identities, page, timeKey, countAll(id))]));
  }

  /** The organization, where the installation has only one. */
  async soleOrganizationId(): Promise<string | undefined> {
    const [first, second] = await this.db.prisma.organization.findMany({ select: { id: true }, take: 2 });
    return second === undefined ? first?.id : undefined;
  }

  async findMembership(orgId: string, userId: string): Promise<Pick<Membership, 'id' | 'role'> | undefined> {
    const select = { id: true, role: true };
    const found = await this.db.prisma.membership.findUnique({ where: { orgId_userId: { orgId, userId } }, select });
    return found === null ? undefined : { id: found.id, role: found.role as MemberRole };
  }

  /** Memberships of users with this e-mail, of all tenants. */
  membershipsOfEmail(email: string, limit: number): Promise<readonly Pick<Membership, 'userId' | 'orgId'>[]> {
    return this.db.prisma.membership.findMany({
      where: { user: { email } },
      select: { userId: true, orgId: true },
      take: limit,
    });
  }

  /** Groups of an organization by their names, of those that belong to its administrators: others could be made to catch people. */
  async groupsNamed(orgId: string, names: readonly string[], limit: number): Promise<readonly string[]> {
    const groups = [];
    for (let at = 0; at < names.length; at += namesAtOnce) {
      const where = { orgId, name: { in: names.slice(at, at + namesAtOnce) } };
      const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
      const select = { id: true, ownerUserId: true };
      groups.push(...(await this.db.prisma.group.findMany({ where, orderBy, take: limit - groups.length, select })));
      if (groups.length >= limit) break;
    }
    if (groups.length === 0) return [];
    const owners = { orgId, role: 'ADMIN', userId: { in: groups.map(({ ownerUserId }) => ownerUserId) } };
    const administrators = await this.db.prisma.membership.findMany({ where: owners, select: { userId: true } });
    const ids = new Set(administrators.map(({ userId }) => userId));
    return groups.filter(({ ownerUserId }) => ids.has(ownerUserId)).map(({ id }) => id);
  }

  /** Those of the groups that the user is a member of. */
  async memberIn(groupIds: readonly string[], userId: string): Promise<readonly string[]> {
    const where = { userId, groupId: { in: [...groupIds] } };
    return (await this.db.prisma.groupMember.findMany({ where, select: { groupId: true } })).map(({ groupId }) => groupId);
  }
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
