import { type Page, type PageRequest, timeKey, toPage } from '../../entities/ground/page.ts';
import type { AdminReach } from '../../entities/people/access.ts';
import type { Tenant } from '../../entities/people/account.ts';
import { settled } from '../ground/conflicts.ts';
import { newestFirst } from '../ground/lists/paging.ts';
import { lockRow } from '../ground/sql/locks.ts';
import { Store } from '../ground/store.ts';
import { tenantsIn } from './reach.ts';

export class TenantStore extends Store {
  async find(id: string, reach: AdminReach): Promise<Tenant | undefined> {
    return (await this.db.prisma.tenant.findFirst({ where: { AND: [{ id }, tenantsIn(reach)] } })) ?? undefined;
  }

  findMany(ids: readonly string[], reach: AdminReach): Promise<readonly Tenant[]> {
    return this.db.prisma.tenant.findMany({ where: { AND: [{ id: { in: [...ids] } }, tenantsIn(reach)] } });
  }

  /** Newest first. */
  async list(reach: AdminReach, page: PageRequest): Promise<Page<Tenant>> {
    const where = tenantsIn(reach);
    const rows = await this.db.prisma.tenant.findMany(newestFirst(where, page));
    return toPage(rows, page, timeKey, (take) => this.db.prisma.tenant.count({ where, take }));
  }

  rename(id: string, name: string): Promise<Tenant> {
    return settled(this.db.prisma.tenant.update({ where: { id }, data: { name } }), 'tenant');
  }

  /** Deletes a tenant with its users, unless it has organizations. */
  delete(id: string): Promise<'deleted' | 'missing' | 'in-use'> {
    return this.db.transaction(async (tx) => {
      // The lock prevents new organizations meanwhile: their foreign key locks the row too.
      await lockRow(tx, 'tenants', id);
      if ((await tx.prisma.organization.findFirst({ where: { tenantId: id }, select: { id: true } })) !== null) return 'in-use';
      const { count } = await tx.prisma.tenant.deleteMany({ where: { id } });
      return count === 0 ? 'missing' : 'deleted';
    });
  }
}
