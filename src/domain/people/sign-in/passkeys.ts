import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import { hashSecret } from '../../../entities/people/api-key.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Passkey } from '../../../entities/people/passkey.ts';
import { makeSignInSecret } from '../../../entities/people/session.ts';
import { isObject } from '../../../lib/json/json.ts';
import { isLoopback } from '../../../lib/settings/loopback.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { missing, nameLengthMax } from '../administration.ts';
import { countPasskeyQuestion, requireFreshSession } from './passwords.ts';
import { type Browser, beginSession, findPlace, type SignedIn } from './sign-in.ts';
import { requireOwnWays } from './ways.ts';

/** With the parsers of certificates it is a seventh of all modules of a start, so the first passkey loads it. */
const loadWebauthn = () => import('@simplewebauthn/server');

const challengeTtlMs = 300_000;
const ofUserMax = 20;
const responseCharsMax = 20_000;

/** The name that passkeys are bound to, and the origin of the pages that may use them. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/**
 * From PUBLIC_URL alone: the header Host is the visitor's to write. Browsers take passkeys over TLS and from localhost, and none for an address in
 * numbers: a service on a loopback address is `localhost` for them.
 *
 * @returns undefined where passkeys cannot work.
 */
export function toRelyingParty({ publicUrl }: Pick<Deps, 'publicUrl'>): RelyingParty | undefined {
  const { protocol, hostname, port, origin } = new URL(publicUrl());
  if (isLoopback(hostname)) {
    return { id: 'localhost', origin: `${protocol}//localhost${port === '' ? '' : `:${port}`}` };
  }
  if (protocol !== 'https:' || /^[\d.]+$|^\[/.test(hostname)) return undefined;
  return { id: hostname, origin };
}

/**
 * What the browser hands to the person's device, as JSON for `PublicKeyCredential.parseCreationOptionsFromJSON`. It can be answered once, within five
 * minutes.
 *
 * @throws DomainError FORBIDDEN for a key, and in a session that is older than an hour; CONFLICT with 20 passkeys, and where passkeys cannot work.
 */
export async function beginPasskey(deps: Deps, caller: Caller): Promise<string> {
  const party = requireParty(deps);
  await requireFreshSession(deps, caller, 'A passkey');
  const { passkeys, accounts } = deps.storage.people;
  const knownCredentialIds = await passkeys.credentialIdsOf(caller.userId);
  if (knownCredentialIds.length >= ofUserMax)
    throw new DomainError('CONFLICT', `A person has at most ${ofUserMax} passkeys; delete one first`);
  const [user] = await accounts.findUsers([caller.userId]);
  const challenge = makeSignInSecret();
  const { generateRegistrationOptions } = await loadWebauthn();
  const options = await generateRegistrationOptions({
    rpName: 'Parley',
    rpID: party.id,
    userName: user?.email ?? caller.userId,
    userDisplayName: user?.name ?? '',
    userID: new TextEncoder().encode(caller.userId),
    challenge: Buffer.from(challenge, 'base64url'),
    timeout: challengeTtlMs,
    attestationType: 'none',
    excludeCredentials: knownCredentialIds.map((id) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  await deps.audit.change(caller, async () => {
    await passkeys.addChallenge(newChallenge(deps, challenge, caller.userId));
    return { id: caller.userId, orgId: caller.orgId };
  });
  return JSON.stringify(options);
}

/**
 * Stores the passkey that a device has made for `beginPasskey`.
 *
 * @param input.response  JSON of the credential (`toJSON`).
 * @throws DomainError as `beginPasskey`; INVALID_VALUE for an answer that is not of this service, this person and a challenge that is open.
 */
export async function addPasskey(
  deps: Deps,
  caller: Caller,
  input: { readonly name: string; readonly response: string },
): Promise<Passkey> {
  const party = requireParty(deps);
  await requireFreshSession(deps, caller, 'A passkey');
  const name = readName(input.name);
  const { passkeys } = deps.storage.people;
  if ((await passkeys.count(caller.userId)) >= ofUserMax) {
    throw new DomainError('CONFLICT', `A person has at most ${ofUserMax} passkeys; delete one first`);
  }
  const response = readCredential<RegistrationResponseJSON>(input.response, refusedRegistration);
  const { verifyRegistrationResponse } = await loadWebauthn();
  const { registrationInfo } = await settle(refusedRegistration, async () => {
    await refuseCertificates(response);
    return verifyRegistrationResponse({
      response,
      expectedChallenge: (challenge) => passkeys.takeChallenge(hashSecret(challenge), caller.userId, deps.now()),
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
    });
  });
  if (registrationInfo === undefined) throw refusedRegistration();
  const { credential, credentialBackedUp } = registrationInfo;
  return deps.audit.change(caller, () =>
    passkeys.create({
      ...{ id: deps.newId('passkey'), createdAt: deps.now(), userId: caller.userId, name, lastUsedAt: null },
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: (credential.transports ?? [])
        .slice(0, transportsMax)
        .map((transport) => String(transport).slice(0, transportCharsMax)),
      isBackedUp: credentialBackedUp,
      level: caller.level,
      orgIds: [caller.orgId],
    }),
  );
}

const transportsMax = 10;
const transportCharsMax = 20;

/** The caller's own passkeys, newest first. */
export function listPasskeys(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<Passkey>> {
  return deps.storage.people.passkeys.list(caller.userId, page);
}

/** The caller's own passkeys among `ids`, in any order. */
export function getPasskeys(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Passkey[]> {
  return deps.storage.people.passkeys.findMany(ids, caller.userId);
}

/** @throws DomainError NOT_FOUND for one that is not the caller's own; INVALID_VALUE. */
export async function renamePasskey(deps: Deps, caller: Caller, id: string, nameText: string): Promise<Passkey> {
  const name = readName(nameText);
  return deps.audit.change(caller, async () => {
    const renamedPasskey = await deps.storage.people.passkeys.rename(id, caller.userId, name);
    if (renamedPasskey === undefined) throw missing('passkey', 'id');
    return renamedPasskey;
  });
}

/** The device signs nobody in any more. Sessions go on. @throws DomainError NOT_FOUND for one that is not the caller's own. */
export async function deletePasskey(deps: Deps, caller: Caller, id: string): Promise<Passkey> {
  return deps.audit.change(caller, async () => {
    const deletedPasskey = await deps.storage.people.passkeys.delete(id, caller.userId);
    if (deletedPasskey === undefined) throw missing('passkey', 'id');
    return deletedPasskey;
  });
}

/**
 * What the browser hands to a device at a sign-in. It names nobody: the device says who it is.
 *
 * @throws DomainError RATE_LIMIT_EXCEEDED for a network that asks too often; CONFLICT where passkeys cannot work.
 */
export async function beginPasskeySignIn(deps: Deps, network: string | undefined): Promise<object> {
  const party = requireParty(deps);
  await countPasskeyQuestion(deps, network);
  const challenge = makeSignInSecret();
  await deps.storage.people.passkeys.addChallenge(newChallenge(deps, challenge, null));
  const { generateAuthenticationOptions } = await loadWebauthn();
  return generateAuthenticationOptions({
    rpID: party.id,
    challenge: Buffer.from(challenge, 'base64url'),
    timeout: challengeTtlMs,
    userVerification: 'required',
  });
}

/** @throws DomainError INVALID_VALUE for an answer that is not accepted: the same for all reasons. */
export async function signInByPasskey(deps: Deps, passkeyResponse: unknown, browser: Browser): Promise<SignedIn> {
  const party = requireParty(deps);
  const { passkeys, ways } = deps.storage.people;
  const response = readCredential<AuthenticationResponseJSON>(JSON.stringify(passkeyResponse ?? null), refusedPasskey);
  const passkey = await passkeys.findByCredential(response.id);
  if (passkey === undefined || readHandle(response) !== passkey.userId) throw refusedPasskey();
  const { verifyAuthenticationResponse } = await loadWebauthn();
  const { verified: isVerified, authenticationInfo } = await settle(refusedPasskey, () =>
    verifyAuthenticationResponse({
      response,
      expectedChallenge: (challenge) => passkeys.takeChallenge(hashSecret(challenge), null, deps.now()),
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        counter: passkey.counter,
      },
      requireUserVerification: true,
    }),
  );
  const orgId = await findPlace(deps, passkey, browser);
  if (!isVerified || orgId === undefined) throw refusedPasskey();
  const { id: passkeyId, userId, level: wayLevel } = passkey;
  return beginSession(deps, { userId, orgId, wayLevel, passkeyId }, 'PASSKEY', browser, async () => {
    if (!(await passkeys.noteUse(passkeyId, authenticationInfo.newCounter, deps.now()))) throw refusedPasskey();
    await ways.confirm({ passkeyId }, orgId);
  });
}

function newChallenge(deps: Deps, challenge: string, userId: string | null) {
  return { hash: hashSecret(challenge), userId, expiresAt: new Date(deps.now().getTime() + challengeTtlMs) };
}

function requireParty(deps: Deps): RelyingParty {
  requireOwnWays(deps);
  const party = toRelyingParty(deps);
  if (party !== undefined) return party;
  throw new DomainError('CONFLICT', 'Passkeys need a PUBLIC_URL that begins with https:// and has a host name');
}

function readName(nameText: string): string {
  const faults = new Faults();
  faults.requireName('name', nameText, nameLengthMax);
  faults.throwIfAny();
  return nameText.trim();
}

/** What a browser sent, as far as it must be known before the library reads it. */
function readCredential<T>(text: string, refusal: () => DomainError): T {
  if (text.length > responseCharsMax) throw refusal();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refusal();
  }
  if (!isObject(value) || typeof value.id !== 'string' || !isObject(value.response)) throw refusal();
  return value as T;
}

/** Certificates of makers are not asked for. The library would follow addresses in them to lists of revoked ones. */
async function refuseCertificates({ response }: RegistrationResponseJSON): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(response.attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  if (format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)) return;
  throw refusedRegistration();
}

function readHandle({ response }: AuthenticationResponseJSON): string {
  return Buffer.from(String(response.userHandle ?? ''), 'base64url').toString();
}

/** The library throws an Error for each thing that is not as it must be. A failure of the database stays one. */
async function settle<T>(refusal: () => DomainError, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw refusal();
  }
}

function refusedRegistration(): DomainError {
  return new DomainError('INVALID_VALUE', 'This passkey was not accepted; try again', { param: 'response' });
}

function refusedPasskey(): DomainError {
  return new DomainError('INVALID_VALUE', 'This passkey is unknown or was not accepted; try again', { param: 'passkey' });
}
