import { DomainError } from '../../entities/ground/errors.ts';
import type { User } from '../../entities/people/account.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { isSession } from '../../entities/people/session.ts';
import type { Deps } from '../deps.ts';
import { missing } from './administration.ts';
import { getUser } from './users.ts';

/** Whether each user administers the installation, in the order of the ids; null for who may not know: all but callers of level INSTANCE and the user. */
export async function isOperatorOfEach(
  deps: Deps,
  caller: Caller,
  userIds: readonly string[],
): Promise<readonly (boolean | null)[]> {
  const visibleUserIds = userIds.filter((id) => caller.level === 'INSTANCE' || id === caller.userId);
  const operators = visibleUserIds.length === 0 ? new Set<string>() : await deps.storage.people.operators.among(visibleUserIds);
  return userIds.map((id) => (visibleUserIds.includes(id) ? operators.has(id) : null));
}

/**
 * Gives or takes the right to administer the installation. It counts in sessions that begin by what was made with level INSTANCE: a sign-in link, or a
 * password or passkey from such a session. Sessions with that reach end at once when the right is taken; keys of the person stay, and are revoked like others.
 *
 * @throws DomainError FORBIDDEN for all callers but those of level INSTANCE; NOT_FOUND; CONFLICT for a session that takes the right from its own user.
 */
export async function setOperator(deps: Deps, caller: Caller, id: string, isOperator: boolean): Promise<User> {
  if (caller.level !== 'INSTANCE') throw new DomainError('FORBIDDEN', 'Operators are made by callers of level INSTANCE only');
  const user = await getUser(deps, caller, id);
  if (!isOperator && id === caller.userId && isSession(caller)) {
    throw new DomainError('CONFLICT', 'You cannot take this right from yourself: another operator or a key can', { param: 'id' });
  }
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.people.operators.set(id, isOperator))) throw missing('user', 'id');
    return user;
  });
}
