import type { AccountSight } from '../../entities/people/access.ts';
import type { Organization, User } from '../../entities/people/account.ts';
import type { MemberRole } from '../../entities/people/caller.ts';
import type { Database } from '../ground/database.ts';
import { organizationOf } from './organizations.ts';
import { organizationsInSight, usersInSight } from './reach.ts';

/** Users and organizations by id, many at once. Ids that do not exist are left out. */
export interface AccountStore {
  findUsers(ids: readonly string[]): Promise<readonly User[]>;
  findOrganizations(ids: readonly string[]): Promise<readonly Organization[]>;
  /** Those that a caller may read. */
  seeUsers(ids: readonly string[], sight: AccountSight): Promise<readonly User[]>;
  seeOrganizations(ids: readonly string[], sight: AccountSight): Promise<readonly Organization[]>;
  /** The role of a user in an organization; undefined for a user who is not a member. */
  findRole(orgId: string, userId: string): Promise<MemberRole | undefined>;
  /** Members of an organization among the given users, named by id or by e-mail (any case). */
  findMembers(
    orgId: string,
    named: { readonly ids: readonly string[]; readonly emails: readonly string[] },
  ): Promise<readonly User[]>;
  /** Users of a tenant by e-mail (any case). */
  findUsersByEmail(tenantId: string, emails: readonly string[]): Promise<readonly User[]>;
}

export function createAccountStore(db: Database): AccountStore {
  return {
    findUsers: (ids) => db.prisma.user.findMany({ where: { id: { in: [...ids] } } }),
    seeUsers: (ids, sight) => db.prisma.user.findMany({ where: { AND: [{ id: { in: [...ids] } }, usersInSight(sight)] } }),
    async seeOrganizations(ids, sight) {
      const where = { AND: [{ id: { in: [...ids] } }, organizationsInSight(sight)] };
      return (await db.prisma.organization.findMany({ where })).map(organizationOf);
    },
    findRole: async (orgId, userId) => {
      const row = await db.prisma.membership.findUnique({ where: { orgId_userId: { orgId, userId } }, select: { role: true } });
      return row === null ? undefined : (row.role as MemberRole);
    },
    findMembers: (orgId, { ids, emails }) =>
      db.prisma.user.findMany({
        where: {
          memberships: { some: { orgId } },
          OR: [{ id: { in: [...ids] } }, { email: { in: emails.map((email) => email.toLowerCase()) } }],
        },
      }),
    findUsersByEmail: (tenantId, emails) =>
      db.prisma.user.findMany({ where: { tenantId, email: { in: emails.map((email) => email.toLowerCase()) } } }),
    findOrganizations: async (ids) => {
      const rows = await db.prisma.organization.findMany({ where: { id: { in: [...ids] } } });
      return rows.map(organizationOf);
    },
  };
}
