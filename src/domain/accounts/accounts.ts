import type { Organization, User } from '../../entities/accounts/account.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import { DomainError } from '../../entities/errors.ts';
import type { Deps } from '../deps.ts';

/** The user a key acts as. @throws DomainError NOT_FOUND when the user was deleted during the call. */
export async function callerUser(deps: Deps, caller: Caller): Promise<User> {
  const [user] = await deps.storage.accounts.findUsers([caller.userId]);
  if (user === undefined) throw new DomainError('NOT_FOUND', 'The user of this key is gone');
  return user;
}

/** The organization a key acts in. @throws DomainError NOT_FOUND when it was deleted during the call. */
export async function callerOrganization(deps: Deps, caller: Caller): Promise<Organization> {
  const [organization] = await deps.storage.accounts.findOrganizations([caller.orgId]);
  if (organization === undefined) throw new DomainError('NOT_FOUND', 'The organization of this key is gone');
  return organization;
}

/** Users by id, in the order of `ids`; a deleted user has an empty name and e-mail. One statement. */
export async function findUsersById(deps: Deps, ids: readonly string[]): Promise<readonly User[]> {
  const byId = new Map((await deps.storage.accounts.findUsers(ids)).map((user) => [user.id, user]));
  return ids.map((id) => byId.get(id) ?? { id, tenantId: '', name: '', email: '', createdAt: new Date(0) });
}

/** Users in the order of their ids, in one statement; an Error for a deleted user. */
export async function usersById(deps: Deps, ids: readonly string[]): Promise<(User | Error)[]> {
  return inOrder(ids, await deps.storage.accounts.findUsers(ids));
}

/** Organizations in the order of their ids, in one statement; an Error for a deleted organization. */
export async function organizationsById(deps: Deps, ids: readonly string[]): Promise<(Organization | Error)[]> {
  return inOrder(ids, await deps.storage.accounts.findOrganizations(ids));
}

function inOrder<T extends { readonly id: string }>(ids: readonly string[], found: readonly T[]): (T | Error)[] {
  const byId = new Map(found.map((item) => [item.id, item]));
  return ids.map((id) => byId.get(id) ?? new DomainError('NOT_FOUND', 'It was deleted at the same time'));
}
