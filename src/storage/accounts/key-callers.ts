// Raw SQL: a request with a key that is not cached waits for it; one prepared statement over three tables.
import type { Caller, Scope } from '../../entities/accounts/caller.ts';
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

interface KeyRow extends Omit<Caller, 'scopes'> {
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
}

const keysMax = 20_000;

const keyRows = `select k.id as "keyId", k."userId", k."orgId", o."tenantId", k.level, m.role, k.scopes, k."expiresAt"
    from api_keys k
    join organizations o on o.id = k."orgId"
    join memberships m on m."orgId" = k."orgId" and m."userId" = k."userId"
    where k."revokedAt" is null`;
const findKey = `${keyRows} and k.hash = $1`;
const findKeyById = `${keyRows} and k.id = $1`;

/** Callers by the hash of their key, in an InvalidatedCache. */
export function createKeyCallers(db: Database, signals: Signals): KeyCallers {
  const cache = createInvalidatedCache<KnownKey>(signals, keysMax);
  signals.subscribe('key-changed', (keyId) => cache.forget(({ caller }) => caller.keyId === keyId));
  signals.subscribe('user-changed', (userId) => cache.forget(({ caller }) => caller.userId === userId));
  signals.subscribe('organization-changed', (orgId) => cache.forget(({ caller }) => caller.orgId === orgId));

  async function load(value: string, query = findKey): Promise<KnownKey | undefined> {
    const rows = await db.query<KeyRow>(query, [value]);
    const [row] = rows;
    if (row === undefined) return undefined;
    const { expiresAt, scopes, ...caller } = row;
    return {
      caller: Object.freeze({ ...caller, scopes: new Set(scopes) }),
      expiresAtMs: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
    };
  }

  return {
    isFamiliar: (hash) => cache.has(hash),
    findById: async (keyId, nowMs) => callerAt(await load(keyId, findKeyById), nowMs),
    find: (hash, nowMs) => {
      const found = cache.find(hash, nowMs, (value) => load(value));
      return found instanceof Promise ? found.then((key) => callerAt(key, nowMs)) : callerAt(found, nowMs);
    },
  };
}

function callerAt(key: KnownKey | undefined, nowMs: number): Caller | undefined {
  return key !== undefined && nowMs < key.expiresAtMs ? key.caller : undefined;
}
