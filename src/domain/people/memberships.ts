import { DomainError } from '../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../entities/ground/page.ts';
import type { Membership } from '../../entities/people/account.ts';
import type { Caller, MemberRole } from '../../entities/people/caller.ts';
import type { MembershipChange } from '../../storage/people/memberships.ts';
import type { Deps } from '../deps.ts';
import { adminReach, adminReachIfAny } from '../ground/access/access.ts';
import { giveBackLater } from '../ground/given-back-tokens.ts';
import { administeredOrganization, lastAdmin, missing, requireNoKeyAbove, requireNoOperator } from './administration.ts';
import { getUser } from './users.ts';

export interface CreateMembershipInput {
  readonly userId: string;
  /** Default: the caller's. */
  readonly orgId?: string | null | undefined;
  /** Default MEMBER. */
  readonly role?: MemberRole | null | undefined;
}

/** @throws DomainError FORBIDDEN when the caller administers nothing, NOT_FOUND for a membership out of reach. */
export async function getMembership(deps: Deps, caller: Caller, id: string): Promise<Membership> {
  const membership = await deps.storage.people.memberships.find(id, adminReach(caller));
  if (membership === undefined) throw missing('membership', 'membershipId');
  return membership;
}

/** The memberships among `ids` that the caller administers, in any order. */
export async function getMemberships(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Membership[]> {
  const reach = adminReachIfAny(caller);
  return reach === undefined ? [] : deps.storage.people.memberships.findMany(ids, reach);
}

/**
 * The same page of the memberships of each of several users or organizations, in the order of the ids, newest first: those within the caller's
 * administration. Null for what the caller does not administer.
 */
export async function loadMembershipPages(
  deps: Deps,
  caller: Caller,
  owner: 'user' | 'organization',
  ids: readonly string[],
  page: PageRequest,
): Promise<readonly (Page<Membership> | null)[]> {
  const reach = adminReachIfAny(caller);
  if (reach === undefined) return ids.map(() => null);
  const pages = await deps.storage.people.memberships.pagesOf(owner, ids, reach, page);
  return ids.map((id) => pages.get(id) ?? null);
}

/** Memberships within the caller's administration, newest first. @throws DomainError FORBIDDEN. */
export async function listMemberships(
  deps: Deps,
  caller: Caller,
  filter: { readonly orgId?: string | null | undefined; readonly userId?: string | null | undefined },
  page: PageRequest,
): Promise<Page<Membership>> {
  const scopeIds = { orgId: filter.orgId ?? undefined, userId: filter.userId ?? undefined };
  return deps.storage.people.memberships.list(adminReach(caller), scopeIds, page);
}

/**
 * Makes a user whom the caller administers a member of another organization of the same tenant.
 *
 * @throws DomainError FORBIDDEN; NOT_FOUND for an organization or user out of reach or of another tenant; CONFLICT for a member.
 */
export async function createMembership(deps: Deps, caller: Caller, input: CreateMembershipInput): Promise<Membership> {
  const organization = await administeredOrganization(deps, caller, input.orgId);
  const user = await getUser(deps, caller, input.userId);
  if (user.tenantId !== organization.tenantId) throw missing('user', 'userId');
  if ((await deps.storage.people.accounts.findRole(organization.id, user.id)) !== undefined) {
    throw new DomainError('CONFLICT', 'The user is a member of the organization', { param: 'userId' });
  }
  const membership = {
    id: deps.newId('membership'),
    orgId: organization.id,
    userId: user.id,
    role: input.role ?? 'MEMBER',
    createdAt: deps.now(),
  } as const;
  return deps.audit.change(caller, async () => {
    await deps.storage.people.tenancy.addMember(membership);
    return membership;
  });
}

/** The user's keys get the new role within a second. @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT for the last administrator. */
export async function updateMembership(
  deps: Deps,
  caller: Caller,
  id: string,
  { role }: { readonly role: MemberRole },
): Promise<Membership> {
  const membership = await getMembership(deps, caller, id);
  await requireNoOperator(deps, caller, membership.userId, 'gets another role');
  return deps.audit.change(caller, async () => {
    requireChanged(await deps.storage.people.memberships.setRole(id, role));
    return { ...membership, role };
  });
}

/**
 * Ends a membership: the user's keys of the organization stop within a second, open streams within five. What the user made stays.
 *
 * @returns the former membership.
 * @throws DomainError NOT_FOUND; FORBIDDEN, also when it would revoke a key above the caller's level; CONFLICT for the last administrator.
 */
export async function deleteMembership(deps: Deps, caller: Caller, id: string): Promise<Membership> {
  const membership = await getMembership(deps, caller, id);
  await requireNoKeyAbove(deps, caller, { orgId: membership.orgId, userId: membership.userId });
  return deps.audit.change(caller, async () => {
    requireChanged(await deps.storage.people.memberships.delete(id, (tx) => giveBackLater(deps, membership, caller, tx)));
    return membership;
  });
}

/** @throws DomainError NOT_FOUND, CONFLICT for the last administrator. */
export function requireChanged(change: MembershipChange): void {
  if (change === 'missing') throw missing('membership', 'membershipId');
  if (change === 'last-admin') throw lastAdmin();
}
