import type { PoolClient } from 'pg';
import type { AdminReach } from '../../entities/accounts/access.ts';
import type { Organization } from '../../entities/accounts/account.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/page.ts';
import { settled } from '../database/conflicts.ts';
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';
import { afterTime } from '../database/sql/paging.ts';
import { purgeRows } from './purge.ts';
import { organizationsIn } from './reach.ts';

export type OrganizationChanges = Partial<Pick<Organization, 'name' | 'dataUsageTokenLimit' | 'apiUsageTokenLimit'>>;

/** What keeps an organization from being deleted. */
export interface Holdings {
  readonly agents: number;
  readonly dataSources: number;
}

export interface OrganizationStore {
  find(id: string, reach: AdminReach): Promise<Organization | undefined>;
  /** Newest first. */
  list(reach: AdminReach, tenantId: string | undefined, page: PageRequest): Promise<Page<Organization>>;
  update(id: string, changes: OrganizationChanges): Promise<Organization>;
  /**
   * Deletes an organization with its members, keys and groups, unless it holds agents or data sources. What else bears its id is left to
   * `purge`: nobody can reach it any more.
   *
   * @param also  runs in the same transaction.
   * @returns what it holds, when it was not deleted.
   */
  delete(id: string, also: (tx: PoolClient) => Promise<void>): Promise<Holdings | undefined>;
  /** Removes whatever rows still bear the id of an organization that was deleted. */
  purge(id: string, signal: AbortSignal): Promise<void>;
}

export function createOrganizationStore({ prisma, pool, transaction }: Database, signals: Signals): OrganizationStore {
  return {
    async find(id, reach) {
      const row = await prisma.organization.findFirst({ where: { AND: [{ id }, organizationsIn(reach)] } });
      return row === null ? undefined : organizationOf(row);
    },
    async list(reach, tenantId, page) {
      const where = { AND: [organizationsIn(reach), tenantId === undefined ? {} : { tenantId }] };
      const rows = await prisma.organization.findMany({
        where: { AND: [where, afterTime(page)] },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: page.limit + 1,
      });
      return pageOf(rows.map(organizationOf), page, timeKey, () => prisma.organization.count({ where }));
    },
    async update(id, changes) {
      const row = await settled(prisma.organization.update({ where: { id }, data: changes }), 'organization');
      signals.publish('organization-changed', id);
      return organizationOf(row);
    },
    async delete(id, also) {
      const { rows: active } = await pool.query<{ id: string }>(
        `select id from runs where "orgId" = $1 and status = 'in_progress'`,
        [id],
      );
      const held = await transaction(async (client) => {
        await client.query('select 1 from organizations where id = $1 for update', [id]);
        const { rows } = await client.query<Holdings>(
          `select (select count(*) from agents where "orgId" = $1 and not "isDeleted")::int as agents,
             (select count(*) from data_sources where "orgId" = $1)::int as "dataSources"`,
          [id],
        );
        const [holdings] = rows;
        if (holdings !== undefined && holdings.agents + holdings.dataSources > 0) return holdings;
        await client.query('delete from api_keys where "orgId" = $1', [id]);
        await client.query('delete from groups where "orgId" = $1', [id]);
        await client.query('delete from organizations where id = $1', [id]);
        await also(client);
        return undefined;
      });
      if (held === undefined) {
        signals.publish('organization-changed', id);
        for (const run of active) signals.publish('run-cancel', run.id);
      }
      return held;
    },
    purge: (id, signal) => purgeRows(pool, 'orgId', id, signal),
  };
}

type OrganizationRow = Omit<Organization, 'dataUsageTokenLimit' | 'apiUsageTokenLimit'> & {
  readonly dataUsageTokenLimit: bigint | null;
  readonly apiUsageTokenLimit: bigint | null;
};

export function organizationOf(row: OrganizationRow): Organization {
  const { dataUsageTokenLimit, apiUsageTokenLimit } = row;
  return { ...row, dataUsageTokenLimit: toNumber(dataUsageTokenLimit), apiUsageTokenLimit: toNumber(apiUsageTokenLimit) };
}

function toNumber(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}
