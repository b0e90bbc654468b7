import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/ground/page.ts';
import type { AdminReach } from '../../entities/people/access.ts';
import type { Tenant } from '../../entities/people/account.ts';
import { settled } from '../ground/conflicts.ts';
import type { Database } from '../ground/database.ts';
import { newestFirst } from '../ground/lists/paging.ts';
import { lockRow } from '../ground/sql/locks.ts';
import { tenantsIn } from './reach.ts';

export interface TenantStore {
  find(id: string, reach: AdminReach): Promise<Tenant | undefined>;
  findMany(ids: readonly string[], reach: AdminReach): Promise<readonly Tenant[]>;
  /** Newest first. */
  list(reach: AdminReach, page: PageRequest): Promise<Page<Tenant>>;
  rename(id: string, name: string): Promise<Tenant>;
  /** Deletes a tenant with its users. @returns false while it has organizations. */
  delete(id: string): Promise<boolean>;
}

export function createTenantStore(db: Database): TenantStore {
  return {
    find: async (id, reach) => (await db.prisma.tenant.findFirst({ where: { AND: [{ id }, tenantsIn(reach)] } })) ?? undefined,
    findMany: (ids, reach) => db.prisma.tenant.findMany({ where: { AND: [{ id: { in: [...ids] } }, tenantsIn(reach)] } }),
    async list(reach, page) {
      const where = tenantsIn(reach);
      const rows = await db.prisma.tenant.findMany(newestFirst(where, page));
      return pageOf(rows, page, timeKey, (take) => db.prisma.tenant.count({ where, take }));
    },
    rename: (id, name) => settled(db.prisma.tenant.update({ where: { id }, data: { name } }), 'tenant'),
    delete: (id) =>
      db.transaction(async (tx) => {
        // The lock prevents new organizations meanwhile: their foreign key locks the row too.
        await lockRow(tx, 'tenants', id);
        if ((await tx.prisma.organization.findFirst({ where: { tenantId: id }, select: { id: true } })) !== null) return false;
        await tx.prisma.tenant.deleteMany({ where: { id } });
        return true;
      }),
  };
}
