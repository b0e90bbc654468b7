import { DomainError } from '../../entities/ground/errors.ts';
import type { Organization } from '../../entities/people/account.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { adminReach, canAdminister, isAdministrator, levelsAbove } from '../ground/access/access.ts';
import { removeChat } from '../ground/blobs.ts';
import type { Faults } from '../ground/faults.ts';
import { giveBackTokens } from '../ground/given-back-tokens.ts';

/** Limits that all administrative operations share. */
export const nameLengthMax = 200;
const emailLengthMax = 320;
const emailPattern = /^[^\s@,]+@[^\s@,]+$/;
const chatsPerRound = 100;

/**
 * The organization of a call: the caller's own, or a named one that the caller administers.
 *
 * @throws DomainError FORBIDDEN when the caller administers nothing, NOT_FOUND for an organization out of reach.
 */
export async function administeredOrganization(
  deps: Deps,
  caller: Caller,
  orgId: string | null | undefined,
): Promise<Organization> {
  const organization = await deps.storage.people.organizations.find(orgId ?? caller.orgId, adminReach(caller));
  if (organization === undefined) throw missing('organization', 'orgId');
  return organization;
}

/** Those of the organizations that the caller administers. Cost: one statement, and only for organizations other than its own. */
export async function administeredAmong(deps: Deps, caller: Caller, orgIds: readonly string[]): Promise<ReadonlySet<string>> {
  const ids = [...new Set(orgIds)];
  const near = ids.filter((id) => isAdministrator(caller, id));
  const far = ids.filter((id) => !near.includes(id));
  if (far.length === 0 || caller.level !== 'TENANT') return new Set(near);
  const farOrganizations = await deps.storage.people.accounts.findOrganizations(far);
  return new Set([
    ...near,
    ...farOrganizations.filter((organization) => canAdminister(caller, organization)).map(({ id }) => id),
  ]);
}

/** @throws DomainError FORBIDDEN for all keys except TENANT and INSTANCE keys. */
export function requireAboveOrganizations(caller: Caller): void {
  adminReach(caller);
  if (caller.level === 'ORGANIZATION') throw new DomainError('FORBIDDEN', 'This needs a key of level TENANT or INSTANCE');
}

/**
 * Removing a user or an organization revokes its keys. The caller may not revoke keys above its own level, and below INSTANCE removes no operator.
 *
 * @throws DomainError FORBIDDEN when one of the keys is above the caller's level, or one of the people is an operator.
 */
export async function requireNoKeyAbove(
  deps: Deps,
  caller: Caller,
  target: { readonly orgId?: string; readonly userId?: string },
): Promise<void> {
  if (caller.level !== 'INSTANCE' && (await deps.storage.people.operators.isConcerned(target)))
    throw operatorRefused('is removed');
  const levels = levelsAbove(caller);
  if (levels.length === 0 || !(await deps.storage.people.apiKeys.hasLiving({ ...target, levels }))) return;
  throw new DomainError(
    'FORBIDDEN',
    `This ends keys of level ${levels.join(' or ')}, which a key of level ${caller.level} cannot end`,
  );
}

/** What a caller below INSTANCE may not do to a person who reaches further. @throws DomainError FORBIDDEN for an operator. */
export async function requireNoOperator(deps: Deps, caller: Caller, userId: string, what: string): Promise<void> {
  if (caller.level === 'INSTANCE' || !(await deps.storage.people.operators.isOperator(userId))) return;
  throw operatorRefused(what);
}

/** @param what  continues "An operator of the installation …". */
export function operatorRefused(what: string): DomainError {
  return new DomainError('FORBIDDEN', `An operator of the installation ${what} by a caller of level INSTANCE only`);
}

export function missing(noun: string, param: string): DomainError {
  return new DomainError('NOT_FOUND', `There is no such ${noun}`, { param });
}

export function lastAdmin(): DomainError {
  return new DomainError('CONFLICT', 'The last administrator of an organization can be neither removed nor demoted');
}

/** Returns the address in lower case. */
export function readEmail(text: string, faults: Faults): string {
  const email = text.trim().toLowerCase();
  if (email.length > emailLengthMax || !emailPattern.test(email)) faults.add('email', 'email must be an e-mail address');
  return email;
}

/** Registers the jobs that purge deleted organizations and users. When they run, the data can no longer be reached. */
export function registerPurges(deps: Deps): void {
  const { jobs, storage } = deps;
  const options = { concurrency: 1 };
  jobs.work('accounts.purge-organization', options, async ({ orgId }, signal) => {
    await storage.people.organizations.purge(orgId, signal);
    await storage.blobs.deleteOrganization(orgId);
  });
  jobs.work('accounts.purge-user', options, async ({ userId }, signal) => {
    for (;;) {
      signal.throwIfAborted();
      const ids = await storage.people.users.chatIdsOf(userId, chatsPerRound);
      if (ids.length === 0) break;
      for (const id of ids) await removeChat(deps, id);
    }
    await giveBackTokens(deps, { ownerUserId: userId }, signal);
    await storage.people.users.purge(userId, signal);
  });
  jobs.work('accounts.give-back-tokens', options, async ({ orgId, userId }, signal) => {
    // Somebody who came back in the meantime keeps them.
    if ((await storage.people.accounts.findRole(orgId, userId)) !== undefined) return;
    await giveBackTokens(deps, { orgId, ownerUserId: userId, kind: 'consent' }, signal);
  });
}
