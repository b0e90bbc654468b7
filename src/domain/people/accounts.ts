import { DomainError } from '../../entities/ground/errors.ts';
import type { Organization, User } from '../../entities/people/account.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { accountSight } from '../ground/access/access.ts';

/** The organization a key acts in. @throws DomainError NOT_FOUND when it was deleted during the call. */
export async function callerOrganization(deps: Deps, caller: Caller): Promise<Organization> {
  const [organization] = await deps.storage.people.accounts.findOrganizations([caller.orgId]);
  if (organization === undefined) throw new DomainError('NOT_FOUND', 'The organization of this key is gone');
  return organization;
}

/** Users by id, in the order of `ids`; a deleted user has an empty name and e-mail. One statement. */
export async function findUsersById(deps: Deps, ids: readonly string[]): Promise<readonly User[]> {
  const byId = new Map((await deps.storage.people.accounts.findUsers(ids)).map((user) => [user.id, user]));
  return ids.map((id) => byId.get(id) ?? { id, tenantId: '', name: '', email: '', createdAt: new Date(0) });
}

/** The users among `ids` that the caller may read, in any order (`accountSight`). */
export function getUsers(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly User[]> {
  return deps.storage.people.accounts.seeUsers(ids, accountSight(caller));
}

/** The organizations among `ids` that the caller may read, in any order (`accountSight`). */
export function getOrganizations(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Organization[]> {
  return deps.storage.people.accounts.seeOrganizations(ids, accountSight(caller));
}

/** Users in the order of their ids, in one statement; null for a deleted user. */
export async function findLivingUsers(deps: Deps, ids: readonly string[]): Promise<readonly (User | null)[]> {
  const byId = new Map((await deps.storage.people.accounts.findUsers(ids)).map((user) => [user.id, user]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Organizations in the order of their ids, in one statement; an Error for a deleted organization. */
export async function organizationsById(deps: Deps, ids: readonly string[]): Promise<(Organization | Error)[]> {
  const byId = new Map(
    (await deps.storage.people.accounts.findOrganizations(ids)).map((organization) => [organization.id, organization]),
  );
  return ids.map((id) => byId.get(id) ?? new DomainError('NOT_FOUND', 'It was deleted at the same time'));
}
