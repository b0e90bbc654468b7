import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { callerAt, createCallerCache, type KnownCaller, loadKey, loadMaker, loadSession, type Maker } from './known-callers.ts';

/** Finds the caller of a key. */
export interface KeyCallers {
  /**
   * The caller of the key with this hash. Undefined when there is none: the key is unknown, revoked or expired, or its user left the organization. A
   * value when it is cached, a promise when the database must be asked.
   */
  find(hash: string, nowMs: number): Caller | undefined | Promise<Caller | undefined>;
  /** Whether a caller is cached for this hash. Asks no database. */
  isFamiliar(hash: string): boolean;
  /** Like `find`, by the id of the key, or of a session. Always asks the database. */
  findById(keyId: string, nowMs: number): Promise<Caller | undefined>;
  /** Who made something that is used later, with the rights of now; undefined for a maker who is gone. Always asks the database. */
  findMaker(maker: Maker, nowMs: number): Promise<Caller | undefined>;
}

/** Callers by the hash of their key, in an InvalidatedCache. */
export function createKeyCallers(db: Database, signals: Signals): KeyCallers {
  const cache = createCallerCache<KnownCaller>(signals);
  return {
    isFamiliar: (hash) => cache.has(hash),
    findById: async (id, nowMs) => callerAt(await (isId('session', id) ? loadSession(db, { id }) : loadKey(db, { id })), nowMs),
    findMaker: async (maker, nowMs) => callerAt(await loadMaker(db, maker), nowMs),
    find: (hash, nowMs) => {
      const found = cache.find(hash, nowMs, (value) => loadKey(db, { hash: value }));
      return found instanceof Promise ? found.then((key) => callerAt(key, nowMs)) : callerAt(found, nowMs);
    },
  };
}
