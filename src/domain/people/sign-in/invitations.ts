import { DomainError } from '../../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import { hashSecret } from '../../../entities/people/api-key.ts';
import { type Caller, type MemberRole, scopesOfRole } from '../../../entities/people/caller.ts';
import { type Invitation, invitationPath, invitationTtlMs } from '../../../entities/people/invitation.ts';
import { makeSignInSecret } from '../../../entities/people/session.ts';
import type { Deps } from '../../deps.ts';
import { adminReach, adminReachIfAny, visibleGroups } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { administeredOrganization, missing, readEmail } from '../administration.ts';
import { firstAttempt } from './invitation-mail.ts';
import { requireOwnWays } from './ways.ts';

export interface InviteInput {
  readonly email: string;
  /** Default: the caller's. */
  readonly orgId?: string | null | undefined;
  /** Default MEMBER. */
  readonly role?: MemberRole | null | undefined;
  readonly groupIds?: readonly string[] | null | undefined;
}
export interface MadeInvitation {
  readonly id: string;
  readonly orgId: string;
  /** With its secret, which is shown once. */
  readonly url: string;
  readonly invitation: Invitation;
}

const groupsMax = 100;
/** Open ones of an organization: an administrator's key must not send mail without end. */
const openMax = 1_000;

/**
 * Asks a person to become a member of an organization. The link works once and for seven days, for that address only; it is sent where the installation
 * sends mail. An open invitation of the same address ends.
 *
 * @throws DomainError FORBIDDEN for a caller who does not administer the organization, and for a key without all scopes of the role; NOT_FOUND for an
 * organization out of reach; CONFLICT for a member, and with 1,000 open invitations; INVALID_VALUE.
 */
export async function invite(deps: Deps, caller: Caller, input: InviteInput): Promise<MadeInvitation> {
  const organization = await administeredOrganization(deps, caller, input.orgId);
  requireOwnWays(deps);
  const { id: orgId, tenantId } = organization;
  const faults = new Faults();
  const email = readEmail(input.email, faults);
  const groupIds = [...new Set(input.groupIds ?? [])];
  await checkGroups(deps, caller, orgId, groupIds, faults);
  faults.throwIfAny();
  const role = input.role ?? 'MEMBER';
  const surplus = scopesOfRole(role).filter((scope) => !caller.scopes.has(scope));
  if (surplus.length > 0) {
    throw new DomainError('FORBIDDEN', `Whoever accepts has scopes that this key lacks: ${surplus.join(', ')}`);
  }
  const { accounts, invitations } = deps.storage.people;
  const [existingUser] = await accounts.findUsersByEmail(tenantId, [email]);
  if (existingUser !== undefined && (await accounts.findRole(orgId, existingUser.id)) !== undefined) {
    throw new DomainError('CONFLICT', 'A member of the organization has this e-mail', { param: 'email' });
  }
  const createdAt = deps.now();
  if ((await invitations.countOpen(orgId, createdAt)) >= openMax) {
    throw new DomainError('CONFLICT', `The organization has ${openMax} open invitations; revoke some first`);
  }
  const id = deps.newId('invitation');
  const secret = makeSignInSecret();
  const expiresAt = new Date(createdAt.getTime() + invitationTtlMs);
  const delivery = deps.mailer === undefined ? 'NONE' : 'WAITING';
  return deps.audit.change(caller, async (tx) => {
    const invitation = await invitations.create({
      ...{ id, createdAt, orgId, email, role, groupIds, expiresAt, delivery, hash: hashSecret(secret) },
      invitedByUserId: caller.userId,
      invitedByKeyId: caller.keyId,
      invitedByLevel: caller.level,
    });
    if (delivery === 'WAITING') await firstAttempt(deps, { tenantId, orgId }, id, tx);
    return { id, orgId, url: `${deps.publicUrl()}${invitationPath(secret)}`, invitation };
  });
}

/** Invitations within the caller's administration, newest first. @throws DomainError FORBIDDEN. */
export async function listInvitations(
  deps: Deps,
  caller: Caller,
  orgId: string | null | undefined,
  page: PageRequest,
): Promise<Page<Invitation>> {
  return deps.storage.people.invitations.list(adminReach(caller), orgId ?? undefined, page);
}

/** The invitations among `ids` that the caller administers, in any order. */
export async function getInvitations(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Invitation[]> {
  const reach = adminReachIfAny(caller);
  return reach === undefined ? [] : deps.storage.people.invitations.findMany(ids, reach);
}

/** Ends an open invitation at once. @throws DomainError FORBIDDEN; NOT_FOUND, also for one that is not open any more. */
export async function revokeInvitation(deps: Deps, caller: Caller, id: string): Promise<Invitation> {
  const reach = adminReach(caller);
  return deps.audit.change(caller, async () => {
    const revokedInvitation = await deps.storage.people.invitations.revoke(id, reach, deps.now());
    if (revokedInvitation === undefined) throw missing('open invitation', 'invitationId');
    return revokedInvitation;
  });
}

async function checkGroups(deps: Deps, caller: Caller, orgId: string, ids: readonly string[], faults: Faults): Promise<void> {
  if (ids.length === 0) return;
  faults.requireCount('groupIds', ids, groupsMax);
  if (ids.length > groupsMax) return;
  const foundGroups = await deps.storage.people.groups.findMany(ids, visibleGroups(caller));
  const ofOrganization = new Set(foundGroups.filter((group) => group.orgId === orgId).map(({ id }) => id));
  const unknown = ids.filter((id) => !ofOrganization.has(id));
  if (unknown.length > 0)
    faults.add('groupIds', `groupIds names no group of the organization: ${unknown.slice(0, 3).join(', ')}`);
}
