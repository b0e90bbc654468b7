import type { AdminReach } from '../../entities/accounts/access.ts';

/** Which tenants, organizations and users an administrator may see, as where clauses of each table. */
export function tenantsIn(reach: AdminReach) {
  if (reach.reach === 'instance') return {};
  return { id: reach.reach === 'tenant' ? reach.tenantId : '' };
}

export function organizationsIn(reach: AdminReach) {
  if (reach.reach === 'instance') return {};
  return reach.reach === 'tenant' ? { tenantId: reach.tenantId } : { id: reach.orgId };
}

export function usersIn(reach: AdminReach) {
  if (reach.reach === 'instance') return {};
  return reach.reach === 'tenant' ? { tenantId: reach.tenantId } : { memberships: { some: { orgId: reach.orgId } } };
}

export function membershipsIn(reach: AdminReach) {
  if (reach.reach === 'instance') return {};
  return reach.reach === 'tenant' ? { organization: { tenantId: reach.tenantId } } : { orgId: reach.orgId };
}
