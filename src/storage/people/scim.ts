import type { MemberRole } from '../../entities/people/caller.ts';
import type { ScimFilter, ScimGroup, ScimList, ScimPage, ScimUser, ScimUserNote } from '../../entities/people/scim.ts';
import type { SessionEnd } from '../../entities/people/session.ts';
import type { Prisma } from '../generated/client.ts';
import { lockRow } from '../ground/sql/locks.ts';
import { PublishingStore } from '../ground/store.ts';

const oldestFirst = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];

/** What identity providers keep here about people and groups of an organization. */
export class ScimStore extends PublishingStore {
  async findUser(orgId: string, id: string): Promise<ScimUser | undefined> {
    return (await this.#users({ AND: [{ id }, ofOrganization(orgId)] }, orgId, { skip: 0, take: 1 }))[0];
  }

  /** People of the organization, and those who are deactivated in it; oldest first. */
  async listUsers(orgId: string, filter: ScimFilter | undefined, page: ScimPage): Promise<ScimList<ScimUser>> {
    const where = { AND: [ofOrganization(orgId), ...(filter === undefined ? [] : [userWhere(orgId, filter)])] };
    return {
      items: page.take === 0 ? [] : await this.#users(where, orgId, page),
      total: await this.db.prisma.user.count({ where }),
    };
  }

  async noteUser(orgId: string, userId: string, note: ScimUserNote): Promise<void> {
    const where = { orgId_userId: { orgId, userId } };
    await this.db.prisma.scimUser.upsert({ where, create: { orgId, userId, ...note }, update: note });
  }

  async forgetUser(orgId: string, userId: string): Promise<void> {
    await this.db.prisma.scimUser.deleteMany({ where: { orgId, userId } });
  }

  /** Revokes all keys and ends all sessions of the person in the organization. */
  async endAccess(orgId: string, userId: string, at: Date): Promise<void> {
    const data = { endedAt: at, endedBy: 'REVOKED' satisfies SessionEnd };
    const where = { orgId, userId, revokedAt: null };
    const revocation = { revokedAt: at, updatedAt: at };
    const keys = await this.db.prisma.apiKey.updateManyAndReturn({ where, data: revocation, select: { id: true } });
    await this.db.prisma.session.updateMany({ where: { orgId, userId, endedAt: null }, data });
    for (const { id } of keys) this.signals.publish('key-changed', id);
  }

  /** Those of the people that `findUser` would find, with their addresses. */
  async emailsOf(orgId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const where = { AND: [{ id: { in: [...userIds] } }, ofOrganization(orgId)] };
    const rows = await this.db.prisma.user.findMany({ where, select: { id: true, email: true } });
    return new Map(rows.map(({ id, email }) => [id, email]));
  }

  async findGroup(orgId: string, groupId: string): Promise<ScimGroup | undefined> {
    return (await this.#groups({ orgId, groupId }, { skip: 0, take: 1 }))[0];
  }

  async listGroups(orgId: string, filter: ScimFilter | undefined, page: ScimPage): Promise<ScimList<ScimGroup>> {
    const where = { AND: [{ orgId }, ...(filter === undefined ? [] : [groupWhere(filter)])] };
    return {
      items: page.take === 0 ? [] : await this.#groups(where, page),
      total: await this.db.prisma.scimGroup.count({ where }),
    };
  }

  /** Whether an identity provider has a group of that name. Holds back others who ask, until the transaction ends. */
  hasGroup(orgId: string, name: string, exceptId: string | undefined): Promise<boolean> {
    return this.db.transaction(async (tx) => {
      await lockRow(tx, 'organizations', orgId);
      const where = { orgId, group: { name }, ...(exceptId === undefined ? {} : { groupId: { not: exceptId } }) };
      return (await tx.prisma.scimGroup.count({ where })) > 0;
    });
  }

  async noteGroup(orgId: string, groupId: string, externalId: string | null): Promise<void> {
    await this.db.prisma.scimGroup.upsert({
      where: { groupId },
      create: { orgId, groupId, externalId },
      update: { externalId },
    });
  }

  async #users(where: Prisma.UserWhereInput, orgId: string, page: ScimPage): Promise<readonly ScimUser[]> {
    const rows = await this.db.prisma.user.findMany({ where, include: members(orgId), orderBy: oldestFirst, ...page });
    return rows.map(({ memberships: [membership], scimUsers: [note], ...user }) => ({
      ...{ id: user.id, tenantId: user.tenantId, email: user.email, name: user.name, createdAt: user.createdAt },
      updatedAt: note !== undefined && note.updatedAt > user.updatedAt ? note.updatedAt : user.updatedAt,
      membershipId: membership?.id,
      role: (membership?.role ?? note?.role ?? 'MEMBER') as MemberRole,
      ...{ externalId: note?.externalId ?? null, givenName: note?.givenName ?? null, familyName: note?.familyName ?? null },
    }));
  }

  async #groups(where: Prisma.ScimGroupWhereInput, page: ScimPage): Promise<readonly ScimGroup[]> {
    const rows = await this.db.prisma.scimGroup.findMany({
      where,
      include: { group: { include: { members: { where: { userId: { not: null } }, orderBy: { email: 'asc' } } } } },
      orderBy: [{ createdAt: 'asc' }, { groupId: 'asc' }],
      ...page,
    });
    return rows.map(({ externalId, group: { id, name, createdAt, updatedAt, ownerUserId, members: inside } }) => ({
      ...{ id, name, createdAt, updatedAt, ownerUserId, externalId },
      members: inside.map(({ userId, email }) => ({ userId: userId ?? '', email })),
    }));
  }
}

const ofOrganization = (orgId: string): Prisma.UserWhereInput => ({
  OR: [{ memberships: { some: { orgId } } }, { scimUsers: { some: { orgId } } }],
});

const members = (orgId: string) => ({
  memberships: { where: { orgId }, select: { id: true, role: true, createdAt: true } },
  scimUsers: { where: { orgId } },
});

function userWhere(orgId: string, { attribute, value }: ScimFilter): Prisma.UserWhereInput {
  if (attribute === 'externalId') return { scimUsers: { some: { orgId, externalId: value } } };
  return attribute === 'email' ? { email: value.toLowerCase() } : { id: value };
}

function groupWhere({ attribute, value }: ScimFilter): Prisma.ScimGroupWhereInput {
  if (attribute === 'externalId') return { externalId: value };
  if (attribute === 'id') return { groupId: value };
  // As the schema of groups says of it. Prisma compares by ILIKE, in which three signs are others.
  return { group: { name: { equals: value.replaceAll(/[\\%_]/g, '\\$&'), mode: 'insensitive' } } };
}
