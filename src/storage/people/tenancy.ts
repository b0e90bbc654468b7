// Raw SQL: a first start runs `createFirst`, and does not wait for Prisma (130 ms of processor time).
import type { PoolClient } from 'pg';
import { DomainError } from '../../entities/ground/errors.ts';
import type { MemberRole, Scope } from '../../entities/people/caller.ts';
import type { SignInLink } from '../../entities/people/session.ts';
import { settled } from '../ground/conflicts.ts';
import { hasNoTenant } from '../ground/opening/installation.ts';
import { withTurn } from '../ground/opening/pool.ts';
import { PublishingStore } from '../ground/store.ts';
import { claimGroupMembers } from './groups/emails.ts';
import { forgetRemoval } from './removals.ts';

export interface NewOrganization {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly createdAt: Date;
  /** Tokens; absent or null is no limit. */
  readonly dataUsageTokenLimit?: number | null;
  readonly apiUsageTokenLimit?: number | null;
}
export interface NewUser {
  readonly id: string;
  readonly tenantId: string;
  /** Any case; kept in lower case. */
  readonly email: string;
  readonly name: string;
  readonly createdAt: Date;
}
export interface NewMember {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly role: MemberRole;
  readonly createdAt: Date;
}
export interface FirstAccount {
  readonly createdAt: Date;
  readonly tenant: { readonly id: string; readonly name: string };
  readonly organization: { readonly id: string; readonly name: string };
  readonly admin: { readonly id: string; readonly email: string; readonly name: string };
  readonly membershipId: string;
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly prefix: string;
    readonly hash: string;
  };
  /** Signs the administrator in, once; undefined when there is none. */
  readonly signInLink?: SignInLink;
}

/** Any number works, as long as every Parley uses the same one, and nothing else does. */
const firstStartLock = 7_215_534;

/** Who is separated from whom: tenants, their organizations, and the members of each. */
export class TenancyStore extends PublishingStore {
  /** True until the first tenant exists. */
  isEmpty(): Promise<boolean> {
    return hasNoTenant(this.db.pool);
  }

  /** Whether there are two tenants or more. */
  async hasSeveral(): Promise<boolean> {
    return (await this.db.prisma.tenant.findMany({ select: { id: true }, take: 2 })).length > 1;
  }

  /**
   * Writes the first tenant, organization, administrator (who is an operator) and key, all or nothing.
   *
   * @returns false when another process wrote them first; nothing is written then.
   */
  createFirst({ createdAt, tenant, organization, admin, membershipId, key, signInLink }: FirstAccount): Promise<boolean> {
    return withTurn(this.db.pool, firstStartLock, async (client) => {
      if (!(await hasNoTenant(client))) return false;
      const times = { createdAt, updatedAt: createdAt };
      const member = { orgId: organization.id, userId: admin.id };
      await insert(client, 'tenants', { ...tenant, ...times });
      await insert(client, 'organizations', { ...organization, ...times, tenantId: tenant.id });
      await insert(client, 'users', { ...admin, ...times, tenantId: tenant.id, isOperator: true });
      await insert(client, 'memberships', { ...member, id: membershipId, createdAt, role: 'ADMIN' });
      await insert(client, 'api_keys', { ...key, ...times, ...member, membershipId, level: 'INSTANCE' });
      if (signInLink !== undefined) await insert(client, 'sign_in_links', signInLink);
      return true;
    });
  }

  /** The first administrator by time. A command line without a key acts as this user. */
  async findFirstAdmin(): Promise<{ readonly userId: string; readonly orgId: string; readonly tenantId: string } | undefined> {
    const first = await this.db.prisma.membership.findFirst({
      where: { role: 'ADMIN' },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      select: { userId: true, orgId: true, organization: { select: { tenantId: true } } },
    });
    return first === null ? undefined : { userId: first.userId, orgId: first.orgId, ...first.organization };
  }

  async createTenant(tenant: { readonly id: string; readonly name: string; readonly createdAt: Date }): Promise<void> {
    await this.db.prisma.tenant.create({ data: { ...tenant, updatedAt: tenant.createdAt } });
  }

  async createOrganization(organization: NewOrganization): Promise<void> {
    const creation = this.db.prisma.organization.create({ data: { ...organization, updatedAt: organization.createdAt } });
    await settled(creation, 'organization');
  }

  async createUser(user: NewUser): Promise<void> {
    const data = { ...user, email: user.email.toLowerCase(), updatedAt: user.createdAt };
    const created = await settled(this.db.prisma.user.create({ data }), 'user');
    for (const groupId of await claimGroupMembers(this.db, created)) this.signals.publish('group-changed', groupId);
  }

  /** Whoever was removed before is not any more. @throws DomainError CONFLICT for somebody who is deactivated in the organization. */
  async addMember(member: NewMember): Promise<void> {
    const { orgId, userId } = member;
    const noted = await this.db.prisma.scimUser.findUnique({
      where: { orgId_userId: { orgId, userId } },
      select: { isActive: true },
    });
    if (noted?.isActive === false) {
      throw new DomainError(
        'CONFLICT',
        'This person is deactivated in the organization: activate the person first, in the identity provider or by reactivateUser',
      );
    }
    await settled(this.db.prisma.membership.create({ data: { ...member } }), 'membership');
    await forgetRemoval(this.db, orgId, userId);
    this.signals.publish('user-changed', member.userId);
    this.signals.publish('membership-changed', member.id);
  }
}

async function insert(client: PoolClient, table: string, row: object): Promise<void> {
  const entries = Object.entries(row);
  const columns = entries.map(([name]) => `"${name}"`).join(', ');
  const places = entries.map((_entry, index) => `$${index + 1}`).join(', ');
  await client.query(
    `insert into ${table} (${columns}) values (${places})`,
    entries.map(([, value]) => value),
  );
}
