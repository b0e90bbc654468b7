import { DomainError } from '../../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { AuditEntry, AuditFilter } from '../../../entities/operations/audit.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { administeredAmong, administeredOrganization } from '../../people/administration.ts';

/**
 * Audit entries of an organization, newest first, for its administrators: changes, reads by administrators, refusals.
 *
 * @throws DomainError FORBIDDEN when the caller administers nothing, NOT_FOUND for an organization out of reach.
 */
export async function listAuditEntries(
  deps: Deps,
  caller: Caller,
  { orgId, ...filter }: Omit<AuditFilter, 'orgId'> & { readonly orgId?: string | undefined },
  page: PageRequest,
): Promise<Page<AuditEntry>> {
  const { from, to } = filter;
  if (from !== undefined && to !== undefined && from >= to) {
    throw new DomainError('INVALID_VALUE', 'to must be later than from', { param: 'to' });
  }
  // The entries of a deleted organization can be read by INSTANCE keys.
  const isAbove = caller.level === 'INSTANCE' && orgId !== undefined;
  const { id } = isAbove ? { id: orgId } : await administeredOrganization(deps, caller, orgId);
  return deps.storage.operations.auditEntries.list({ ...filter, orgId: id }, page);
}

/** The entries among `ids` of organizations that the caller administers, in any order. */
export async function getAuditEntries(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly AuditEntry[]> {
  const entries = await deps.storage.operations.auditEntries.findMany(ids);
  const administeredIds = await administeredAmong(
    deps,
    caller,
    entries.map(({ orgId }) => orgId),
  );
  return entries.filter(({ orgId }) => administeredIds.has(orgId));
}

/**
 * What the targets of entries of an organization are called now, in the order of their ids; null for what is gone, for what has no name, and for
 * people's own things such as chats. The caller administers the organization: it was shown the entries.
 */
export async function namesOfTargets(
  { storage }: Deps,
  ids: readonly string[],
  orgId: string,
): Promise<readonly (string | null)[]> {
  const names = await storage.operations.auditEntries.namesOf(orgId, ids);
  return ids.map((id) => names.get(id) ?? null);
}
