import { BoundedMap } from '../../lib/bounded-map.ts';
import type { Signals } from './signals/signals.ts';

/**
 * Caches what was read from the database until a change is announced. A hit asks no database and makes no promise. An announced change drops its
 * entries at once, a lost announcement drops all entries, and while announcements are not healthy no entry is older than a second.
 */
export interface InvalidatedCache<Value> {
  /** A value on a hit, else a promise of what `load` finds. Concurrent calls share one `load`. A missing thing is cached too. */
  find(
    key: string,
    nowMs: number,
    load: (key: string) => Promise<Value | undefined>,
  ): Value | undefined | Promise<Value | undefined>;
  /** Whether a value is cached, of any age. */
  has(key: string): boolean;
  /** Drops the entries for which `test` is true, and every entry of a missing thing. */
  forget(test: (value: Value, key: string) => boolean): void;
}

interface Entry<Value> {
  readonly value: Value;
  readonly loadedAtMs: number;
}

const missingMax = 10_000;
const unhealthyAgeMaxMs = 1_000;
/** The age limit while announcements are healthy: it bounds the harm if a change is not announced by mistake. */
const healthyAgeMaxMs = 300_000;

/** @param sizeMax  entries kept; beyond it the oldest are dropped. */
export function createInvalidatedCache<Value>(signals: Signals, sizeMax: number): InvalidatedCache<Value> {
  const known = new BoundedMap<string, Entry<Value>>(sizeMax);
  const missing = new BoundedMap<string, Entry<undefined>>(missingMax);
  const loading = new Map<string, Promise<Value | undefined>>();
  /** Grows with every announced change: a value that was read before a change must not be cached after it. */
  let changeCount = 0;

  const forget: InvalidatedCache<Value>['forget'] = (test) => {
    changeCount += 1;
    loading.clear();
    missing.clear();
    known.deleteWhere((entry, key) => test(entry.value, key));
  };
  signals.onReset(() => forget(() => true));

  async function read(key: string, nowMs: number, load: (key: string) => Promise<Value | undefined>): Promise<Value | undefined> {
    const countBefore = changeCount;
    const value = await load(key);
    if (changeCount !== countBefore) return value;
    known.delete(key);
    if (value === undefined) missing.set(key, { value: undefined, loadedAtMs: nowMs });
    else known.set(key, { value, loadedAtMs: nowMs });
    return value;
  }

  return {
    forget,
    has: (key) => known.has(key),
    find(key, nowMs, load) {
      const entry = known.get(key) ?? missing.get(key);
      const ageMaxMs = signals.isHealthy() ? healthyAgeMaxMs : unhealthyAgeMaxMs;
      if (entry !== undefined && nowMs - entry.loadedAtMs <= ageMaxMs) return entry.value;
      const running = loading.get(key);
      if (running !== undefined) return running;
      const started = read(key, nowMs, load).finally(() => {
        if (loading.get(key) === started) loading.delete(key);
      });
      loading.set(key, started);
      return started;
    },
  };
}
