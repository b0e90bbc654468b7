import type { Database } from './database.ts';
import type { Signals } from './signals.ts';

/** Tells what is long open (streams) that its key ended. */
export interface KeyWatch {
  /**
   * Calls `onEnd` once, within 5 seconds after the key was revoked or expired, or its user left the organization, on whatever instance
   * that happened.
   *
   * @returns stops watching.
   */
  watch(keyId: string, onEnd: () => void): () => void;
  close(): void;
}

/** Also finds what no signal tells: expiry, and news that were lost. */
const checkEveryMs = 3_000;

const findLiving = {
  name: 'living_keys',
  text: `select k.id
    from api_keys k
    join memberships m on m."orgId" = k."orgId" and m."userId" = k."userId"
    where k.id = any($1::text[]) and k."revokedAt" is null
      and (k."expiresAt" is null or k."expiresAt" > now())`,
};

export function createKeyWatch({ pool }: Database, signals: Signals): KeyWatch {
  const listeners = new Map<string, Set<() => void>>();
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    const keyIds = [...listeners.keys()];
    if (keyIds.length === 0) return;
    // A database that is away ends no stream: the next check asks again.
    pool.query<{ id: string }>(findLiving, [keyIds]).then(
      ({ rows }) => {
        const living = new Set(rows.map(({ id }) => id));
        for (const keyId of keyIds) if (!living.has(keyId)) end(keyId);
      },
      () => undefined,
    );
  }

  function end(keyId: string): void {
    const ended = listeners.get(keyId);
    listeners.delete(keyId);
    for (const onEnd of ended ?? []) onEnd();
  }

  const unsubscribe = [
    signals.subscribe('key-changed', (keyId) => {
      if (listeners.has(keyId)) check();
    }),
    signals.subscribe('user-changed', check),
    signals.subscribe('organization-changed', check),
    signals.onGap(check),
  ];

  return {
    watch(keyId, onEnd) {
      // One entry for each call, also when the same function watches twice.
      const listener = () => onEnd();
      const ofKey = listeners.get(keyId) ?? new Set();
      listeners.set(keyId, ofKey.add(listener));
      timer ??= setInterval(check, checkEveryMs).unref();
      return () => {
        ofKey.delete(listener);
        if (ofKey.size === 0 && listeners.get(keyId) === ofKey) listeners.delete(keyId);
      };
    },
    close() {
      clearInterval(timer);
      for (const stop of unsubscribe) stop();
      listeners.clear();
    },
  };
}
