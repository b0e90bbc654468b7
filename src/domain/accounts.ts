import type { Organization, User } from '../entities/account.ts';
import type { Caller } from '../entities/caller.ts';
import { DomainError } from '../entities/errors.ts';
import type { Deps } from './deps.ts';

/** The user a key acts as. @throws DomainError NOT_FOUND when the user was deleted under the call. */
export async function callerUser(deps: Deps, caller: Caller): Promise<User> {
  const [user] = await deps.storage.accounts.findUsers([caller.userId]);
  if (user === undefined) throw new DomainError('NOT_FOUND', 'The user of this key is gone');
  return user;
}

/** The organization a key acts in. @throws DomainError NOT_FOUND when it was deleted under the call. */
export async function callerOrganization(deps: Deps, caller: Caller): Promise<Organization> {
  const [organization] = await deps.storage.accounts.findOrganizations([caller.orgId]);
  if (organization === undefined) throw new DomainError('NOT_FOUND', 'The organization of this key is gone');
  return organization;
}
