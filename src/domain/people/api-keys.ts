import { DomainError } from '../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../entities/ground/page.ts';
import { type ApiKey, hashSecret, isWellFormedKey, keyPrefix, makeKeySecret } from '../../entities/people/api-key.ts';
import { type AccessLevel, type Caller, keyScopes, type Scope } from '../../entities/people/caller.ts';
import { isSession } from '../../entities/people/session.ts';
import type { Deps } from '../deps.ts';
import { canAdminister, isAdministrator, levelsAbove, levelsWithin } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';
import { administeredAmong } from './administration.ts';

/**
 * The caller of a key; undefined for a key that is unknown, revoked or expired, or whose user left its organization.
 *
 * A cached key is answered without a statement or a promise. Signals drop entries (`key-changed`, `user-changed`,
 * `organization-changed`; all entries after a gap); while the signal feed is not healthy no entry is older than one second. So a
 * revocation reaches every instance within a second. Unknown keys are cached too, in bounded number. Notes the use of the key.
 */
export function authenticateKey(deps: Deps, secret: string): Caller | undefined | Promise<Caller | undefined> {
  // An operator's own key may look like a generated one without a valid checksum.
  if (!isWellFormedKey(secret) && secret !== deps.settings.PARLEY_ADMIN_KEY) return undefined;
  const nowMs = deps.now().getTime();
  const foundCaller = deps.storage.people.apiKeys.findCaller(hashSecret(secret), nowMs);
  return foundCaller instanceof Promise
    ? foundCaller.then((caller) => noted(deps, caller, nowMs))
    : noted(deps, foundCaller, nowMs);
}

/** Whether the key is cached, without a statement. */
export function isFamiliarKey(deps: Deps, secret: string): boolean {
  return deps.storage.people.apiKeys.isFamiliar(hashSecret(secret));
}

function noted(deps: Deps, caller: Caller | undefined, nowMs: number): Caller | undefined {
  if (caller !== undefined) deps.storage.people.apiKeys.noteUse(caller.keyId, nowMs);
  return caller;
}

/**
 * For streams, which outlast authentication: calls `onKeyRevoked` once, within 5 seconds after the caller's key was revoked or expired, or its user
 * left the organization, on any instance.
 *
 * @returns a function that stops watching; call it when the stream ends.
 */
export function watchKey(deps: Deps, caller: Caller, onKeyRevoked: () => void): () => void {
  return deps.storage.people.apiKeys.watch(caller.keyId, onKeyRevoked);
}

/**
 * For streams that go on showing what the caller may see: calls `onEnd` once with the reason, within 5 seconds after its key ended as by `watchKey`, or its
 * role changed.
 *
 * @returns a function that stops watching.
 */
export function watchRights(deps: Deps, caller: Caller, onEnd: (reason: DomainError) => void): () => void {
  const { keyId, role } = caller;
  const stops = [
    watchKey(deps, caller, () => onEnd(keyEnded())),
    deps.storage.people.apiKeys.watchRole(keyId, role, () =>
      onEnd(new DomainError('RIGHTS_CHANGED', 'The role of the caller has changed: subscribe again')),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Like `watchKey`, for requests, without expiry: an expired key may still receive the result of a request it made before. */
export function watchRevocation(deps: Deps, caller: Caller, onKeyRevoked: () => void): () => void {
  return deps.storage.people.apiKeys.watchRevocation(caller.keyId, onKeyRevoked);
}

export interface CreateApiKeyInput {
  readonly name: string;
  /** As in entities/people/caller.ts: `CHATS:WRITE`. */
  readonly scopes: readonly string[];
  readonly orgId?: string | null | undefined;
  readonly userId?: string | null | undefined;
  readonly level?: AccessLevel | null | undefined;
  readonly expiresAt?: Date | null | undefined;
}
/** A key with its secret, which only the reply to its creation contains. */
export type CreatedApiKey = ApiKey & { readonly key: string };

const nameLengthMax = 200;
/** More than there are scopes, so that a list with repetitions is accepted. */
const scopesMax = 100;

/**
 * Makes a key for the caller, or for another user and organization within its reach. A key never exceeds its maker in scopes,
 * level, reach or lifetime. Whoever makes a key for another user can act as that user: this needs ADMIN:WRITE besides the scope of
 * the operation, the key names its maker, and the audit log records both.
 *
 * @throws DomainError EMPTY_ARRAY, INVALID_VALUE for the input; FORBIDDEN for a key that exceeds the caller; INSUFFICIENT_SCOPE for
 * a key of another user without ADMIN:WRITE; NOT_FOUND for an organization or a user out of reach.
 */
export async function createApiKey(deps: Deps, caller: Caller, input: CreateApiKeyInput): Promise<CreatedApiKey> {
  const faults = new Faults();
  faults.requireName('name', input.name, nameLengthMax);
  const scopes = readScopes(input.scopes, faults);
  faults.throwIfAny();
  const level = input.level ?? 'ORGANIZATION';
  if (scopes.includes('SCIM:WRITE')) requireScimKey(caller, scopes, level);
  else requireWithinMaker(caller, scopes, level);
  const owner = await resolveOwner(deps, caller, input);
  const now = deps.now();
  const expiresAt = await resolveExpiry(deps, caller, input.expiresAt ?? null, now);
  const secret = makeKeySecret();
  const row = {
    id: deps.newId('apiKey'),
    createdAt: now,
    ...owner,
    name: input.name.trim(),
    scopes,
    level,
    prefix: keyPrefix(secret),
    hash: hashSecret(secret),
    expiresAt,
    createdByUserId: caller.userId,
    createdByKeyId: caller.keyId,
  };
  const createdKey = await deps.audit.change(caller, () => deps.storage.people.apiKeys.create(row));
  return { ...createdKey, key: secret };
}

/**
 * Keys of one organization, newest first: the caller's own; for administrators those of a given user, or of all users when only
 * `orgId` is given. Keys above the caller's level are shown too: administrators should see every key of their organization.
 *
 * @throws DomainError FORBIDDEN for other users' keys without the right; NOT_FOUND for an organization out of reach.
 */
export async function listApiKeys(
  deps: Deps,
  caller: Caller,
  filter: { readonly orgId?: string | null | undefined; readonly userId?: string | null | undefined },
  page: PageRequest,
): Promise<Page<ApiKey>> {
  const orgId = filter.orgId ?? caller.orgId;
  const mayAdminister = await administers(deps, caller, orgId);
  const everybody = mayAdminister && typeof filter.orgId === 'string';
  const userId = filter.userId ?? (everybody ? undefined : caller.userId);
  if (userId !== caller.userId && !mayAdminister) {
    throw new DomainError('FORBIDDEN', 'Only administrators may list the keys of others', { param: 'userId' });
  }
  return deps.storage.people.apiKeys.list({ orgId, userId }, page);
}

/**
 * The keys among `ids` that the caller may see, in any order, also revoked ones: its own in this organization, and those of organizations that it
 * administers.
 */
export async function getApiKeys(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly ApiKey[]> {
  const keys = await deps.storage.people.apiKeys.findMany(ids);
  const foreign = keys.filter((key) => !isOwnKey(caller, key));
  const administeredOrgIds = await administeredAmong(
    deps,
    caller,
    foreign.map(({ orgId }) => orgId),
  );
  return keys.filter((key) => isOwnKey(caller, key) || administeredOrgIds.has(key.orgId));
}

/**
 * Why each of some keys opens nothing, although nobody revoked it and its time may not be over: a sentence; null for keys that work, expired and revoked ones.
 *
 * Cost: two statements, and for each key that was made for another person those of its maker.
 */
export async function findInactiveReasons(deps: Deps, keys: readonly ApiKey[]): Promise<readonly (string | null)[]> {
  const activeKeyIds = keys.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id);
  const living = activeKeyIds.length === 0 ? new Set() : await deps.storage.people.apiKeys.living(activeKeyIds);
  return keys.map(({ id, revokedAt }) => (revokedAt !== null || living.has(id) ? null : inactive));
}

const inactive =
  'Its user has left the organization since it was made, or who made it for its user may not make it any more, or the key that it was made with has ended';

function isOwnKey(caller: Caller, key: ApiKey): boolean {
  return key.orgId === caller.orgId && key.userId === caller.userId;
}

/**
 * Revokes a key. After a second no instance accepts it. Within five seconds its open streams and waiting requests end, and its
 * background runs fail with INVALID_API_KEY.
 *
 * @throws DomainError NOT_FOUND for a key that is neither the caller's own nor within its administration, or is revoked already;
 * FORBIDDEN for a key above the caller's level, unless it acts as the caller's user and another user made it.
 */
export async function revokeApiKey(deps: Deps, caller: Caller, id: string): Promise<ApiKey> {
  const key = await deps.storage.people.apiKeys.find(id);
  if (key === undefined || !(await seesKey(deps, caller, key))) throw missingKey();
  if (!mayRevoke(caller, key)) {
    throw new DomainError('FORBIDDEN', `A key of level ${caller.level} cannot revoke one of level ${key.level}`, {
      param: 'keyId',
    });
  }
  const revokedAt = deps.now();
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.people.apiKeys.revoke(id, revokedAt))) throw missingKey();
    return { ...key, revokedAt };
  });
}

async function seesKey(deps: Deps, caller: Caller, key: ApiKey): Promise<boolean> {
  if (isOwnKey(caller, key)) return true;
  const [organization] = await deps.storage.people.accounts.findOrganizations([key.orgId]);
  return organization !== undefined && canAdminister(caller, organization);
}

/** For keys that the caller may see. A user may revoke any key that another user made to act as that user, whatever its level. */
function mayRevoke(caller: Caller, key: ApiKey): boolean {
  const isLent = key.createdByUserId !== null && key.createdByUserId !== key.userId;
  return levelsWithin(caller).includes(key.level) || (key.userId === caller.userId && isLent);
}

/** Whether the caller may read the e-mail of a key's user: its own e-mail, or any with ADMIN:READ. */
export function seesKeyEmail(caller: Caller, key: ApiKey): boolean {
  return key.userId === caller.userId || caller.scopes.has('ADMIN:READ');
}

function missingKey(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such API key', { param: 'keyId' });
}

function readScopes(texts: readonly string[], faults: Faults): readonly Scope[] {
  if (texts.length === 0) faults.add('scopes', 'scopes must name at least one scope', 'EMPTY_ARRAY');
  faults.requireCount('scopes', texts, scopesMax);
  for (const [index, text] of texts.slice(0, scopesMax).entries()) {
    faults.requireOneOf(`scopes[${index}]`, text, keyScopes);
  }
  return [...new Set(texts.filter(isScope))];
}

function isScope(text: string): text is Scope {
  return (keyScopes as readonly string[]).includes(text);
}

/**
 * A key of an identity provider makes administrators, so only administrators make one. It has no other scope: whoever has got it reads nothing but people
 * and groups.
 */
function requireScimKey(caller: Caller, scopes: readonly Scope[], level: AccessLevel): void {
  if (scopes.length > 1) {
    throw new DomainError('INVALID_VALUE', 'A key with the scope SCIM:WRITE has no other scope', { param: 'scopes' });
  }
  if (level !== 'ORGANIZATION') {
    throw new DomainError('INVALID_VALUE', 'A key with the scope SCIM:WRITE has the level ORGANIZATION', { param: 'level' });
  }
  if (!isAdministrator(caller, caller.orgId) || !caller.scopes.has('ADMIN:WRITE')) {
    throw new DomainError('FORBIDDEN', 'Only administrators with the scope ADMIN:WRITE make keys with the scope SCIM:WRITE', {
      param: 'scopes',
    });
  }
}

function requireWithinMaker(caller: Caller, scopes: readonly Scope[], level: AccessLevel): void {
  const surplus = scopes.filter((scope) => !caller.scopes.has(scope));
  if (surplus.length > 0) {
    throw new DomainError('FORBIDDEN', `A key cannot carry scopes that its maker lacks: ${surplus.join(', ')}`, {
      param: 'scopes',
    });
  }
  if (level !== 'ORGANIZATION' && isSession(caller)) {
    throw new DomainError('FORBIDDEN', 'A session makes keys of its organization only: use a key, or the command line', {
      param: 'level',
    });
  }
  if (levelsAbove(caller).includes(level)) {
    throw new DomainError('FORBIDDEN', `A key of level ${caller.level} cannot make one of level ${level}`, { param: 'level' });
  }
}

/** The user and the organization of a new key. */
async function resolveOwner(
  deps: Deps,
  caller: Caller,
  input: CreateApiKeyInput,
): Promise<{ readonly orgId: string; readonly userId: string }> {
  const orgId = input.orgId ?? caller.orgId;
  const userId = input.userId ?? caller.userId;
  const mayAdminister = await administers(deps, caller, orgId);
  if (userId !== caller.userId && !mayAdminister) {
    throw new DomainError('FORBIDDEN', 'Only administrators may make keys for others', { param: 'userId' });
  }
  if (userId !== caller.userId && !caller.scopes.has('ADMIN:WRITE')) {
    throw new DomainError('INSUFFICIENT_SCOPE', 'Making a key that acts as another user needs a key with the scope ADMIN:WRITE', {
      param: 'userId',
    });
  }
  if ((await deps.storage.people.accounts.findRole(orgId, userId)) === undefined) {
    throw new DomainError('NOT_FOUND', 'There is no such user in this organization', { param: 'userId' });
  }
  return { orgId, userId };
}

/**
 * Whether the caller administers an organization: its own, or another within its reach.
 *
 * @throws DomainError FORBIDDEN for any other organization of an ORGANIZATION key, existing or not; NOT_FOUND for one out of reach
 * of a TENANT or INSTANCE key.
 */
async function administers(deps: Deps, caller: Caller, orgId: string): Promise<boolean> {
  if (orgId === caller.orgId) return canAdminister(caller, { id: orgId, tenantId: caller.tenantId });
  if (caller.level === 'ORGANIZATION') {
    throw new DomainError('FORBIDDEN', 'Only TENANT and INSTANCE keys reach other organizations', { param: 'orgId' });
  }
  const [organization] = await deps.storage.people.accounts.findOrganizations([orgId]);
  if (organization === undefined || !canAdminister(caller, organization)) {
    throw new DomainError('NOT_FOUND', 'There is no such organization', { param: 'orgId' });
  }
  return true;
}

async function resolveExpiry(deps: Deps, caller: Caller, wantedExpiry: Date | null, now: Date): Promise<Date | null> {
  if (wantedExpiry !== null && wantedExpiry.getTime() <= now.getTime()) {
    throw new DomainError('INVALID_VALUE', 'expiresAt must be in the future', { param: 'expiresAt' });
  }
  const makerExpiresAt = (await deps.storage.people.apiKeys.find(caller.keyId))?.expiresAt ?? null;
  if (makerExpiresAt === null || wantedExpiry === null) return wantedExpiry ?? makerExpiresAt;
  if (wantedExpiry.getTime() > makerExpiresAt.getTime()) {
    throw new DomainError('FORBIDDEN', 'A key cannot outlive its maker', { param: 'expiresAt' });
  }
  return wantedExpiry;
}

/** Why a request or a stream ends whose key was revoked or has expired. */
export function keyEnded(): DomainError {
  return new DomainError('INVALID_API_KEY', 'The API key or the session was revoked or has expired');
}
