import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Database } from '../../ground/database.ts';
import type { InvalidatedCache } from '../../ground/invalidated-cache.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { callerAt, createCallerCache, type KnownCaller, loadKey, loadMaker, loadSession, type Maker } from './known-callers.ts';

/** Finds the callers of keys, by the hash of their key, in an InvalidatedCache. */
export class KeyCallers {
  readonly #db: Database;
  readonly #cache: InvalidatedCache<KnownCaller>;

  constructor(db: Database, signals: Signals) {
    this.#db = db;
    this.#cache = createCallerCache<KnownCaller>(signals);
  }

  /** Whether a caller is cached for this hash. Asks no database. */
  isFamiliar(hash: string): boolean {
    return this.#cache.has(hash);
  }

  /** Like `find`, by the id of the key, or of a session. Always asks the database. */
  async findById(id: string, nowMs: number): Promise<Caller | undefined> {
    return callerAt(await (isId('session', id) ? loadSession(this.#db, { id }) : loadKey(this.#db, { id })), nowMs);
  }

  /** Who made something that is used later, with the rights of now; undefined for a maker who is gone. Always asks the database. */
  async findMaker(maker: Maker, nowMs: number): Promise<Caller | undefined> {
    return callerAt(await loadMaker(this.#db, maker), nowMs);
  }

  /**
   * The caller of the key with this hash. Undefined when there is none: the key is unknown, revoked or expired, or its user left the organization. A
   * value when it is cached, a promise when the database must be asked.
   */
  find(hash: string, nowMs: number): Caller | undefined | Promise<Caller | undefined> {
    const found = this.#cache.find(hash, nowMs, (value) => loadKey(this.#db, { hash: value }));
    return found instanceof Promise ? found.then((key) => callerAt(key, nowMs)) : callerAt(found, nowMs);
  }
}
