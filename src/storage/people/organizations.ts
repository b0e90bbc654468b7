import { type Page, type PageRequest, timeKey, toPage } from '../../entities/ground/page.ts';
import type { AdminReach } from '../../entities/people/access.ts';
import type { Organization } from '../../entities/people/account.ts';
import { settled } from '../ground/conflicts.ts';
import type { Transaction } from '../ground/database.ts';
import { newestFirst } from '../ground/lists/paging.ts';
import { lockRow } from '../ground/sql/locks.ts';
import { PublishingStore } from '../ground/store.ts';
import { purgeRows } from './purge.ts';
import { organizationsIn } from './reach.ts';

export type OrganizationChanges = Partial<Pick<Organization, 'name' | 'dataUsageTokenLimit' | 'apiUsageTokenLimit' | 'timeZone'>>;

/** Why an organization cannot be deleted: what it still holds. */
export interface Holdings {
  readonly agents: number;
  readonly dataSources: number;
}

export class OrganizationStore extends PublishingStore {
  async find(id: string, reach: AdminReach): Promise<Organization | undefined> {
    const row = await this.db.prisma.organization.findFirst({ where: { AND: [{ id }, organizationsIn(reach)] } });
    return row === null ? undefined : toOrganization(row);
  }

  /** Newest first. */
  async list(reach: AdminReach, tenantId: string | undefined, page: PageRequest): Promise<Page<Organization>> {
    const where = { AND: [organizationsIn(reach), tenantId === undefined ? {} : { tenantId }] };
    const rows = await this.db.prisma.organization.findMany(newestFirst(where, page));
    return toPage(rows.map(toOrganization), page, timeKey, (take) => this.db.prisma.organization.count({ where, take }));
  }

  async update(id: string, changes: OrganizationChanges): Promise<Organization> {
    const row = await settled(this.db.prisma.organization.update({ where: { id }, data: changes }), 'organization');
    this.signals.publish('organization-changed', id);
    return toOrganization(row);
  }

  /** What keeps an organization from being deleted; undefined: nothing. */
  findHoldings(id: string): Promise<Holdings | undefined> {
    return countHoldings(this.db, id);
  }

  /**
   * Deletes an organization with its members, keys and groups, unless it holds agents or data sources. `purge` deletes its other rows later: nobody
   * can reach them any more.
   *
   * @param also  runs in the same transaction.
   * @returns what it holds, when it was not deleted; 'missing' when it was not there.
   */
  async delete(id: string, also: (tx: Transaction) => Promise<void>): Promise<Holdings | 'missing' | undefined> {
    const where = { orgId: id };
    const active = await this.db.prisma.run.findMany({ where: { ...where, status: 'in_progress' }, select: { id: true } });
    const held = await this.db.transaction(async (tx) => {
      await lockRow(tx, 'organizations', id);
      const { apiKey, group, organization } = tx.prisma;
      const holdings = await countHoldings(tx, id);
      if (holdings !== undefined) return holdings;
      await apiKey.deleteMany({ where });
      await group.deleteMany({ where });
      const { count } = await organization.deleteMany({ where: { id } });
      if (count === 0) return 'missing';
      await also(tx);
      return undefined;
    });
    if (held === undefined) {
      this.signals.publish('organization-changed', id);
      for (const run of active) this.signals.publish('run-cancel', run.id);
    }
    return held;
  }

  /** Removes all rows that still have the id of a deleted organization. */
  purge(id: string, signal: AbortSignal): Promise<void> {
    return purgeRows(this.db, 'orgId', id, signal);
  }
}

async function countHoldings({ prisma }: Pick<Transaction, 'prisma'>, orgId: string): Promise<Holdings | undefined> {
  const agents = await prisma.agent.count({ where: { orgId, isDeleted: false } });
  const dataSources = await prisma.dataSource.count({ where: { orgId } });
  return agents + dataSources > 0 ? { agents, dataSources } : undefined;
}

type OrganizationRow = Omit<Organization, 'dataUsageTokenLimit' | 'apiUsageTokenLimit'> & {
  readonly dataUsageTokenLimit: bigint | null;
  readonly apiUsageTokenLimit: bigint | null;
};

export function toOrganization(row: OrganizationRow): Organization {
  const { dataUsageTokenLimit, apiUsageTokenLimit } = row;
  return { ...row, dataUsageTokenLimit: toNumber(dataUsageTokenLimit), apiUsageTokenLimit: toNumber(apiUsageTokenLimit) };
}

function toNumber(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}
