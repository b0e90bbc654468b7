import type { Scope } from '../../entities/accounts/caller.ts';
import { settled } from '../database/conflicts.ts';
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';

/** The walls between customers: tenants, their organizations, who is a member where. */
export interface TenancyStore {
  /** True until the first tenant is there. */
  isEmpty(): Promise<boolean>;
  /**
   * Writes the first tenant, organization, administrator and key, all or nothing.
   *
   * @returns false when another process was first; nothing is written then.
   */
  createFirst(first: FirstAccount): Promise<boolean>;
  /** The administrator of longest standing: who a command line without a key acts as. */
  findFirstAdmin(): Promise<{ readonly userId: string; readonly orgId: string; readonly tenantId: string } | undefined>;
  createTenant(tenant: { readonly id: string; readonly name: string; readonly createdAt: Date }): Promise<void>;
  createOrganization(organization: NewOrganization): Promise<void>;
  createUser(user: NewUser): Promise<void>;
  addMember(member: NewMember): Promise<void>;
}

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
  readonly role: 'MEMBER' | 'ADMIN';
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
}

/** Any number will do, as long as every Parley takes the same one. */
const firstStartLock = 7_215_534;

/** Groups name members by e-mail, also before there is such a user. */
const fillMemberships = `update group_members m set "userId" = $1, "updatedAt" = now()
  from groups g join organizations o on o.id = g."orgId"
  where g.id = m."groupId" and o."tenantId" = $2 and m.email = $3 and m."userId" is null
  returning m."groupId"`;

/** Processes that start together on a busy machine take turns; giving up would end the start. */
const firstStartPatience = { maxWait: 30_000, timeout: 30_000 };

export function createTenancyStore({ prisma, pool }: Database, signals: Signals): TenancyStore {
  return {
    isEmpty: async () => {
      const { rows } = await pool.query<{ is_empty: boolean }>('SELECT NOT EXISTS (SELECT 1 FROM tenants) AS is_empty');
      return rows[0]?.is_empty === true;
    },
    createFirst: ({ createdAt, tenant, organization, admin, membershipId, key }) =>
      prisma.$transaction(async (tx) => {
        await tx.$queryRaw`SELECT 1 FROM pg_advisory_xact_lock(${firstStartLock}::bigint)`;
        if ((await tx.tenant.findFirst({ select: { id: true } })) !== null) return false;
        const times = { createdAt, updatedAt: createdAt };
        const member = { orgId: organization.id, userId: admin.id };
        await tx.tenant.create({ data: { ...tenant, ...times } });
        await tx.organization.create({ data: { ...organization, ...times, tenantId: tenant.id } });
        await tx.user.create({ data: { ...admin, ...times, tenantId: tenant.id } });
        await tx.membership.create({ data: { ...member, id: membershipId, createdAt, role: 'ADMIN' } });
        await tx.apiKey.create({ data: { ...key, ...times, ...member, scopes: [...key.scopes], level: 'INSTANCE' } });
        return true;
      }, firstStartPatience),
    findFirstAdmin: async () => {
      const { rows } = await pool.query<{ userId: string; orgId: string; tenantId: string }>(
        `select m."userId", m."orgId", o."tenantId" from memberships m join organizations o on o.id = m."orgId"
         where m.role = 'ADMIN' order by m."createdAt", m.id limit 1`,
      );
      return rows[0];
    },
    createTenant: async (tenant) => {
      await prisma.tenant.create({ data: { ...tenant, updatedAt: tenant.createdAt } });
    },
    createOrganization: async (organization) => {
      const creation = prisma.organization.create({ data: { ...organization, updatedAt: organization.createdAt } });
      await settled(creation, 'organization');
    },
    createUser: async (user) => {
      const email = user.email.toLowerCase();
      await settled(prisma.user.create({ data: { ...user, email, updatedAt: user.createdAt } }), 'user');
      const { rows } = await pool.query<{ groupId: string }>(fillMemberships, [user.id, user.tenantId, email]);
      for (const { groupId } of rows) signals.publish('group-changed', groupId);
    },
    addMember: async (member) => {
      await settled(prisma.membership.create({ data: { ...member } }), 'membership');
      signals.publish('user-changed', member.userId);
    },
  };
}
