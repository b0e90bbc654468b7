import { DomainError } from '../../../entities/ground/errors.ts';
import { hashSecret } from '../../../entities/people/api-key.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { type Browser, beginSession } from './sign-in.ts';

const emailPattern = /^[^\s@,]{1,200}@[^\s@,]{1,200}$/;

/**
 * The caller that a trusted proxy names. It acts in a session of its own, which is listed, ended and audited like those of browsers.
 *
 * @param key  the caller of the request's key: the person must be a member of its organization, and may what both may, but for keys and administration.
 * Undefined for a browser: the person has the rights of its role.
 * @throws DomainError FORBIDDEN for a person who is not known, or a key that may not act for others.
 */
export async function actForUser(deps: Deps, value: string, key: Caller | undefined, browser: Browser): Promise<Caller> {
  const email = value.trim().toLowerCase();
  // Of two headers Node makes one with a comma.
  if (!emailPattern.test(email)) throw refused('The header of the proxy must be one e-mail address');
  const person = key === undefined ? await findPerson(deps, email) : await findMember(deps, email, key);
  if (person.userId === key?.userId) return key;
  if (key !== undefined && key.role !== 'ADMIN') throw refused('Only keys of administrators act for other people');
  const place = { ...person, throughKeyId: key?.keyId ?? null };
  const nowMs = deps.now().getTime();
  const { sessions } = deps.storage.people;
  const hash = await sessions.findTrustedHash(place, deps.now());
  const knownCaller = hash === undefined ? undefined : await sessions.findCaller(hash, nowMs);
  if (knownCaller !== undefined) return knownCaller;
  const { secret } = await beginSession(deps, place, 'PROXY', browser);
  const caller = await sessions.findCaller(hashSecret(secret), deps.now().getTime());
  if (caller === undefined) throw refused('The person or the key has just lost its rights');
  return caller;
}

/** Warns at a start that the settings make the header name nobody. @param deps  of a service whose database has its tenants. */
export async function warnOfTrustedHeader({ storage, settings, logger }: Deps): Promise<void> {
  const { TRUSTED_USER_HEADER: header, TRUSTED_USER_ORGANIZATION: orgId } = settings;
  if (header === undefined) return;
  if (orgId === undefined && (await storage.people.tenancy.hasSeveral())) logger.warn(severalTenants);
  if (orgId !== undefined && (await storage.people.accounts.findOrganizations([orgId])).length === 0)
    logger.warn(`TRUSTED_USER_ORGANIZATION names no organization that is there: ${orgId}`);
}

const severalTenants =
  'there are several tenants: TRUSTED_USER_ORGANIZATION must name the organization that TRUSTED_USER_HEADER speaks for';

interface Person {
  readonly userId: string;
  readonly orgId: string;
}

async function findMember({ storage }: Deps, email: string, { orgId }: Caller): Promise<Person> {
  const [user] = await storage.people.accounts.findMembers(orgId, { ids: [], emails: [email] });
  if (user === undefined) throw refused(`${email} is no member of the organization of this key: add the person there`);
  return { userId: user.id, orgId };
}

/** E-mail addresses are unique in a tenant only: without a word which organization is meant, one of another tenant could catch the person or keep the person out. */
async function findPerson({ storage, settings, logger }: Deps, email: string): Promise<Person> {
  const { TRUSTED_USER_ORGANIZATION: orgId } = settings;
  if (orgId !== undefined) {
    const [user] = await storage.people.accounts.findMembers(orgId, { ids: [], emails: [email] });
    if (user === undefined)
      throw refused(`${email} is no member of the organization of this proxy: an administrator must add the person`);
    return { userId: user.id, orgId };
  }
  if (await storage.people.tenancy.hasSeveral()) {
    logger.warn(severalTenants);
    throw refused('An administrator must set TRUSTED_USER_ORGANIZATION before the header of the proxy counts here');
  }
  const [first, second] = await storage.people.identities.membershipsOfEmail(email, 2);
  if (first === undefined) throw refused(`${email} is no member of an organization: an administrator must add the person`);
  if (second !== undefined) throw refused(`${email} is a member of several organizations: sign in at /sign-in, or use a key`);
  return first;
}

function refused(message: string): DomainError {
  return new DomainError('FORBIDDEN', message);
}
