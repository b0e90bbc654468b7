import { BoundedMap } from '../../lib/bounded-map.ts';
import type { Signals } from './signals/signals.ts';

/**
 * Remembers what was read from the database until news say that it changed. A warm find asks no database and makes no promise.
 * How stale may an entry be? News drop it at once; news that were lost drop everything; and while the news are not healthy
 * no entry is older than a second.
 */
export interface NewsCache<Value> {
  /** A value when it is known, a promise when `load` must be asked; calls at one time share one `load`. Missing things are remembered too. */
  find(
    key: string,
    nowMs: number,
    load: (key: string) => Promise<Value | undefined>,
  ): Value | undefined | Promise<Value | undefined>;
  /** Whether a value is remembered, however old. */
  has(key: string): boolean;
  /** Drops the entries that `test` finds, and everything that is known to be missing. */
  forget(test: (value: Value, key: string) => boolean): void;
}

interface Entry<Value> {
  readonly value: Value;
  readonly loadedAtMs: number;
}

const missingMax = 10_000;
const unhealthyAgeMaxMs = 1_000;
/** Also while all is well, so that a mistake of ours in what is announced does not last. */
const healthyAgeMaxMs = 300_000;

/** @param sizeMax  entries kept; the oldest are forgotten beyond. */
export function createNewsCache<Value>(signals: Signals, sizeMax: number): NewsCache<Value> {
  const known = new BoundedMap<string, Entry<Value>>(sizeMax);
  const missing = new BoundedMap<string, Entry<undefined>>(missingMax);
  const loading = new Map<string, Promise<Value | undefined>>();
  /** Grows with every piece of news: what was read before it must not be remembered after it. */
  let news = 0;

  const forget: NewsCache<Value>['forget'] = (test) => {
    news += 1;
    loading.clear();
    missing.clear();
    known.deleteWhere((entry, key) => test(entry.value, key));
  };
  signals.onReset(() => forget(() => true));

  async function read(key: string, nowMs: number, load: (key: string) => Promise<Value | undefined>): Promise<Value | undefined> {
    const newsBefore = news;
    const value = await load(key);
    if (news !== newsBefore) return value;
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
