import type { ProvidedPerson } from '../../../engine/sign-in/claims.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { AuditChange } from '../../../entities/operations/audit.ts';
import type { Organization } from '../../../entities/people/account.ts';
import { type Caller, type MemberRole, scopesOfRole } from '../../../entities/people/caller.ts';
import type { Identity } from '../../../entities/people/identity.ts';
import type { Invitation } from '../../../entities/people/invitation.ts';
import type { OidcProviderSettings } from '../../../lib/settings/oidc-settings.ts';
import type { IdentityKey } from '../../../storage/people/sign-in/identities.ts';
import type { HeldWay } from '../../../storage/people/sign-in/ways.ts';
import type { Deps } from '../../deps.ts';
import { adminReachIfAny } from '../../ground/access/access.ts';
import { withAuditEntry } from '../../ground/audit/change.ts';
import type { CallOrigin } from '../../ground/audit/origin.ts';
import { nameLengthMax } from '../administration.ts';
import { membersMax } from '../groups.ts';
import { mayStillInvite } from './accept-invitation.ts';

/** Groups that a provider can make somebody a member of. */
const groupsMax = 200;
/** Names that are looked up among the groups of an organization. */
const namesMax = 20_000;

/** The same page of the identities of each of several users, in the order of the ids; null for users whose ways in the caller may not see. */
export async function loadIdentityPages(
  deps: Deps,
  caller: Caller,
  userIds: readonly string[],
  page: PageRequest,
): Promise<readonly (Page<Identity> | null)[]> {
  const reach = caller.scopes.has('ADMIN:READ') ? adminReachIfAny(caller) : undefined;
  const pages = await deps.storage.people.identities.pagesOf(userIds, { ownUserId: caller.userId, reach }, page);
  return userIds.map((id) => pages.get(id) ?? null);
}

/** Whom a provider signs in, and where. */
export interface AdmittedPerson {
  readonly userId: string;
  readonly orgId: string;
  readonly identityId: string;
}

/**
 * Finds the user of a person at a provider, and follows the provider: at the first sign-in the person is linked to the user of the verified e-mail, or
 * joins by a rule; at every sign-in its groups decide. The first one to show that it has the mailbox of the user takes away what others may have made:
 * password, passkeys, sessions and links.
 *
 * @param sessionId  of the session that begins, for the audit log.
 * @throws DomainError FORBIDDEN with words for the visitor.
 */
export async function admitPerson(
  deps: Deps,
  settings: OidcProviderSettings,
  person: ProvidedPerson,
  sessionId: string,
  origin: CallOrigin,
): Promise<AdmittedPerson> {
  for (const warning of person.warnings) deps.logger.warn(warning);
  const { issuer, subject } = person;
  const key = { provider: settings.name, issuer, subject };
  const identity = await deps.storage.people.identities.find(key);
  const place = identity === undefined ? await findPlace(deps, settings, person, key) : await knownPlace(deps, identity);
  const { invitation } = place;
  const knownIdentity = identity ?? newIdentity(deps, key, place);
  // What the provider gave to the member before went with the membership.
  const linkedIdentity = invitation === undefined ? knownIdentity : { ...knownIdentity, isAdminByGroup: false, groupIds: [] };
  const caller = toCaller(place, sessionId);
  const plan = await makePlan(deps, settings, person, place, linkedIdentity);
  const isFirst = identity === undefined;
  const lostWays = isFirst ? await findUnprovenWays(deps, place) : [];
  const invitationChanges = invitation === undefined ? [] : [{ member: 'invitation', value: invitation.id }];
  const changes = [...listChanges(plan, isFirst, lostWays), ...invitationChanges];
  const write = async () => {
    if (place.isNewUser) await createUser(deps, place, person);
    if (place.membershipId === undefined) await addMember(deps, place, plan.role);
    if (invitation !== undefined) await accept(deps, place, invitation);
    if (isFirst) await proveEmail(deps, place);
    await apply(deps, settings, place, linkedIdentity, plan, isFirst, person);
  };
  const { userId, orgId } = place;
  if (changes.length === 0)
    await deps.storage.people.identities.update(linkedIdentity.id, {
      lastUsedAt: deps.now(),
      email: person.email ?? linkedIdentity.email,
    });
  else {
    const call = { action: 'followProvider', ids: [userId], orgId, changes, ...origin };
    await withAuditEntry(deps, caller, call, (auditedCaller) =>
      deps.audit.change(auditedCaller, async () => {
        await write();
        return { id: userId, orgId };
      }),
    );
  }
  return { userId, orgId, identityId: linkedIdentity.id };
}

/** Ways in to an account that was made before its owner came. */
async function findUnprovenWays(deps: Deps, { userId, isNewUser }: SignInPlace): Promise<readonly HeldWay[]> {
  const { ways } = deps.storage.people;
  return isNewUser || (await ways.isEmailVerified(userId)) ? [] : ways.heldBy(userId);
}

async function proveEmail(deps: Deps, { userId }: SignInPlace): Promise<void> {
  const { ways } = deps.storage.people;
  const at = deps.now();
  if (!(await ways.isEmailVerified(userId))) await ways.takeAway(userId, at);
  await ways.noteEmailVerified(userId, at);
}

/** A user in the organization of the sign-in. */
interface SignInPlace {
  readonly userId: string;
  readonly email: string;
  readonly isNewUser: boolean;
  readonly orgId: string;
  readonly tenantId: string;
  /** Undefined: becomes a member. */
  readonly membershipId: string | undefined;
  /** By which the person becomes a member; undefined for members, and for who joins by a rule. */
  readonly invitation: Invitation | undefined;
  /** Until now, of the invitation, or of the rule. */
  readonly role: MemberRole;
  /** Identities that can sign in no more, whose place the new one takes. */
  readonly formerIdentityIds: readonly string[];
}

async function knownPlace(deps: Deps, { userId, orgId }: Identity): Promise<SignInPlace> {
  const { accounts, identities } = deps.storage.people;
  const [[user], [organization], membership] = await Promise.all([
    accounts.findUsers([userId]),
    accounts.findOrganizations([orgId]),
    identities.findMembership(orgId, userId),
  ]);
  if (user === undefined || organization === undefined) throw removed();
  const invitation = membership === undefined ? await findInvitation(deps, organization, user.email) : undefined;
  const role = membership?.role ?? invitation?.role;
  if (role === undefined) throw removed();
  const { tenantId } = organization;
  return {
    ...{ userId, email: user.email, isNewUser: false, orgId, tenantId },
    ...{ membershipId: membership?.id, invitation, role, formerIdentityIds: [] },
  };
}

/** The first sign-in: the e-mail decides, so it must be verified. */
async function findPlace(
  deps: Deps,
  settings: OidcProviderSettings,
  person: ProvidedPerson,
  key: IdentityKey,
): Promise<SignInPlace> {
  const { label, name } = settings;
  const { email } = person;
  if (email === undefined || !/^[^\s@,]+@[^\s@,]+$/.test(email)) {
    deps.logger.warn(
      `the provider ${name} gives no e-mail: OIDC_${name.toUpperCase()}_SCOPES must include email, and the client must get it`,
    );
    throw refused(`${label} does not say what your e-mail address is.`);
  }
  if (!person.isEmailVerified) {
    throw refused(`${label} says that your e-mail address is not verified. Verify it there, and sign in again.`);
  }
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const rule =
    settings.joinRules.find((joinRule) => joinRule.domain === domain) ?? settings.joinRules.find((known) => known.domain === '*');
  const { accounts, identities, removals } = deps.storage.people;
  const orgId = rule?.orgId ?? settings.orgId ?? (await identities.soleOrganizationId());
  const [organization] = orgId === undefined ? [] : await accounts.findOrganizations([orgId]);
  if (organization === undefined) {
    const setting = rule === undefined ? 'ORGANIZATION' : 'JOIN';
    deps.logger.warn(
      `the provider ${name} signs nobody in: OIDC_${name.toUpperCase()}_${setting} must name an organization that is there`,
    );
    throw refused(`Signing in by ${label} does not work at the moment. An administrator finds the reason in the log.`);
  }
  const [user] = await accounts.findUsersByEmail(organization.tenantId, [email]);
  const membership = user === undefined ? undefined : await identities.findMembership(organization.id, user.id);
  const invitation = membership === undefined ? await findInvitation(deps, organization, email) : undefined;
  const isAsked = membership !== undefined || invitation !== undefined;
  if (!isAsked && rule === undefined) {
    throw refused(`${email} is no member of ${organization.name}. Ask an administrator to add you.`);
  }
  const removable = { userId: user?.id, emails: [email], subjects: [key] };
  if (!isAsked && (await removals.isRemoved(organization.id, removable))) throw removed();
  const formerIdentityIds = user === undefined ? [] : await findFormer(deps, settings, user.id, key);
  return {
    userId: user?.id ?? deps.newId('user'),
    formerIdentityIds,
    email,
    isNewUser: user === undefined,
    orgId: organization.id,
    tenantId: organization.tenantId,
    membershipId: membership?.id,
    invitation,
    role: membership?.role ?? invitation?.role ?? rule?.role ?? 'MEMBER',
  };
}

/** The open invitation of a person: whoever has the address at the provider needs no link. */
async function findInvitation(deps: Deps, organization: Organization, email: string): Promise<Invitation | undefined> {
  const openInvitation = await deps.storage.people.invitations.findOpenOf(organization.id, email, deps.now());
  return openInvitation !== undefined && (await mayStillInvite(deps, openInvitation, organization)) ? openInvitation : undefined;
}

async function accept(deps: Deps, { userId, orgId, email }: SignInPlace, { id, groupIds }: Invitation): Promise<void> {
  const { groups, invitations } = deps.storage.people;
  // It may have been revoked, or used by its link, since it was found.
  if (!(await invitations.accept(id, userId, deps.now()))) throw removed();
  for (const groupId of await groups.withRoom(orgId, groupIds, membersMax))
    await groups.update(groupId, {}, { add: [{ email, userId }], removeEmails: [] });
}

/**
 * An address may be given to somebody else, also at the provider. So whoever is another subject does not get the account of the person who had it.
 *
 * @returns identities of the provider from before its issuer was changed in the settings: they sign in no more.
 * @throws DomainError FORBIDDEN while another subject of the issuer signs in as the user.
 */
async function findFormer(
  deps: Deps,
  { name, label }: OidcProviderSettings,
  userId: string,
  key: IdentityKey,
): Promise<readonly string[]> {
  const rivals = await deps.storage.people.identities.findRivals(userId, key);
  const rival = rivals.find(({ issuer }) => issuer === key.issuer);
  if (rival === undefined) return rivals.map(({ id }) => id);
  deps.logger.warn(
    `the provider ${name} names another person with the e-mail of ${userId}, who is not signed in: when it is the same person, unlinkIdentity ${rival.id}`,
  );
  throw refused(
    `Somebody else at ${label} signs in with your e-mail address already. If that is you, ask an administrator to unlink the earlier account.`,
  );
}

/** What the groups of a person change. */
interface Plan {
  readonly role: MemberRole;
  readonly isAdminByGroup: boolean;
  readonly joins: readonly string[];
  readonly leaves: readonly string[];
  /** Groups that the user is then in by the provider. */
  readonly groupIds: readonly string[];
  readonly isRoleChanged: boolean;
}

async function makePlan(
  deps: Deps,
  settings: OidcProviderSettings,
  { groups }: ProvidedPerson,
  place: SignInPlace,
  { isAdminByGroup, groupIds }: Identity,
): Promise<Plan> {
  const { role, orgId, userId, isNewUser } = place;
  // Nothing is known of the groups: everything stays.
  if (groups === undefined) return { role, isAdminByGroup, joins: [], leaves: [], groupIds, isRoleChanged: false };
  const { identities } = deps.storage.people;
  const isAdmin = settings.adminGroups.some((name) => groups.includes(name));
  const next = roleAfter(role, isAdmin, isAdminByGroup);
  const roles = {
    role: next,
    isAdminByGroup: isAdmin && (isAdminByGroup || role !== 'ADMIN'),
    isRoleChanged: next !== role,
  };
  if (groups.length > namesMax) {
    deps.logger.warn(
      `the provider ${settings.name} names ${groups.length} groups of ${userId}, more than ${namesMax}: only the role follows them, the groups stay as they are`,
    );
    return { ...roles, joins: [], leaves: [], groupIds };
  }
  const named = await identities.groupsNamed(orgId, groups, groupsMax);
  const memberIn = isNewUser ? [] : await identities.memberIn([...named, ...groupIds], userId);
  const strange = named.filter((id) => !memberIn.includes(id));
  const joins = await deps.storage.people.groups.withRoom(orgId, strange, membersMax);
  const leaves = groupIds.filter((id) => !named.includes(id) && memberIn.includes(id));
  const stays = groupIds.filter((id) => named.includes(id) && memberIn.includes(id));
  return { ...roles, joins, leaves, groupIds: [...stays, ...joins] };
}

/** A role that was given in Parley stays; one that came with a group goes with it. */
function roleAfter(role: MemberRole, isAdmin: boolean, isAdminByGroup: boolean): MemberRole {
  if (isAdmin) return 'ADMIN';
  return isAdminByGroup && role === 'ADMIN' ? 'MEMBER' : role;
}

function listChanges(plan: Plan, isFirst: boolean, lostWays: readonly HeldWay[]): readonly AuditChange[] {
  return [
    ...(isFirst ? [{ member: 'identity' }] : []),
    ...(lostWays.length > 0 ? [{ member: 'waysTakenAway', value: lostWays }] : []),
    ...(plan.isRoleChanged ? [{ member: 'role', value: plan.role }] : []),
    ...(plan.joins.length > 0 ? [{ member: 'groupsJoined', value: plan.joins }] : []),
    ...(plan.leaves.length > 0 ? [{ member: 'groupsLeft', value: plan.leaves }] : []),
  ];
}

async function createUser(deps: Deps, { userId, tenantId, email }: SignInPlace, { name }: ProvidedPerson): Promise<void> {
  const displayName = name ?? email.slice(0, email.indexOf('@'));
  const createdAt = deps.now();
  await deps.storage.people.tenancy.createUser({
    id: userId,
    tenantId,
    email,
    name: displayName.slice(0, nameLengthMax),
    createdAt,
  });
}

async function addMember(deps: Deps, { userId, orgId }: SignInPlace, role: MemberRole): Promise<void> {
  await deps.storage.people.tenancy.addMember({ id: deps.newId('membership'), orgId, userId, role, createdAt: deps.now() });
}

async function apply(
  deps: Deps,
  settings: OidcProviderSettings,
  { userId, email, membershipId, orgId, formerIdentityIds }: SignInPlace,
  identity: Identity,
  plan: Plan,
  isFirst: boolean,
  person: ProvidedPerson,
): Promise<void> {
  const { groups, identities, memberships } = deps.storage.people;
  const isKeptAdmin =
    plan.isRoleChanged && membershipId !== undefined && (await memberships.setRole(membershipId, plan.role)) === 'last-admin';
  if (isKeptAdmin) {
    deps.logger.warn(
      `the provider ${settings.name} no longer makes ${userId} an administrator, who stays one: ${orgId} has no other. Make another member ADMIN.`,
    );
  }
  for (const id of plan.joins) await groups.update(id, {}, { add: [{ email, userId }], removeEmails: [] });
  for (const id of plan.leaves) await groups.update(id, {}, { add: [], removeEmails: [email] });
  const changes = {
    ...{ email: person.email ?? identity.email, lastUsedAt: deps.now(), groupIds: plan.groupIds },
    // The next sign-in tries again to take the role.
    isAdminByGroup: isKeptAdmin || plan.isAdminByGroup,
  };
  for (const id of formerIdentityIds) await identities.delete(id, deps.now());
  if (isFirst) await identities.create({ ...identity, ...changes });
  else await identities.update(identity.id, changes);
}

function newIdentity(
  deps: Deps,
  key: Pick<Identity, 'provider' | 'issuer' | 'subject'>,
  { userId, orgId }: SignInPlace,
): Identity {
  const at = deps.now();
  const times = { createdAt: at, lastUsedAt: at };
  return { id: deps.newId('identity'), ...times, ...key, userId, orgId, email: null, isAdminByGroup: false, groupIds: [] };
}

/** The person itself is who changes: the provider vouched for it. */
function toCaller({ userId, orgId, tenantId, role }: SignInPlace, keyId: string): Caller {
  return { keyId, userId, orgId, tenantId, level: 'ORGANIZATION', role, scopes: new Set(scopesOfRole(role)) };
}

function removed(): DomainError {
  return refused('You are no member of the organization any more. Ask an administrator to add you again.');
}

function refused(message: string): DomainError {
  return new DomainError('FORBIDDEN', message);
}
