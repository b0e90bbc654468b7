// Raw SQL: one prepared statement every three seconds, with the time of the database.
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';

/** Ends long work (streams, runs) when its key ends. */
export interface KeyWatch {
  /**
   * Calls `onEnd` once, within 5 seconds after the key was revoked or expired, or its user left the organization, on any instance.
   *
   * @returns a function that stops watching.
   */
  watch(keyId: string, onEnd: () => void): () => void;
  /** Like `watch`, for work that may outlive the expiry of its key: calls only when the key was revoked, or its user left the organization. */
  watchRevocation(keyId: string, onRevoked: () => void): () => void;
  close(): void;
}

/** The check also finds expiry, which no signal announces, and changes whose signal was lost. */
const checkEveryMs = 3_000;

const findLiving = `select k.id, coalesce(k."expiresAt" <= now(), false) as "isExpired"
    from api_keys k
    join memberships m on m."orgId" = k."orgId" and m."userId" = k."userId"
    where k.id = any($1::text[]) and k."revokedAt" is null`;

interface Listener {
  readonly outlivesExpiry: boolean;
  readonly onEnd: () => void;
}

export function createKeyWatch(db: Database, signals: Signals): KeyWatch {
  const listeners = new Map<string, Set<Listener>>();
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    const keyIds = [...listeners.keys()];
    if (keyIds.length === 0) return;
    // An unreachable database ends no stream: the next check asks again.
    db.query<{ id: string; isExpired: boolean }>(findLiving, [keyIds]).then(
      (rows) => {
        const living = new Map(rows.map(({ id, isExpired }) => [id, isExpired]));
        for (const keyId of keyIds) {
          const isExpired = living.get(keyId);
          if (isExpired !== false) end(keyId, isExpired === undefined);
        }
      },
      () => undefined,
    );
  }

  function end(keyId: string, isRevoked: boolean): void {
    const ofKey = listeners.get(keyId) ?? new Set();
    const ended = [...ofKey].filter(({ outlivesExpiry }) => isRevoked || !outlivesExpiry);
    for (const listener of ended) ofKey.delete(listener);
    if (ofKey.size === 0) listeners.delete(keyId);
    for (const { onEnd } of ended) onEnd();
  }

  function add(keyId: string, listener: Listener): () => void {
    const ofKey = listeners.get(keyId) ?? new Set();
    listeners.set(keyId, ofKey.add(listener));
    timer ??= setInterval(check, checkEveryMs).unref();
    return () => {
      ofKey.delete(listener);
      if (ofKey.size === 0 && listeners.get(keyId) === ofKey) listeners.delete(keyId);
    };
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
    watch: (keyId, onEnd) => add(keyId, { outlivesExpiry: false, onEnd }),
    watchRevocation: (keyId, onRevoked) => add(keyId, { outlivesExpiry: true, onEnd: onRevoked }),
    close() {
      clearInterval(timer);
      for (const stop of unsubscribe) stop();
      listeners.clear();
    },
  };
}
