import type { PoolClient } from 'pg';
import type { AdminReach } from '../../entities/accounts/access.ts';
import type { Membership } from '../../entities/accounts/account.ts';
import type { MemberRole } from '../../entities/accounts/caller.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/page.ts';
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';
import { afterTime } from '../database/sql/paging.ts';
import { membershipsIn } from './reach.ts';

/** `last-admin`: nothing was changed, because the organization would be left without an administrator. */
export type MembershipChange = 'changed' | 'missing' | 'last-admin';

export interface MembershipStore {
  find(id: string, reach: AdminReach): Promise<Membership | undefined>;
  /** Newest first. */
  list(reach: AdminReach, of: MembershipsOf, page: PageRequest): Promise<Page<Membership>>;
  setRole(id: string, role: MemberRole): Promise<MembershipChange>;
  delete(id: string): Promise<MembershipChange>;
}
export interface MembershipsOf {
  readonly orgId: string | undefined;
  readonly userId: string | undefined;
}

export function createMembershipStore({ prisma, transaction }: Database, signals: Signals): MembershipStore {
  async function change(id: string, isLoss: boolean, statement: string, values: readonly unknown[]): Promise<MembershipChange> {
    const found = await prisma.membership.findUnique({ where: { id } });
    if (found === null) return 'missing';
    const result = await transaction(async (client): Promise<MembershipChange> => {
      await lockOrganization(client, found.orgId);
      const { rows } = await client.query<{ role: string }>('select role from memberships where id = $1', [id]);
      if (rows[0] === undefined) return 'missing';
      if (isLoss && rows[0].role === 'ADMIN' && (await countAdmins(client, found.orgId)) === 1) return 'last-admin';
      await client.query(statement, [id, ...values]);
      return 'changed';
    });
    if (result === 'changed') signals.publish('user-changed', found.userId);
    return result;
  }

  return {
    async find(id, reach) {
      const row = await prisma.membership.findFirst({ where: { AND: [{ id }, membershipsIn(reach)] } });
      return row === null ? undefined : membershipOf(row);
    },
    async list(reach, { orgId, userId }, page) {
      const named = { ...(orgId === undefined ? {} : { orgId }), ...(userId === undefined ? {} : { userId }) };
      const where = { AND: [membershipsIn(reach), named] };
      const rows = await prisma.membership.findMany({
        where: { AND: [where, afterTime(page)] },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: page.limit + 1,
      });
      return pageOf(rows.map(membershipOf), page, timeKey, () => prisma.membership.count({ where }));
    },
    setRole: (id, role) => change(id, role !== 'ADMIN', 'update memberships set role = $2 where id = $1', [role]),
    delete: (id) => change(id, true, 'delete from memberships where id = $1', []),
  };
}

/** Those who change the administrators of an organization take turns. */
export async function lockOrganization(client: PoolClient, orgId: string): Promise<void> {
  await client.query('select 1 from organizations where id = $1 for update', [orgId]);
}

async function countAdmins(client: PoolClient, orgId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from memberships where "orgId" = $1 and role = 'ADMIN'`,
    [orgId],
  );
  return rows[0]?.count ?? 0;
}

export function membershipOf(row: Omit<Membership, 'role'> & { readonly role: string }): Membership {
  return { ...row, role: row.role as MemberRole };
}
