import type { AccountSight } from '../../entities/people/access.ts';
import type { Organization, User } from '../../entities/people/account.ts';
import type { MemberRole } from '../../entities/people/caller.ts';
import { Store } from '../ground/store.ts';
import { toOrganization } from './organizations.ts';
import { organizationsInSight, usersInSight } from './reach.ts';

/** Users and organizations by id, many at once. Ids that do not exist are left out. */
export class AccountStore extends Store {
  findUsers(ids: readonly string[]): Promise<readonly User[]> {
    return this.db.prisma.user.findMany({ where: { id: { in: [...ids] } } });
  }

  /** Those that a caller may read. */
  seeUsers(ids: readonly string[], sight: AccountSight): Promise<readonly User[]> {
    return this.db.prisma.user.findMany({ where: { AND: [{ id: { in: [...ids] } }, usersInSight(sight)] } });
  }

  async seeOrganizations(ids: readonly string[], sight: AccountSight): Promise<readonly Organization[]> {
    const where = { AND: [{ id: { in: [...ids] } }, organizationsInSight(sight)] };
    return (await this.db.prisma.organization.findMany({ where })).map(toOrganization);
  }

  /** The role of a user in an organization; undefined for a user who is not a member. */
  async findRole(orgId: string, userId: string): Promise<MemberRole | undefined> {
    const row = await this.db.prisma.membership.findUnique({
      where: { orgId_userId: { orgId, userId } },
      select: { role: true },
    });
    return row === null ? undefined : (row.role as MemberRole);
  }

  /** Members of an organization among the given users, named by id or by e-mail (any case). */
  findMembers(
    orgId: string,
    { ids, emails }: { readonly ids: readonly string[]; readonly emails: readonly string[] },
  ): Promise<readonly User[]> {
    return this.db.prisma.user.findMany({
      where: {
        memberships: { some: { orgId } },
        OR: [{ id: { in: [...ids] } }, { email: { in: emails.map((email) => email.toLowerCase()) } }],
      },
    });
  }

  /** Users of a tenant by e-mail (any case). */
  findUsersByEmail(tenantId: string, emails: readonly string[]): Promise<readonly User[]> {
    return this.db.prisma.user.findMany({ where: { tenantId, email: { in: emails.map((email) => email.toLowerCase()) } } });
  }

  async findOrganizations(ids: readonly string[]): Promise<readonly Organization[]> {
    const rows = await this.db.prisma.organization.findMany({ where: { id: { in: [...ids] } } });
    return rows.map(toOrganization);
  }
}
