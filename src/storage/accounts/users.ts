import type { PoolClient } from 'pg';
import type { AdminReach } from '../../entities/accounts/access.ts';
import type { User } from '../../entities/accounts/account.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/page.ts';
import { settled } from '../database/conflicts.ts';
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';
import { afterTime } from '../database/sql/paging.ts';
import { containing } from '../database/sql/where.ts';
import { lockOrganization } from './memberships.ts';
import { purgeRows } from './purge.ts';
import { usersIn } from './reach.ts';

/** What keeps a user from being deleted. */
export interface UserHoldings {
  readonly agents: number;
  readonly dataSources: number;
  readonly groups: number;
  /** Organizations of which the user is the last administrator. */
  readonly organizations: number;
}

export interface UserStore {
  find(id: string, reach: AdminReach): Promise<User | undefined>;
  /** Newest first. `search`: in name or e-mail, whatever the case. */
  list(reach: AdminReach, of: UsersOf, page: PageRequest): Promise<Page<User>>;
  /** Whether the user is a member of other organizations than this one. */
  isMemberElsewhere(id: string, orgId: string): Promise<boolean>;
  /** Groups that name the user by e-mail follow. @throws DomainError CONFLICT when the e-mail is taken. */
  update(id: string, changes: { readonly name?: string; readonly email?: string }): Promise<User>;
  /**
   * Deletes a user with keys, memberships and editorships, unless something would be left without its owner.
   *
   * @param also  runs in the same transaction.
   * @returns what the user holds, when it was not deleted.
   */
  delete(id: string, also: (tx: PoolClient) => Promise<void>): Promise<UserHoldings | undefined>;
  /** Chats of a user that are not deleted yet. */
  chatIdsOf(id: string, limit: number): Promise<readonly string[]>;
  /** Removes whatever rows still bear the id of a user that was deleted. */
  purge(id: string, signal: AbortSignal): Promise<void>;
}
export interface UsersOf {
  readonly orgId: string | undefined;
  readonly search: string | undefined;
}

const countHoldings = `select
  (select count(*) from agents where "userId" = $1 and not "isDeleted")::int as agents,
  (select count(*) from data_sources where "ownerUserId" = $1)::int as "dataSources",
  (select count(*) from groups where "ownerUserId" = $1)::int as groups,
  (select count(*) from memberships m where m."userId" = $1 and m.role = 'ADMIN' and not exists (
    select 1 from memberships o where o."orgId" = m."orgId" and o.role = 'ADMIN' and o."userId" <> $1))::int as organizations`;

export function createUserStore({ prisma, pool, transaction }: Database, signals: Signals): UserStore {
  return {
    find: async (id, reach) => (await prisma.user.findFirst({ where: { AND: [{ id }, usersIn(reach)] } })) ?? undefined,
    async list(reach, { orgId, search }, page) {
      const ofOrganization = orgId === undefined ? {} : { memberships: { some: { orgId } } };
      const pattern = search === undefined ? undefined : containing(search).slice(1, -1);
      const contains = { contains: pattern ?? '', mode: 'insensitive' as const };
      const where = {
        AND: [usersIn(reach), ofOrganization, pattern === undefined ? {} : { OR: [{ name: contains }, { email: contains }] }],
      };
      const rows = await prisma.user.findMany({
        where: { AND: [where, afterTime(page)] },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: page.limit + 1,
      });
      return pageOf(rows, page, timeKey, () => prisma.user.count({ where }));
    },
    isMemberElsewhere: async (id, orgId) =>
      (await prisma.membership.findFirst({ where: { userId: id, orgId: { not: orgId } }, select: { id: true } })) !== null,
    async update(id, changes) {
      const email = changes.email?.toLowerCase();
      const data = { ...changes, ...(email === undefined ? {} : { email }) };
      const user = await settled(prisma.user.update({ where: { id }, data }), 'user');
      if (email !== undefined) for (const groupId of await followEmail(user)) signals.publish('group-changed', groupId);
      return user;
    },
    async delete(id, also) {
      const { rows: active } = await pool.query<{ id: string }>(
        `select id from runs where "userId" = $1 and status = 'in_progress'`,
        [id],
      );
      const held = await transaction(async (client) => {
        const memberships = await client.query<{ orgId: string }>(
          'select "orgId" from memberships where "userId" = $1 order by "orgId"',
          [id],
        );
        for (const { orgId } of memberships.rows) await lockOrganization(client, orgId);
        await client.query('select 1 from users where id = $1 for update', [id]);
        const { rows } = await client.query<UserHoldings>(countHoldings, [id]);
        const [holdings] = rows;
        if (holdings !== undefined && Object.values(holdings).some((count) => count > 0)) return holdings;
        await client.query('delete from api_keys where "userId" = $1', [id]);
        await client.query('delete from agent_editors where "userId" = $1', [id]);
        await client.query('delete from group_members where "userId" = $1', [id]);
        await client.query('delete from users where id = $1', [id]);
        await also(client);
        return undefined;
      });
      if (held === undefined) {
        signals.publish('user-changed', id);
        for (const run of active) signals.publish('run-cancel', run.id);
      }
      return held;
    },
    async chatIdsOf(id, limit) {
      const { rows } = await pool.query<{ id: string }>(
        'select id from chats where "userId" = $1 and "deletedAt" is null limit $2',
        [id, limit],
      );
      return rows.map((row) => row.id);
    },
    purge: (id, signal) => purgeRows(pool, 'userId', id, signal),
  };

  /** Entries of the user bear the new e-mail; those that waited for it become the user's. @returns the groups that changed. */
  async function followEmail({ id, tenantId, email }: User): Promise<readonly string[]> {
    return transaction(async (client) => {
      const waiting = await client.query<{ groupId: string }>(
        `update group_members m set "userId" = $1, "updatedAt" = now()
         from groups g join organizations o on o.id = g."orgId"
         where g.id = m."groupId" and o."tenantId" = $2 and m.email = $3 and m."userId" is null
         returning m."groupId"`,
        [id, tenantId, email],
      );
      // Where both the old and the new e-mail stood, the new one stays.
      await client.query(
        `delete from group_members m where m."userId" = $1 and m.email <> $2
           and exists (select 1 from group_members n where n."groupId" = m."groupId" and n.email = $2)`,
        [id, email],
      );
      const moved = await client.query<{ groupId: string }>(
        'update group_members set email = $2, "updatedAt" = now() where "userId" = $1 and email <> $2 returning "groupId"',
        [id, email],
      );
      return [...waiting.rows, ...moved.rows].map(({ groupId }) => groupId);
    });
  }
}
