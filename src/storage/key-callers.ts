import type { AccessLevel, Caller, MemberRole, Scope } from '../entities/caller.ts';
import type { Database } from './database.ts';
import { createNewsCache } from './news-cache.ts';
import type { Signals } from './signals.ts';

/** Who a key stands for. */
export interface KeyCallers {
  /**
   * The caller of the key with this hash, or undefined when there is none: unknown, revoked, expired, or its user left the
   * organization. A value when it is known here, a promise when the database must be asked.
   */
  find(hash: string, nowMs: number): Caller | undefined | Promise<Caller | undefined>;
}

interface KnownKey {
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

interface KeyRow {
  readonly keyId: string;
  readonly userId: string;
  readonly orgId: string;
  readonly tenantId: string;
  readonly level: AccessLevel;
  readonly role: MemberRole;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
}

const keysMax = 20_000;

const findKey = {
  name: 'key_caller',
  text: `select k.id as "keyId", k."userId", k."orgId", o."tenantId", k.level, m.role, k.scopes, k."expiresAt"
    from api_keys k
    join organizations o on o.id = k."orgId"
    join memberships m on m."orgId" = k."orgId" and m."userId" = k."userId"
    where k.hash = $1 and k."revokedAt" is null`,
};

/** Callers by the hash of their key, remembered as news-cache.ts says. */
export function createKeyCallers({ pool }: Database, signals: Signals): KeyCallers {
  const cache = createNewsCache<KnownKey>(signals, keysMax);
  signals.subscribe('key-changed', (keyId) => cache.forget(({ caller }) => caller.keyId === keyId));
  signals.subscribe('user-changed', (userId) => cache.forget(({ caller }) => caller.userId === userId));
  signals.subscribe('organization-changed', (orgId) => cache.forget(({ caller }) => caller.orgId === orgId));

  async function load(hash: string): Promise<KnownKey | undefined> {
    const { rows } = await pool.query<KeyRow>(findKey, [hash]);
    const [row] = rows;
    if (row === undefined) return undefined;
    const { expiresAt, scopes, ...caller } = row;
    return {
      caller: Object.freeze({ ...caller, scopes: new Set(scopes) }),
      expiresAtMs: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
    };
  }

  return {
    find: (hash, nowMs) => {
      const found = cache.find(hash, nowMs, load);
      return found instanceof Promise ? found.then((key) => callerAt(key, nowMs)) : callerAt(found, nowMs);
    },
  };
}

function callerAt(key: KnownKey | undefined, nowMs: number): Caller | undefined {
  return key !== undefined && nowMs < key.expiresAtMs ? key.caller : undefined;
}
