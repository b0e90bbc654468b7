import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/ground/page.ts';
import type { AdminReach } from '../../entities/people/access.ts';
import type { Organization } from '../../entities/people/account.ts';
import { settled } from '../ground/conflicts.ts';
import type { Database, Transaction } from '../ground/database.ts';
import { newestFirst } from '../ground/lists/paging.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { lockRow } from '../ground/sql/locks.ts';
import { purgeRows } from './purge.ts';
import { organizationsIn } from './reach.ts';

export type OrganizationChanges = Partial<Pick<Organization, 'name' | 'dataUsageTokenLimit' | 'apiUsageTokenLimit'>>;

/** Why an organization cannot be deleted: what it still holds. */
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
   * Deletes an organization with its members, keys and groups, unless it holds agents or data sources. `purge` deletes its other rows later: nobody
   * can reach them any more.
   *
   * @param also  runs in the same transaction.
   * @returns what it holds, when it was not deleted.
   */
  delete(id: string, also: (tx: Transaction) => Promise<void>): Promise<Holdings | undefined>;
  /** Removes all rows that still have the id of a deleted organization. */
  purge(id: string, signal: AbortSignal): Promise<void>;
}

export function createOrganizationStore(db: Database, signals: Signals): OrganizationStore {
  return {
    async find(id, reach) {
      const row = await db.prisma.organization.findFirst({ where: { AND: [{ id }, organizationsIn(reach)] } });
      return row === null ? undefined : organizationOf(row);
    },
    async list(reach, tenantId, page) {
      const where = { AND: [organizationsIn(reach), tenantId === undefined ? {} : { tenantId }] };
      const rows = await db.prisma.organization.findMany(newestFirst(where, page));
      return pageOf(rows.map(organizationOf), page, timeKey, (take) => db.prisma.organization.count({ where, take }));
    },
    async update(id, changes) {
      const row = await settled(db.prisma.organization.update({ where: { id }, data: changes }), 'organization');
      signals.publish('organization-changed', id);
      return organizationOf(row);
    },
    async delete(id, also) {
      const where = { orgId: id };
      const active = await db.prisma.run.findMany({ where: { ...where, status: 'in_progress' }, select: { id: true } });
      const held = await db.transaction(async (tx) => {
        await lockRow(tx, 'organizations', id);
        const { agent, dataSource, apiKey, group, organization } = tx.prisma;
        const agents = await agent.count({ where: { ...where, isDeleted: false } });
        const dataSources = await dataSource.count({ where });
        if (agents + dataSources > 0) return { agents, dataSources };
        await apiKey.deleteMany({ where });
        await group.deleteMany({ where });
        await organization.deleteMany({ where: { id } });
        await also(tx);
        return undefined;
      });
      if (held === undefined) {
        signals.publish('organization-changed', id);
        for (const run of active) signals.publish('run-cancel', run.id);
      }
      return held;
    },
    purge: (id, signal) => purgeRows(db, 'orgId', id, signal),
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
