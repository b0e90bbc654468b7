import type { Caller } from '../../entities/accounts/caller.ts';
import type { Database } from '../database/database.ts';
import { createInvalidatedCache } from '../database/invalidated-cache.ts';
import type { Signals } from '../database/signals/signals.ts';

/** Finds the caller of a key. */
export interface KeyCallers {
  /**
   * The caller of the key with this hash. Undefined when there is none: the key is unknown, revoked or expired, or its user left the organization. A
   * value when it is cached, a promise when the database must be asked.
   */
  find(hash: string, nowMs: number): Caller | undefined | Promise<Caller | undefined>;
  /** Whether a caller is cached for this hash. Asks no database. */
  isFamiliar(hash: string): boolean;
  /** Like `find`, by the id of the key. Always asks the database. */
  findById(keyId: string, nowMs: number): Promise<Caller | undefined>;
}

interface KnownKey {
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

const keysMax = 20_000;

/** Callers by the hash of their key, in an InvalidatedCache. */
export function createKeyCallers(db: Database, signals: Signals): KeyCallers {
  const cache = createInvalidatedCache<KnownKey>(signals, keysMax);
  signals.subscribe('key-changed', (keyId) => cache.forget(({ caller }) => caller.keyId === keyId));
  signals.subscribe('user-changed', (userId) => cache.forget(({ caller }) => caller.userId === userId));
  signals.subscribe('organization-changed', (orgId) => cache.forget(({ caller }) => caller.orgId === orgId));

  return {
    isFamiliar: (hash) => cache.has(hash),
    findById: async (keyId, nowMs) => callerAt(await loadKey(db, { id: keyId }), nowMs),
    find: (hash, nowMs) => {
      const found = cache.find(hash, nowMs, (value) => loadKey(db, { hash: value }));
      return found instanceof Promise ? found.then((key) => callerAt(key, nowMs)) : callerAt(found, nowMs);
    },
  };
}

/** Cost: two statements. */
async function loadKey(
  { prisma }: Database,
  key: { readonly id: string } | { readonly hash: string },
): Promise<KnownKey | undefined> {
  const { apiKey, membership } = prisma;
  const select = { id: true, userId: true, orgId: true, level: true, scopes: true, expiresAt: true };
  const found = await apiKey.findUnique({ where: { ...key, revokedAt: null }, select });
  if (found === null) return undefined;
  const { id, userId, orgId, level, scopes, expiresAt } = found;
  const member = await membership.findUnique({
    where: { orgId_userId: { orgId, userId } },
    select: { role: true, organization: { select: { tenantId: true } } },
  });
  if (member === null) return undefined;
  const { tenantId } = member.organization;
  const caller = { keyId: id, userId, orgId, tenantId, level, role: member.role, scopes: new Set(scopes) };
  return { caller: Object.freeze(caller as Caller), expiresAtMs: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY };
}

function callerAt(key: KnownKey | undefined, nowMs: number): Caller | undefined {
  return key !== undefined && nowMs < key.expiresAtMs ? key.caller : undefined;
}
