import type { AccessLevel, Caller, MemberRole, Scope } from '../entities/caller.ts';
import { BoundedMap } from '../lib/bounded-map.ts';
import type { Database } from './database.ts';
import type { Signals } from './signals.ts';

/** Who a key stands for. */
export interface KeyCallers {
  /**
   * The caller of the key with this hash, or undefined when there is none: unknown, revoked, expired, or its user left the
   * organization. A value when it is known here, a promise when the database must be asked.
   */
  find(hash: string, nowMs: number): Caller | undefined | Promise<Caller | undefined>;
}

/** What is remembered of one hash; `caller` undefined: there is no such key. */
interface Entry {
  readonly caller: Caller | undefined;
  readonly expiresAtMs: number;
  readonly loadedAtMs: number;
}

interface KeyRow {
  readonly keyId: string;
  readonly userId: string;
  readonly orgId: string;
  readonly tenantId: string;
  readonly level: AccessLevel;
  readonly role: MemberRole;
  readonly scopes: readonly Scope[];
  readonly expiresAtMs: number | null;
}

const knownMax = 20_000;
const unknownMax = 10_000;
/** While signals may be late, an entry is asked again after a second: that bounds how long a revoked key works anywhere. */
const unhealthyAgeMaxMs = 1_000;
/** A belt to the signals' braces. */
const healthyAgeMaxMs = 300_000;

const findKey = {
  name: 'key_caller',
  text: `select k.id as "keyId", k."userId", k."orgId", o."tenantId", k.level, m.role, k.scopes,
      (extract(epoch from k."expiresAt") * 1000)::float8 as "expiresAtMs"
    from api_keys k
    join organizations o on o.id = k."orgId"
    join memberships m on m."orgId" = k."orgId" and m."userId" = k."userId"
    where k.hash = $1 and k."revokedAt" is null`,
};

/**
 * Remembers callers by the hash of their key, so that a warm request asks no database. Signals drop what changed; a gap in the signals
 * drops everything; without a healthy feed no entry is older than a second.
 */
export function createKeyCallers({ pool }: Database, signals: Signals): KeyCallers {
  const known = new BoundedMap<string, Entry>(knownMax);
  const unknown = new BoundedMap<string, Entry>(unknownMax);
  const loading = new Map<string, Promise<Caller | undefined>>();
  /** Grows with every piece of news: what was read before it must not be remembered after it. */
  let news = 0;

  const forget = (test: (caller: Caller) => boolean): void => {
    news += 1;
    loading.clear();
    unknown.clear();
    known.deleteWhere(({ caller }) => caller !== undefined && test(caller));
  };
  signals.subscribe('key-changed', (keyId) => forget((caller) => caller.keyId === keyId));
  signals.subscribe('user-changed', (userId) => forget((caller) => caller.userId === userId));
  signals.subscribe('organization-changed', (orgId) => forget((caller) => caller.orgId === orgId));
  signals.onGap(() => forget(() => true));

  async function load(hash: string, nowMs: number): Promise<Caller | undefined> {
    const newsBefore = news;
    const { rows } = await pool.query<KeyRow>(findKey, [hash]);
    const entry = entryOf(rows[0], nowMs);
    if (news === newsBefore) (entry.caller === undefined ? unknown : known).set(hash, entry);
    return callerAt(entry, nowMs);
  }

  return {
    find: (hash, nowMs) => {
      const entry = known.get(hash) ?? unknown.get(hash);
      const ageMaxMs = signals.isHealthy() ? healthyAgeMaxMs : unhealthyAgeMaxMs;
      if (entry !== undefined && nowMs - entry.loadedAtMs <= ageMaxMs) return callerAt(entry, nowMs);
      const running = loading.get(hash);
      if (running !== undefined) return running;
      const started = load(hash, nowMs).finally(() => {
        if (loading.get(hash) === started) loading.delete(hash);
      });
      loading.set(hash, started);
      return started;
    },
  };
}

function entryOf(row: KeyRow | undefined, loadedAtMs: number): Entry {
  if (row === undefined) return { caller: undefined, expiresAtMs: Number.POSITIVE_INFINITY, loadedAtMs };
  const { expiresAtMs, scopes, ...caller } = row;
  return {
    caller: Object.freeze({ ...caller, scopes: new Set(scopes) }),
    expiresAtMs: expiresAtMs ?? Number.POSITIVE_INFINITY,
    loadedAtMs,
  };
}

function callerAt(entry: Entry, nowMs: number): Caller | undefined {
  return nowMs < entry.expiresAtMs ? entry.caller : undefined;
}
