import { DomainError } from '../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../entities/ground/page.ts';
import type { Tenant } from '../../entities/people/account.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { adminReach } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';
import { missing, nameLengthMax } from './administration.ts';

/** @throws DomainError FORBIDDEN for all keys except INSTANCE keys, NOT_FOUND. */
export async function getTenant(deps: Deps, caller: Caller, id: string): Promise<Tenant> {
  requireInstance(caller);
  const tenant = await deps.storage.people.tenants.find(id, adminReach(caller));
  if (tenant === undefined) throw missing('tenant', 'tenantId');
  return tenant;
}

/** The tenants among `ids`, in any order; none for keys other than INSTANCE keys. */
export async function getTenants(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Tenant[]> {
  return caller.level === 'INSTANCE' ? deps.storage.people.tenants.findMany(ids, adminReach(caller)) : [];
}

/** Newest first. @throws DomainError FORBIDDEN for all keys except INSTANCE keys. */
export async function listTenants(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<Tenant>> {
  requireInstance(caller);
  return deps.storage.people.tenants.list(adminReach(caller), page);
}

/** @throws DomainError FORBIDDEN for all keys except INSTANCE keys, INVALID_VALUE. */
export async function createTenant(deps: Deps, caller: Caller, input: { readonly name: string }): Promise<Tenant> {
  requireInstance(caller);
  const id = deps.newId('tenant');
  const tenant = { id, name: readName(input.name), createdAt: deps.now() };
  await deps.audit.change(caller, async () => {
    await deps.storage.people.tenancy.createTenant(tenant);
    return { id };
  });
  return getTenant(deps, caller, id);
}

/** Absent and null members are kept. @throws DomainError like `getTenant`, INVALID_VALUE. */
export async function updateTenant(
  deps: Deps,
  caller: Caller,
  id: string,
  input: { readonly name?: string | null | undefined },
): Promise<Tenant> {
  const tenant = await getTenant(deps, caller, id);
  const name = readName(input.name ?? tenant.name);
  return deps.audit.change(caller, () => deps.storage.people.tenants.rename(id, name));
}

/** Deletes a tenant and its users. @throws DomainError like `getTenant`, CONFLICT while it has organizations. */
export async function deleteTenant(deps: Deps, caller: Caller, id: string): Promise<Tenant> {
  const tenant = await getTenant(deps, caller, id);
  return deps.audit.change(caller, async () => {
    const result = await deps.storage.people.tenants.delete(id);
    if (result === 'in-use') throw new DomainError('CONFLICT', 'The tenant has organizations; delete those first');
    if (result === 'missing') throw missing('tenant', 'tenantId');
    return tenant;
  });
}

function requireInstance(caller: Caller): void {
  if (caller.level !== 'INSTANCE') throw new DomainError('FORBIDDEN', 'Tenants need a key of level INSTANCE');
}

function readName(name: string): string {
  const faults = new Faults();
  faults.requireName('name', name, nameLengthMax);
  faults.throwIfAny();
  return name.trim();
}
