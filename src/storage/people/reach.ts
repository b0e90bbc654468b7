import type { AccountSight, AdminReach } from '../../entities/people/access.ts';

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

/** People without a membership whom an identity provider or an administrator has deactivated. */
export function deactivatedIn(reach: AdminReach) {
  const ofOrganization = reach.reach === 'organization' ? { orgId: reach.orgId } : {};
  const deactivatedUsers = { scimUsers: { some: { isActive: false, ...ofOrganization } } };
  return reach.reach === 'tenant' ? { ...deactivatedUsers, tenantId: reach.tenantId } : deactivatedUsers;
}

export function membershipsIn(reach: AdminReach) {
  if (reach.reach === 'instance') return {};
  return reach.reach === 'tenant' ? { organization: { tenantId: reach.tenantId } } : { orgId: reach.orgId };
}

/** Which users and organizations a caller may read by their ids. */
export function usersInSight({ orgId, reach }: AccountSight) {
  const colleagues = { memberships: { some: { orgId } } };
  return reach === undefined ? colleagues : joinEither(colleagues, usersIn(reach));
}

export function organizationsInSight({ orgId, reach }: AccountSight) {
  return reach === undefined ? { id: orgId } : joinEither({ id: orgId }, organizationsIn(reach));
}

/** Prisma leaves an empty condition out of an OR, where it would match everything. */
function joinEither<A extends object, B extends object>(one: A, other: B) {
  return Object.keys(other).length === 0 ? other : { OR: [one, other] };
}
