import { createHash } from 'node:crypto';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { isSession, linkTtlMs } from '../../../entities/people/session.ts';
import type { KnownPassword } from '../../../storage/people/sign-in/passwords.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { getSessions } from './sessions.ts';
import { requireOwnWays } from './ways.ts';

const passwordLength = { least: 12, most: 200 } as const;

/** Attempts count in windows of this length. */
const windowMs = 15 * 60_000;
/** Wrong passwords for one e-mail address, or for one person, in a window. */
const ofPersonMax = 10;
/** Wrong passwords from one network in a window: many people of a company share one. */
const ofNetworkMax = 100;

export interface SetPasswordInput {
  /**
   * The password until now. Needed where there is one, unless the session was begun by a link within the last hour; without it the new one opens the
   * organization of the session only.
   */
  readonly current?: string | null | undefined;
  readonly new: string;
}

/** Whether the caller's user can sign in by a password. */
export async function hasPassword(deps: Deps, caller: Caller): Promise<boolean> {
  return (await deps.storage.people.passwords.find(caller.userId)) !== undefined;
}

/**
 * Sets the password of the caller's user, and ends all other sessions of the user. It opens the organization of the session, and with `current` those that
 * the one until now opened: who has both is the owner, there too.
 *
 * @throws DomainError FORBIDDEN for a key: who has a key of a person is not that person. INVALID_VALUE for a password that is too short or too long, and for
 * a wrong `current`. RATE_LIMIT_EXCEEDED after too many wrong ones.
 */
export async function setPassword(deps: Deps, caller: Caller, input: SetPasswordInput): Promise<void> {
  if (!isSession(caller)) throw new DomainError('FORBIDDEN', 'A password is set in a session: sign in with a browser');
  requireOwnWays(deps);
  const faults = new Faults();
  readPassword('new', input.new, faults);
  faults.throwIfAny();
  const { passwords, sessions } = deps.storage.people;
  const storedHash = await passwords.find(caller.userId);
  const isNeeded = storedHash !== undefined && !(await isFreshFromLink(deps, caller));
  const isGiven = storedHash !== undefined && (isNeeded || typeof input.current === 'string');
  if (isGiven) {
    const attempts = await countAttempts(deps, [[personSubject(caller.userId), ofPersonMax]]);
    if (!(await deps.passwords.verify((input.current ?? '').slice(0, passwordLength.most), storedHash))) {
      throw new DomainError('INVALID_VALUE', 'current is not your password', { param: 'current' });
    }
    await attempts.succeed();
  } else if (storedHash === undefined) await requireFreshSession(deps, caller, 'A first password');
  const hash = await deps.passwords.hash(input.new);
  const at = deps.now();
  await deps.audit.change(caller, async () => {
    const orgIds = new Set([...(isGiven ? await passwords.orgIdsOf(caller.userId) : []), caller.orgId]);
    await passwords.set({ userId: caller.userId, hash, level: caller.level, orgIds: [...orgIds] }, at);
    await sessions.endOthers(caller.userId, caller.keyId, 'REVOKED', at);
    return { id: caller.userId, orgId: caller.orgId };
  });
}

/** Notes a fault of a password that nobody should choose. */
export function readPassword(param: string, password: string, faults: Faults): void {
  const { least, most } = passwordLength;
  const length = [...password.normalize('NFKC')].length;
  if (length >= least && length <= most) return;
  faults.add(param, `${param} must have ${least} to ${most} characters`);
}

/**
 * Finds the users of the e-mail, each of another tenant, who have the password. Unknown and wrong are the same: in their answer and, but for users of several tenants with one e-mail, in the work
 * that they make.
 *
 * @returns the oldest first.
 * @throws DomainError RATE_LIMIT_EXCEEDED after too many wrong passwords for the e-mail, whoever sent them, or from the network.
 */
export async function findByPassword(
  deps: Deps,
  credentials: { readonly email: string; readonly password: string; readonly network: string | undefined },
): Promise<readonly KnownPassword[]> {
  const email = credentials.email.trim().toLowerCase().slice(0, emailMax);
  const password = credentials.password.slice(0, passwordLength.most);
  const attempts = await countSignIn(deps, email, credentials.network);
  const users = await deps.storage.people.passwords.findByEmail(email, usersMax);
  const candidates = users.length === 0 ? [undefined] : users;
  const knownPasswords: KnownPassword[] = [];
  for (const user of candidates)
    if ((await deps.passwords.verify(password, user?.hash)) && user !== undefined) knownPasswords.push(user);
  if (knownPasswords.length > 0) await attempts.succeed();
  return knownPasswords;
}

/**
 * Whether the password is that of a user, by whom it is entered at a sign-in page. Wrong ones count as at a sign-in.
 *
 * @throws DomainError RATE_LIMIT_EXCEEDED as `findByPassword`.
 */
export async function isPasswordCorrect(
  deps: Deps,
  { email, hash }: { readonly email: string; readonly hash: string },
  password: string,
  network: string | undefined,
): Promise<boolean> {
  const attempts = await countSignIn(deps, email, network);
  const isRight = await deps.passwords.verify(password.slice(0, passwordLength.most), hash);
  if (isRight) await attempts.succeed();
  return isRight;
}

/**
 * Whoever has taken over a browser must not make himself at home: a way in is added soon after a sign-in only.
 *
 * @param what  what is added, at the start of a sentence.
 * @throws DomainError FORBIDDEN.
 */
export async function requireFreshSession(deps: Deps, caller: Caller, what: string): Promise<void> {
  const [session] = isSession(caller) ? await getSessions(deps, caller, [caller.keyId]) : [];
  if (session === undefined) throw new DomainError('FORBIDDEN', `${what} is added in a session: sign in with a browser`);
  if (deps.now().getTime() - session.createdAt.getTime() < linkTtlMs) return;
  throw new DomainError('FORBIDDEN', `${what} is added within an hour after a sign-in: sign out, and in again`);
}

/** Counts a network that asks for a challenge: each is a row for some minutes. @throws DomainError RATE_LIMIT_EXCEEDED. */
export async function countPasskeyQuestion(deps: Deps, network: string | undefined): Promise<void> {
  await countAttempts(deps, [[makeSubject('passkey', network ?? ''), questionsMax]], 'Too many sign-ins; wait some minutes');
}

/** Counts a network that registers a client of OAuth: each is a row until nobody has used it for long. @throws DomainError RATE_LIMIT_EXCEEDED. */
export async function countRegistration(deps: Deps, network: string | undefined): Promise<void> {
  const subject = makeSubject('oauth-client', network ?? '');
  await countAttempts(deps, [[subject, registrationsMax]], 'Too many registrations from this network; wait some minutes');
}

const questionsMax = 300;
const registrationsMax = 30;

function countSignIn(deps: Deps, email: string, network: string | undefined): ReturnType<typeof countAttempts> {
  return countAttempts(deps, [
    [makeSubject('email', email), ofPersonMax],
    [makeSubject('network', network ?? ''), ofNetworkMax],
  ]);
}

const emailMax = 320;
/** Users of one e-mail address, each of another tenant. */
const usersMax = 4;

function personSubject(userId: string): string {
  return makeSubject('user', userId);
}

/** What attempts are counted by: no address stands in the table. */
function makeSubject(kind: string, value: string): string {
  return createHash('sha256').update(`${kind} ${value}`).digest('hex');
}

/** @throws DomainError RATE_LIMIT_EXCEEDED */
async function countAttempts(
  {
    storage: {
      people: { attempts },
    },
  }: Deps,
  subjects: readonly (readonly [subject: string, most: number])[],
  message = 'Too many wrong passwords; wait some minutes, or ask an administrator for a sign-in link',
): Promise<{ succeed(): Promise<void> }> {
  for (const [subject, most] of subjects) {
    const { count, leftMs } = await attempts.count(subject, windowMs);
    if (count <= most) continue;
    throw new DomainError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: Math.ceil(leftMs / 1_000) });
  }
  const [first, ...others] = subjects;
  return {
    // A person who remembers the password begins anew. A network keeps the wrong ones: an own account must not clear them.
    succeed: async () => {
      if (first !== undefined) await attempts.clear(first[0]);
      for (const [subject] of others) await attempts.giveBack(subject);
    },
  };
}

async function isFreshFromLink(deps: Deps, caller: Caller): Promise<boolean> {
  const [session] = await getSessions(deps, caller, [caller.keyId]);
  return session?.method === 'LINK' && deps.now().getTime() - session.createdAt.getTime() < linkTtlMs;
}
