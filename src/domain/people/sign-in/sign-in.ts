import { DomainError } from '../../../entities/ground/errors.ts';
import { hashSecret } from '../../../entities/people/api-key.ts';
import { type AccessLevel, type Caller, type MemberRole, scopesOfSession } from '../../../entities/people/caller.ts';
import {
  isSession,
  isSignInSecret,
  makeSignInSecret,
  newSignInLink,
  type SignInMethod,
  signInPath,
} from '../../../entities/people/session.ts';
import type { LinkedPerson } from '../../../storage/people/sign-in/links.ts';
import type { NewSession } from '../../../storage/people/sign-in/sessions.ts';
import type { Deps } from '../../deps.ts';
import { adminReachIfAny, mayChange } from '../../ground/access/access.ts';
import { performOperation } from '../../ground/audit/operation.ts';
import type { CallOrigin } from '../../ground/audit/origin.ts';
import { Faults } from '../../ground/faults.ts';
import { administeredOrganization, missing, operatorRefused, readEmail } from '../administration.ts';
import { findByPassword } from './passwords.ts';
import { authenticateSession } from './sessions.ts';
import { requireOwnWays } from './ways.ts';

/** A browser that signs in. */
export interface Browser extends CallOrigin {
  /** What it calls itself. */
  readonly userAgent: string | undefined;
  readonly network: string | undefined;
  /** The secret of the session that it has; that session ends. */
  readonly sessionSecret: string | undefined;
}

export interface SignedIn {
  /** The secret of the new session, which only the browser gets. */
  readonly secret: string;
}

const userAgentMax = 300;
const dayMs = 86_400_000;
const keptDays = 30;
const sweepEveryMs = 3_600_000;

/** @throws DomainError INVALID_VALUE for a link that is unknown, used or expired: the answer is the same. */
export async function signInByLink(deps: Deps, secret: string, browser: Browser): Promise<SignedIn> {
  const link = isSignInSecret(secret) ? await deps.storage.people.signInLinks.find(hashSecret(secret), deps.now()) : undefined;
  if (link === undefined || !(await isStillGiven(deps, link))) throw refusedLink();
  return beginSession(deps, { userId: link.userId, orgId: link.orgId, wayLevel: link.level }, 'LINK', browser, async () => {
    if (!(await deps.storage.people.signInLinks.use(link.id, deps.now()))) throw refusedLink();
  });
}

/** @throws DomainError INVALID_VALUE when the e-mail or the password is wrong: the answer is the same. RATE_LIMIT_EXCEEDED as `findByPassword`. */
export async function signInByPassword(
  deps: Deps,
  credentials: { readonly email: string; readonly password: string },
  browser: Browser,
): Promise<SignedIn> {
  requireOwnWays(deps);
  for (const knownPassword of await findByPassword(deps, { ...credentials, network: browser.network })) {
    const { userId, level: wayLevel } = knownPassword;
    const orgId = await findPlace(deps, knownPassword, browser);
    // Somebody may have made an account of another tenant with the same password, which opens nothing now.
    if (orgId === undefined) continue;
    return beginSession(deps, { userId, orgId, wayLevel }, 'PASSWORD', browser, () =>
      deps.storage.people.ways.confirm({ passwordOf: userId }, orgId),
    );
  }
  throw refusedPassword();
}

/**
 * Where a password or a passkey leads. A browser in which its person is signed in already stays in the organization of that session, which the caller then
 * confirms for the way: whoever has both is the owner. Else it opens only organizations in which it was made or confirmed.
 */
export async function findPlace(
  deps: Deps,
  { userId, orgIds }: { readonly userId: string; readonly orgIds: readonly string[] },
  browser: Browser,
): Promise<string | undefined> {
  const former = await findCaller(deps, browser);
  return former?.userId === userId ? former.orgId : deps.storage.people.ways.findPlace(userId, orgIds);
}

/** Ends the session of the browser. Its open streams end within five seconds; runs that the person began go on. */
export async function signOut(deps: Deps, browser: Browser): Promise<void> {
  const caller = await findCaller(deps, browser);
  if (caller === undefined) return;
  await performOperation({ deps, caller, ...toOrigin(browser) }, 'Page.signOut', [], (auditedCaller) =>
    deps.audit.change(auditedCaller, async () => {
      await deps.storage.people.sessions.end(caller.keyId, 'SIGNED_OUT', deps.now());
      return { id: caller.keyId, orgId: caller.orgId };
    }),
  );
}

/** Whether the browser has a session. */
export async function isSignedIn(deps: Deps, sessionSecret: string | undefined): Promise<boolean> {
  return (await findCaller(deps, { sessionSecret })) !== undefined;
}

export interface SignInLinkInput {
  /** Default: the caller's user. */
  readonly email?: string | null | undefined;
  /** Default: the caller's. */
  readonly orgId?: string | null | undefined;
}
export interface SignInLink {
  readonly url: string;
  readonly expiresAt: Date;
  readonly userId: string;
  readonly orgId: string;
}

/**
 * Makes a link that signs a member in, once and within an hour, with all rights of the member's role. It is for who has lost every other way in; it must
 * reach that person and nobody else.
 *
 * @throws DomainError FORBIDDEN for a caller who does not administer the organization; for a key without all scopes of the role; for a user of several
 * organizations, unless the key is above them; for an operator, unless the key is of level INSTANCE; and in a session for its own user. NOT_FOUND for an organization or a person out of reach; INVALID_VALUE.
 */
export async function createSignInLink(deps: Deps, caller: Caller, input: SignInLinkInput): Promise<SignInLink> {
  const organization = await administeredOrganization(deps, caller, input.orgId);
  const faults = new Faults();
  const email = typeof input.email === 'string' ? readEmail(input.email, faults) : undefined;
  faults.throwIfAny();
  const { accounts, signInLinks } = deps.storage.people;
  const [namedUser] = email === undefined ? [] : await accounts.findUsersByEmail(organization.tenantId, [email]);
  const userId = email === undefined ? caller.userId : namedUser?.id;
  const role = userId === undefined ? undefined : await accounts.findRole(organization.id, userId);
  if (userId === undefined || role === undefined) throw missing('member', 'email');
  if (userId === caller.userId && isSession(caller)) {
    throw new DomainError('FORBIDDEN', 'A session makes no link for its own user: sign in again, or use a key');
  }
  const isOperator = await deps.storage.people.operators.isOperator(userId);
  const obstacle = await findObstacle(deps, caller, { userId, orgId: organization.id, role, isOperator });
  if (obstacle !== undefined) throw obstacle;
  const maker = { level: caller.level, createdByUserId: caller.userId, createdByKeyId: caller.keyId };
  const place = { userId, orgId: organization.id, ...maker };
  const { link, secret } = newSignInLink({ id: deps.newId('signInLink'), createdAt: deps.now(), ...place });
  return deps.audit.change(caller, async () => {
    await signInLinks.create(link);
    // The entry names the person: a link is nothing that can be looked up.
    const { expiresAt, orgId } = link;
    return { id: userId, url: `${deps.publicUrl()}${signInPath(secret)}`, expiresAt, userId, orgId };
  });
}

interface LinkedMember {
  readonly userId: string;
  readonly orgId: string;
  readonly role: MemberRole;
  /** Whether the link reaches the installation. */
  readonly isOperator: boolean;
}

/** Why a caller gives a member no link. */
async function findObstacle(
  { storage }: Deps,
  caller: Caller,
  { userId, orgId, role, isOperator }: LinkedMember,
): Promise<DomainError | undefined> {
  if (isOperator && caller.level !== 'INSTANCE') return operatorRefused('gets a sign-in link');
  const surplus = scopesOfSession(role, isOperator ? 'INSTANCE' : 'ORGANIZATION').filter((scope) => !caller.scopes.has(scope));
  if (surplus.length > 0) {
    return new DomainError('FORBIDDEN', `Whoever signs in has scopes that this key lacks: ${surplus.join(', ')}`);
  }
  if (caller.level === 'ORGANIZATION' && (await storage.people.users.isMemberElsewhere(userId, orgId))) {
    return new DomainError('FORBIDDEN', 'The user is a member of other organizations too: this needs a key of level TENANT');
  }
  return undefined;
}

/** Whether who made a link may make it now. Links that nobody made, of a first start, are given for good. */
async function isStillGiven(
  deps: Deps,
  { userId, orgId, level, createdByUserId, createdByKeyId }: LinkedPerson,
): Promise<boolean> {
  if (createdByUserId === null) return true;
  const { accounts, apiKeys, operators, organizations } = deps.storage.people;
  const creator = { userId: createdByUserId, keyId: createdByKeyId, orgId, level };
  const maker = await apiKeys.findMaker(creator, deps.now().getTime());
  const reach = maker === undefined ? undefined : adminReachIfAny(maker);
  if (maker === undefined || reach === undefined || !mayChange(maker)) return false;
  const [organization, role] = await Promise.all([organizations.find(orgId, reach), accounts.findRole(orgId, userId)]);
  if (organization === undefined || role === undefined) return false;
  // A link from before its person became an operator begins a session of the organization.
  const isOperator = level === 'INSTANCE' && (await operators.isOperator(userId));
  return (await findObstacle(deps, maker, { userId, orgId, role, isOperator })) === undefined;
}

/** Registers the job that deletes old sessions and links. Ended sessions are kept for a while: runs ask how their session ended. */
export function registerSignInSweep({ jobs, storage, now }: Deps): void {
  jobs.lead('sign-in.sweep', sweepEveryMs, async () => {
    const before = new Date(now().getTime() - keptDays * dayMs);
    await storage.people.sessions.sweep(before);
    await storage.people.signInLinks.sweep(before);
    await storage.people.invitations.sweep(before);
    await storage.people.passkeys.sweep(now());
    await storage.people.attempts.sweep();
  });
}

/** Who signs in, and where. */
export interface SignedInPerson
  extends Pick<NewSession, 'userId' | 'orgId' | 'identityId' | 'providerSessionHash' | 'throughKeyId' | 'passkeyId'> {
  /** The id that the session gets, where it is known before. */
  readonly sessionId?: string;
  /** The level of what the person signs in by. Absent: what others vouch for (providers, proxies, invitations) never reaches the installation. */
  readonly wayLevel?: AccessLevel;
}

/**
 * Begins a session, always with a new secret, in one transaction with its entry in the audit log. The session that the browser had ends.
 *
 * @param confirm  the last check, in the transaction.
 */
export async function beginSession(
  deps: Deps,
  { userId, orgId, sessionId, wayLevel, ...sessionOrigin }: SignedInPerson,
  method: SignInMethod,
  browser: Browser,
  confirm?: () => Promise<void>,
): Promise<SignedIn> {
  const [role, isOperator, [organization], former] = await Promise.all([
    deps.storage.people.accounts.findRole(orgId, userId),
    wayLevel === 'INSTANCE' && deps.storage.people.operators.isOperator(userId),
    deps.storage.people.accounts.findOrganizations([orgId]),
    findCaller(deps, browser),
  ]);
  if (role === undefined || organization === undefined) throw method === 'PASSWORD' ? refusedPassword() : refusedLink();
  const { tenantId } = organization;
  const keyId = sessionId ?? deps.newId('session');
  const level: AccessLevel = isOperator ? 'INSTANCE' : 'ORGANIZATION';
  const caller: Caller = { keyId, userId, orgId, tenantId, level, role, scopes: new Set(scopesOfSession(role, level)) };
  const secret = makeSignInSecret();
  const createdAt = deps.now();
  const session = {
    ...{ id: keyId, hash: hashSecret(secret), createdAt, userId, orgId, method, level },
    expiresAt: new Date(createdAt.getTime() + deps.settings.SESSION_DAYS * dayMs),
    userAgent: browser.userAgent?.slice(0, userAgentMax) ?? null,
    network: browser.network ?? null,
    ...sessionOrigin,
  };
  await performOperation(
    { deps, caller, ...toOrigin(browser) },
    'Page.signIn',
    typeof sessionOrigin.throughKeyId === 'string' ? [sessionOrigin.throughKeyId] : [],
    (auditedCaller) =>
      deps.audit.change(auditedCaller, async () => {
        await confirm?.();
        if (former !== undefined) await deps.storage.people.sessions.end(former.keyId, 'REPLACED', createdAt);
        return deps.storage.people.sessions.create(session);
      }),
  );
  return { secret };
}

/** Whose session the browser has. */
export async function findCaller(deps: Deps, { sessionSecret }: Pick<Browser, 'sessionSecret'>): Promise<Caller | undefined> {
  return sessionSecret === undefined ? undefined : authenticateSession(deps, sessionSecret);
}

export function toOrigin({ requestId, address }: Browser): CallOrigin {
  return { requestId, address };
}

function refusedPassword(): DomainError {
  return new DomainError('INVALID_VALUE', 'The e-mail address or the password is wrong', { param: 'password' });
}

function refusedLink(): DomainError {
  return new DomainError('INVALID_VALUE', 'This link is unknown, was used before, or is older than an hour. Ask for another.', {
    param: 'link',
  });
}
