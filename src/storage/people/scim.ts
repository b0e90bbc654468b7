import type { MemberRole } from '../../entities/people/caller.ts';
import type { ScimFilter, ScimGroup, ScimList, ScimPage, ScimUser, ScimUserNote } from '../../entities/people/scim.ts';
import type { SessionEnd } from '../../entities/people/session.ts';
import type { Prisma } from '../generated/client.ts';
import type { Database } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { lockRow } from '../ground/sql/locks.ts';

/** What identity providers keep here about people and groups of an organization. */
export interface ScimStore {
  findUser(orgId: string, id: string): Promise<ScimUser | undefined>;
  /** People of the organization, and those who are deactivated in it; oldest first. */
  listUsers(orgId: string, filter: ScimFilter | undefined, page: ScimPage): Promise<ScimList<ScimUser>>;
  noteUser(orgId: string, id: string, note: ScimUserNote): Promise<void>;
  forgetUser(orgId: string, id: string): Promise<void>;
  /** Revokes all keys and ends all sessions of the person in the organization. */
  endAccess(orgId: string, userId: string, at: Date): Promise<void>;
  /** Those of the people that `findUser` would find, with their addresses. */
  emailsOf(orgId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  findGroup(orgId: string, id: string): Promise<ScimGroup | undefined>;
  listGroups(orgId: string, filter: ScimFilter | undefined, page: ScimPage): Promise<ScimList<ScimGroup>>;
  /** Whether an identity provider has a group of that name. Holds back others who ask, until the transaction ends. */
  hasGroup(orgId: string, name: string, exceptId: string | undefined): Promise<boolean>;
  noteGroup(orgId: string, groupId: string, externalId: string | null): Promise<void>;
}

const oldestFirst = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];

export function createScimStore(db: Database, signals: Signals): ScimStore {
  const ofOrganization = (orgId: string): Prisma.UserWhereInput => ({
    OR: [{ memberships: { some: { orgId } } }, { scimUsers: { some: { orgId } } }],
  });
  const members = (orgId: string) => ({
    memberships: { where: { orgId }, select: { id: true, role: true, createdAt: true } },
    scimUsers: { where: { orgId } },
  });
  async function users(where: Prisma.UserWhereInput, orgId: string, page: ScimPage): Promise<readonly ScimUser[]> {
    const rows = await db.prisma.user.findMany({ where, include: members(orgId), orderBy: oldestFirst, ...page });
    return rows.map(({ memberships: [membership], scimUsers: [note], ...user }) => ({
      ...{ id: user.id, tenantId: user.tenantId, email: user.email, name: user.name, createdAt: user.createdAt },
      updatedAt: note !== undefined && note.updatedAt > user.updatedAt ? note.updatedAt : user.updatedAt,
      membershipId: membership?.id,
      role: (membership?.role ?? note?.role ?? 'MEMBER') as MemberRole,
      ...{ externalId: note?.externalId ?? null, givenName: note?.givenName ?? null, familyName: note?.familyName ?? null },
    }));
  }
  async function groups(where: Prisma.ScimGroupWhereInput, page: ScimPage): Promise<readonly ScimGroup[]> {
    const rows = await db.prisma.scimGroup.findMany({
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

  return {
    findUser: async (orgId, id) => (await users({ AND: [{ id }, ofOrganization(orgId)] }, orgId, { skip: 0, take: 1 }))[0],
    async listUsers(orgId, filter, page) {
      const where = { AND: [ofOrganization(orgId), ...(filter === undefined ? [] : [userWhere(orgId, filter)])] };
      return { items: page.take === 0 ? [] : await users(where, orgId, page), total: await db.prisma.user.count({ where }) };
    },
    async noteUser(orgId, userId, note) {
      const where = { orgId_userId: { orgId, userId } };
      await db.prisma.scimUser.upsert({ where, create: { orgId, userId, ...note }, update: note });
    },
    async forgetUser(orgId, userId) {
      await db.prisma.scimUser.deleteMany({ where: { orgId, userId } });
    },
    async endAccess(orgId, userId, at) {
      const data = { endedAt: at, endedBy: 'REVOKED' satisfies SessionEnd };
      const where = { orgId, userId, revokedAt: null };
      const revoked = { revokedAt: at, updatedAt: at };
      const keys = await db.prisma.apiKey.updateManyAndReturn({ where, data: revoked, select: { id: true } });
      await db.prisma.session.updateMany({ where: { orgId, userId, endedAt: null }, data });
      for (const { id } of keys) signals.publish('key-changed', id);
    },
    async emailsOf(orgId, userIds) {
      const where = { AND: [{ id: { in: [...userIds] } }, ofOrganization(orgId)] };
      const rows = await db.prisma.user.findMany({ where, select: { id: true, email: true } });
      return new Map(rows.map(({ id, email }) => [id, email]));
    },
    findGroup: async (orgId, groupId) => (await groups({ orgId, groupId }, { skip: 0, take: 1 }))[0],
    async listGroups(orgId, filter, page) {
      const where = { AND: [{ orgId }, ...(filter === undefined ? [] : [groupWhere(filter)])] };
      return { items: page.take === 0 ? [] : await groups(where, page), total: await db.prisma.scimGroup.count({ where }) };
    },
    hasGroup: (orgId, name, exceptId) =>
      db.transaction(async (tx) => {
        await lockRow(tx, 'organizations', orgId);
        const where = { orgId, group: { name }, ...(exceptId === undefined ? {} : { groupId: { not: exceptId } }) };
        return (await tx.prisma.scimGroup.count({ where })) > 0;
      }),
    async noteGroup(orgId, groupId, externalId) {
      await db.prisma.scimGroup.upsert({ where: { groupId }, create: { orgId, groupId, externalId }, update: { externalId } });
    },
  };
}

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
