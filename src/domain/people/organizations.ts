import { DomainError } from '../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../entities/ground/page.ts';
import type { Organization } from '../../entities/people/account.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Transaction } from '../../storage/ground/database.ts';
import type { Holdings, OrganizationChanges } from '../../storage/people/organizations.ts';
import type { Deps } from '../deps.ts';
import { adminReach } from '../ground/access/access.ts';
import { refuseHeld } from '../ground/access/kept-by-hold.ts';
import { Faults } from '../ground/faults.ts';
import { giveBackTokensOf } from '../ground/given-back-tokens.ts';
import {
  administeredOrganization,
  missing,
  nameLengthMax,
  requireAboveOrganizations,
  requireNoKeyAbove,
} from './administration.ts';

export interface CreateOrganizationInput {
  readonly name: string;
  /** Default: the caller's. */
  readonly tenantId?: string | null | undefined;
  readonly dataUsageTokenLimit?: number | null | undefined;
  readonly apiUsageTokenLimit?: number | null | undefined;
}
/** Absent members are kept; null removes a limit. */
export interface UpdateOrganizationInput {
  readonly name?: string | null | undefined;
  readonly dataUsageTokenLimit?: number | null | undefined;
  readonly apiUsageTokenLimit?: number | null | undefined;
}

/** @throws DomainError FORBIDDEN when the caller administers nothing, NOT_FOUND for an organization out of reach. */
export function getOrganization(deps: Deps, caller: Caller, id: string): Promise<Organization> {
  return administeredOrganization(deps, caller, id);
}

/** Organizations within the caller's administration, newest first. @throws DomainError FORBIDDEN. */
export async function listOrganizations(
  deps: Deps,
  caller: Caller,
  tenantId: string | undefined,
  page: PageRequest,
): Promise<Page<Organization>> {
  return deps.storage.people.organizations.list(adminReach(caller), tenantId, page);
}

/** @throws DomainError FORBIDDEN for all keys except TENANT and INSTANCE keys, NOT_FOUND for a tenant out of reach, INVALID_VALUE. */
export async function createOrganization(deps: Deps, caller: Caller, input: CreateOrganizationInput): Promise<Organization> {
  requireAboveOrganizations(caller);
  const { name, dataUsageTokenLimit = null, apiUsageTokenLimit = null } = input;
  const changes = readChanges({ name, dataUsageTokenLimit, apiUsageTokenLimit });
  const tenantId = input.tenantId ?? caller.tenantId;
  if ((await deps.storage.people.tenants.find(tenantId, adminReach(caller))) === undefined) throw missing('tenant', 'tenantId');
  const id = deps.newId('organization');
  await deps.audit.change(caller, async () => {
    await deps.storage.people.tenancy.createOrganization({ ...changes, id, tenantId, name: name.trim(), createdAt: deps.now() });
    return { id };
  });
  return getOrganization(deps, caller, id);
}

/** Renames an organization, or sets its limits, which apply to every later call. @throws DomainError like `createOrganization`. */
export async function updateOrganization(
  deps: Deps,
  caller: Caller,
  id: string,
  input: UpdateOrganizationInput,
): Promise<Organization> {
  await getOrganization(deps, caller, id);
  requireAboveOrganizations(caller);
  return deps.audit.change(caller, () => deps.storage.people.organizations.update(id, readChanges(input)));
}

/**
 * Deletes an organization: its members, keys and groups at once, its chats and usage in the background.
 *
 * @returns the former organization.
 * @throws DomainError FORBIDDEN for all keys except TENANT and INSTANCE keys, and when it has a key above the caller's level;
 * NOT_FOUND; CONFLICT while it has agents or data sources, and for the organization of the calling key.
 */
export async function deleteOrganization(deps: Deps, caller: Caller, id: string): Promise<Organization> {
  const organization = await getOrganization(deps, caller, id);
  requireAboveOrganizations(caller);
  if (id === caller.orgId) throw new DomainError('CONFLICT', 'This key acts in the organization; use one of another');
  await requireNoKeyAbove(deps, caller, { orgId: id });
  // Said before what else stands in the way: settling that would be in vain.
  refuseHeld(await deps.storage.legalHolds.ofOrganization(id));
  const { organizations } = deps.storage.people;
  requireEmpty(await organizations.findHoldings(id));
  await giveBackTokensOf(deps, id);
  return deps.audit.change(caller, async () => {
    const purge = (tx: Transaction) =>
      deps.jobs.enqueue('accounts.purge-organization', { orgId: id }, { owner: caller, key: id, tx });
    const result = await organizations.delete(id, purge);
    if (result === 'missing') throw missing('organization', 'orgId');
    requireEmpty(result);
    return organization;
  });
}

function requireEmpty(holdings: Holdings | undefined): void {
  if (holdings === undefined) return;
  const what = `${holdings.agents} agents and ${holdings.dataSources} data sources`;
  throw new DomainError('CONFLICT', `The organization has ${what}; delete those first`);
}

function readChanges({ name, dataUsageTokenLimit, apiUsageTokenLimit }: UpdateOrganizationInput): OrganizationChanges {
  const faults = new Faults();
  const isNamed = name !== undefined && name !== null;
  if (isNamed) faults.requireName('name', name, nameLengthMax);
  faults.throwIfAny();
  return {
    ...(isNamed ? { name: name.trim() } : {}),
    ...(dataUsageTokenLimit === undefined ? {} : { dataUsageTokenLimit }),
    ...(apiUsageTokenLimit === undefined ? {} : { apiUsageTokenLimit }),
  };
}
