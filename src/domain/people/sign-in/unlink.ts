import type { User } from '../../../entities/people/account.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { adminReach } from '../../ground/access/access.ts';
import { missing, requireNoOperator } from '../administration.ts';

/**
 * Takes an identity at a provider from its user: its sessions end, and so do groups and the role ADMIN that came by it; the last administrator stays one. The
 * next sign-in by the provider is a first one again, of whoever has the e-mail there then.
 *
 * @returns the user.
 * @throws DomainError FORBIDDEN for a caller who administers nothing, and for an operator's below INSTANCE; NOT_FOUND for one that signs in out of reach.
 */
export async function unlinkIdentity(deps: Deps, caller: Caller, id: string): Promise<User> {
  const { identities, memberships, groups, accounts } = deps.storage.people;
  const identity = await identities.findIn(id, adminReach(caller));
  if (identity === undefined) throw missing('identity', 'id');
  const { userId, orgId, isAdminByGroup } = identity;
  await requireNoOperator(deps, caller, userId, 'is unlinked from a provider');
  const [user] = await accounts.findUsers([userId]);
  if (user === undefined) throw missing('identity', 'id');
  const groupIds = await identities.memberIn(identity.groupIds, userId);
  const membership = isAdminByGroup ? await identities.findMembership(orgId, userId) : undefined;
  return deps.audit.change(caller, async () => {
    await identities.delete(id, deps.now());
    if (membership?.role === 'ADMIN') await memberships.setRole(membership.id, 'MEMBER');
    for (const groupId of groupIds) await groups.update(groupId, {}, { add: [], removeEmails: [user.email] });
    return { ...user, targetIds: [id, userId] };
  });
}
