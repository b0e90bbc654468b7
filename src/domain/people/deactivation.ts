import { DomainError } from '../../entities/ground/errors.ts';
import type { User } from '../../entities/people/account.ts';
import type { Caller, MemberRole } from '../../entities/people/caller.ts';
import type { ScimUser } from '../../entities/people/scim.ts';
import type { Transaction } from '../../storage/ground/database.ts';
import type { Deps } from '../deps.ts';
import { adminReachIfAny } from '../ground/access/access.ts';
import { giveBackLater } from '../ground/given-back-tokens.ts';
import { administeredOrganization, missing, requireNoKeyAbove } from './administration.ts';
import { requireChanged } from './memberships.ts';

type Place = Pick<Caller, 'orgId'>;

/** Whether each user is a member within the reach of the caller: in its organization, for keys above in any of theirs. In the order of the ids. */
export async function isActiveOfEach(deps: Deps, caller: Caller, userIds: readonly string[]): Promise<readonly boolean[]> {
  const reach = adminReachIfAny(caller) ?? { reach: 'organization', orgId: caller.orgId };
  const active = await deps.storage.people.memberships.membersAmong(userIds, reach);
  return userIds.map((id) => active.has(id));
}

/**
 * Takes a person from an organization until `reactivateUser`, as an identity provider does: the membership, all keys and sessions there end at once. What the person made stays.
 *
 * @throws DomainError FORBIDDEN, also when it would end a key above the caller's level; NOT_FOUND for an organization or user out of reach; CONFLICT for
 * the caller's own person and the last administrator.
 */
export function deactivateUser(deps: Deps, caller: Caller, id: string, orgId: string | null | undefined): Promise<User> {
  return inOrganization(deps, caller, id, orgId, async (place, user) => {
    if (id === caller.userId) throw new DomainError('CONFLICT', 'You cannot deactivate yourself', { param: 'id' });
    await endMembership(deps, caller, place, user);
    await noteState(deps, place, user, false, user.role);
  });
}

/**
 * Makes a deactivated person a member again, with the role of before. Keys, sessions and grants do not come back.
 *
 * @throws DomainError FORBIDDEN; NOT_FOUND for an organization out of reach and for somebody who was never deactivated there.
 */
export function reactivateUser(deps: Deps, caller: Caller, id: string, orgId: string | null | undefined): Promise<User> {
  return inOrganization(deps, caller, id, orgId, async (place, user) => {
    if (user.membershipId !== undefined) return;
    await noteState(deps, place, user, true, user.role);
    await beginMembership(deps, place, user, user.role);
  });
}

/** Ends membership, keys and sessions of a person in an organization. @throws DomainError FORBIDDEN for a key above the caller's level; CONFLICT. */
export async function endMembership(deps: Deps, caller: Caller, { orgId }: Place, user: ScimUser): Promise<void> {
  const { id, membershipId } = user;
  if (membershipId === undefined) return;
  await requireNoKeyAbove(deps, caller, { orgId, userId: id });
  // Before the membership, whose end would end the sessions for another reason: what runs for a revoked session ends too.
  await deps.storage.people.scim.endAccess(orgId, id, deps.now());
  const giveBack = (tx: Transaction) => giveBackLater(deps, { orgId, userId: id }, caller, tx);
  requireChanged(await deps.storage.people.memberships.delete(membershipId, giveBack));
}

/** A new membership of somebody who had one. Whoever calls it has noted that the person is active. */
export async function beginMembership(deps: Deps, { orgId }: Place, { id }: ScimUser, role: MemberRole): Promise<void> {
  await deps.storage.people.tenancy.addMember({ id: deps.newId('membership'), orgId, userId: id, role, createdAt: deps.now() });
}

async function inOrganization(
  deps: Deps,
  caller: Caller,
  id: string,
  orgId: string | null | undefined,
  write: (place: Place, user: ScimUser) => Promise<void>,
): Promise<User> {
  const organization = await administeredOrganization(deps, caller, orgId);
  return deps.audit.change(caller, async () => {
    const user = await deps.storage.people.scim.findUser(organization.id, id);
    if (user === undefined) throw missing('user', 'id');
    await write({ orgId: organization.id }, user);
    const { tenantId, email, name, createdAt } = user;
    return { ...{ id, tenantId, email, name, createdAt }, orgId: organization.id };
  });
}

function noteState(deps: Deps, { orgId }: Place, user: ScimUser, isActive: boolean, role: MemberRole): Promise<void> {
  const { externalId, givenName, familyName } = user;
  return deps.storage.people.scim.noteUser(orgId, user.id, { externalId, givenName, familyName, isActive, role });
}
