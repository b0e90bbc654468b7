import { DomainError } from '../../../entities/ground/errors.ts';
import type { Organization, User } from '../../../entities/people/account.ts';
import { hashSecret } from '../../../entities/people/api-key.ts';
import { type Caller, scopesOfRole } from '../../../entities/people/caller.ts';
import type { Invitation } from '../../../entities/people/invitation.ts';
import { isSignInSecret } from '../../../entities/people/session.ts';
import type { OpenInvitation } from '../../../storage/people/sign-in/invitations.ts';
import type { OwnWay } from '../../../storage/people/sign-in/ways.ts';
import type { Deps } from '../../deps.ts';
import { canAdminister, mayChange } from '../../ground/access/access.ts';
import { performOperation } from '../../ground/audit/operation.ts';
import { Faults } from '../../ground/faults.ts';
import { nameLengthMax } from '../administration.ts';
import { membersMax } from '../groups.ts';
import { toRelyingParty } from './passkeys.ts';
import { isPasswordCorrect, readPassword } from './passwords.ts';
import { type Browser, beginSession, findCaller, type SignedIn, toOrigin } from './sign-in.ts';
import { requireOwnWays } from './ways.ts';

/** What a person with an invitation gives besides it: a NAME and a new password or passkey, the PASSWORD of the account; or must SIGN_IN first; or NOTHING. */
export type InvitationNeed = 'NAME' | 'PASSWORD' | 'SIGN_IN' | 'NOTHING';

export interface ShownInvitation {
  readonly email: string;
  readonly organization: string;
  readonly needs: InvitationNeed;
}
export interface Acceptance {
  readonly secret: string;
  /** Of a new person. */
  readonly name: string | undefined;
  /** Of a new person, a new one; undefined for one who adds a passkey in the session that begins. Else the password of the account. */
  readonly password: string | undefined;
}

/** What the page shows to who has the link. @throws DomainError INVALID_VALUE for a link that is of no use: the answer is the same for all reasons. */
export async function showInvitation(
  deps: Deps,
  secret: string,
  browser: Pick<Browser, 'sessionSecret'>,
): Promise<ShownInvitation> {
  const { invitation, organization, known: existingUser } = await findInvitation(deps, secret);
  return { email: invitation.email, organization: organization.name, needs: (await findNeed(deps, existingUser, browser)).need };
}

/**
 * Makes the person of the address a member, and signs the browser in. A new person gives a name, and a password where no passkey follows. An account that exists is joined by who proves
 * to have it: by its session or its password. The link alone never leads into an account that somebody uses.
 *
 * @throws DomainError INVALID_VALUE, for a link of no use, a bad name or password, and a wrong one; CONFLICT for an account that must be signed in to first;
 * RATE_LIMIT_EXCEEDED after too many wrong passwords.
 */
export async function acceptInvitation(deps: Deps, acceptance: Acceptance, browser: Browser): Promise<SignedIn> {
  const { invitation, isMailed, organization, known: existingUser } = await findInvitation(deps, acceptance.secret);
  const { need, hash } = await findNeed(deps, existingUser, browser);
  if (need === 'SIGN_IN') {
    throw new DomainError('CONFLICT', `Sign in as ${invitation.email} first, then open the link again`, { param: 'invitation' });
  }
  if (need === 'PASSWORD' && hash !== undefined) {
    const isRight = await isPasswordCorrect(deps, { email: invitation.email, hash }, acceptance.password ?? '', browser.network);
    if (!isRight) throw new DomainError('INVALID_VALUE', 'This is not the password of your account', { param: 'password' });
  }
  const fresh = need === 'NAME' ? await readNewPerson(deps, acceptance) : undefined;
  const userId = existingUser?.id ?? deps.newId('user');
  const provenWay = existingUser === undefined ? undefined : await findProvenWay(deps, need, existingUser, browser);
  await join(deps, { invitation, isMailed, organization, known: existingUser, userId, fresh, provenWay }, browser);
  return beginSession(deps, { userId, orgId: invitation.orgId }, 'INVITATION', browser);
}

interface FoundInvitation extends OpenInvitation {
  readonly organization: Organization;
  /** The user of the address, where there is one. */
  readonly known: User | undefined;
}
interface Joining extends FoundInvitation {
  readonly userId: string;
  readonly fresh: NewPerson | undefined;
  /** What the person showed to have the account, which opens the organization from now on. */
  readonly provenWay: OwnWay | undefined;
}
interface NewPerson {
  readonly name: string;
  /** Of the password; undefined without one. */
  readonly hash: string | undefined;
}

async function findInvitation(deps: Deps, secret: string): Promise<FoundInvitation> {
  requireOwnWays(deps);
  const { invitations, accounts } = deps.storage.people;
  const open = isSignInSecret(secret) ? await invitations.findOpen(hashSecret(secret), deps.now()) : undefined;
  const [organization] = open === undefined ? [] : await accounts.findOrganizations([open.invitation.orgId]);
  if (open === undefined || organization === undefined) throw refused();
  const { invitation, isMailed } = open;
  if (!(await mayStillInvite(deps, invitation, organization))) throw refused();
  const [existingUser] = await accounts.findUsersByEmail(organization.tenantId, [invitation.email]);
  return { invitation, isMailed, organization, known: existingUser };
}

/** Who is no administrator any more, or whose key was revoked, may have kept links: they must not lead back in. */
export async function mayStillInvite(
  { storage, now }: Deps,
  { orgId, role, invitedByUserId: userId, invitedByKeyId: keyId, invitedByLevel: level }: Invitation,
  organization: Organization,
): Promise<boolean> {
  const maker = await storage.people.apiKeys.findMaker({ userId, keyId, orgId, level }, now().getTime());
  if (maker === undefined || !mayChange(maker) || !canAdminister(maker, organization)) return false;
  return scopesOfRole(role).every((scope) => maker.scopes.has(scope));
}

async function findNeed(
  deps: Deps,
  existingUser: User | undefined,
  browser: Pick<Browser, 'sessionSecret'>,
): Promise<{ readonly need: InvitationNeed; readonly hash?: string }> {
  if (existingUser === undefined) return { need: 'NAME' };
  if ((await findCaller(deps, browser))?.userId === existingUser.id) return { need: 'NOTHING' };
  const hash = await deps.storage.people.passwords.find(existingUser.id);
  if (hash !== undefined) return { need: 'PASSWORD', hash };
  const isUnused = await deps.storage.db.transaction((tx) => deps.storage.people.invitations.isUnused(tx, existingUser.id));
  return { need: isUnused ? 'NAME' : 'SIGN_IN' };
}

/** The password that was entered, or the password or passkey that began the session. Other ways of the account may be somebody else's. */
async function findProvenWay(deps: Deps, need: InvitationNeed, { id }: User, browser: Browser): Promise<OwnWay | undefined> {
  if (need === 'PASSWORD') return { passwordOf: id };
  const session = need === 'NOTHING' ? await findCaller(deps, browser) : undefined;
  return session === undefined ? undefined : deps.storage.people.ways.findOfSession(session.keyId);
}

async function readNewPerson(deps: Deps, { name = '', password }: Acceptance): Promise<NewPerson> {
  const faults = new Faults();
  faults.requireName('name', name, nameLengthMax);
  // Where no passkey can follow, nobody could sign in again.
  const isNeeded = toRelyingParty(deps) === undefined;
  if (password !== undefined || isNeeded) readPassword('password', password ?? '', faults);
  faults.throwIfAny();
  return { name: name.trim(), hash: password === undefined ? undefined : await deps.passwords.hash(password) };
}

async function join(
  deps: Deps,
  { invitation, isMailed, organization, known: existingUser, userId, fresh, provenWay }: Joining,
  browser: Browser,
): Promise<void> {
  const { id, orgId, email, role, groupIds } = invitation;
  const { tenantId } = organization;
  const { invitations, tenancy, accounts, groups, passwords, users, ways } = deps.storage.people;
  const at = deps.now();
  const scopes = new Set(scopesOfRole(role));
  const caller: Caller = { keyId: id, userId, orgId, tenantId, level: 'ORGANIZATION', role, scopes };
  await performOperation({ deps, caller, ...toOrigin(browser) }, 'Page.acceptInvitation', [id], (auditedCaller) =>
    deps.audit.change(auditedCaller, async (tx) => {
      if (!(await invitations.accept(id, userId, at))) throw refused();
      if (existingUser === undefined)
        await tenancy.createUser({ id: userId, tenantId, email, name: fresh?.name ?? email, createdAt: at });
      else if (fresh !== undefined) {
        // Somebody may have begun to use the account since.
        if (!(await invitations.isUnused(tx, userId))) throw refused();
        await users.update(userId, { name: fresh.name });
      } else if ((await accounts.findRole(orgId, userId)) !== undefined) {
        throw new DomainError('CONFLICT', 'You are a member of the organization', { param: 'invitation' });
      }
      await tenancy.addMember({ id: deps.newId('membership'), orgId, userId, role, createdAt: at });
      if (fresh?.hash !== undefined) {
        await passwords.set({ userId, hash: fresh.hash, level: 'ORGANIZATION', orgIds: [orgId] }, at);
      }
      if (provenWay !== undefined) await ways.confirm(provenWay, orgId);
      // An account with ways in that somebody else may have made is not proven by the mailbox of its address alone.
      if (isMailed && fresh !== undefined) await ways.noteEmailVerified(userId, at);
      for (const groupId of await groups.withRoom(orgId, groupIds, membersMax)) {
        await groups.update(groupId, {}, { add: [{ email, userId }], removeEmails: [] });
      }
      return { id: userId, orgId };
    }),
  );
}

function refused(): DomainError {
  return new DomainError(
    'INVALID_VALUE',
    'This invitation is unknown, was used before, was revoked, or is older than seven days. Ask for another.',
    { param: 'invitation' },
  );
}
