import type { AdminReach } from '../../entities/accounts/access.ts';
import type { Tenant } from '../../entities/accounts/account.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/page.ts';
import { settled } from '../database/conflicts.ts';
import type { Database } from '../database/database.ts';
import { afterTime } from '../database/sql/paging.ts';
import { tenantsIn } from './reach.ts';

export interface TenantStore {
  find(id: string, reach: AdminReach): Promise<Tenant | undefined>;
  /** Newest first. */
  list(reach: AdminReach, page: PageRequest): Promise<Page<Tenant>>;
  rename(id: string, name: string): Promise<Tenant>;
  /** With its users. @returns false while it has organizations. */
  delete(id: string): Promise<boolean>;
}

export function createTenantStore({ prisma, transaction }: Database): TenantStore {
  return {
    find: async (id, reach) => (await prisma.tenant.findFirst({ where: { AND: [{ id }, tenantsIn(reach)] } })) ?? undefined,
    async list(reach, page) {
      const where = tenantsIn(reach);
      const rows = await prisma.tenant.findMany({
        where: { AND: [where, afterTime(page)] },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: page.limit + 1,
      });
      return pageOf(rows, page, timeKey, () => prisma.tenant.count({ where }));
    },
    rename: (id, name) => settled(prisma.tenant.update({ where: { id }, data: { name } }), 'tenant'),
    delete: (id) =>
      transaction(async (client) => {
        // The lock keeps organizations from being added meanwhile: their foreign key asks for the row too.
        await client.query('select 1 from tenants where id = $1 for update', [id]);
        const { rows } = await client.query('select 1 from organizations where "tenantId" = $1 limit 1', [id]);
        if (rows.length > 0) return false;
        await client.query('delete from tenants where id = $1', [id]);
        return true;
      }),
  };
}
