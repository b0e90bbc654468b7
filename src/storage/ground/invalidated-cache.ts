import { BoundedMap } from '../../lib/bounded-map.ts';
import type { Signals } from './signals/signals.ts';

interface Entry<Value> {
  readonly value: Value;
  readonly loadedAtMs: number;
}

const missingMax = 10_000;
const unhealthyAgeMaxMs = 1_000;
/** The age limit while announcements are healthy: it bounds the harm if a change is not announced by mistake. */
const healthyAgeMaxMs = 300_000;

/**
 * Caches what was read from the database until a change is announced. A hit asks no database and makes no promise. An announced change drops its
 * entries at once, a lost announcement drops all entries, and while announcements are not healthy no entry is older than a second.
 * `sizeMax`: entries kept; beyond it the oldest are dropped.
 */
export class InvalidatedCache<Value> {
  readonly #signals: Pick<Signals, 'isHealthy'>;
  readonly #known: BoundedMap<string, Entry<Value>>;
  readonly #missing = new BoundedMap<string, Entry<undefined>>(missingMax);
  readonly #loading = new Map<string, Promise<Value | undefined>>();
  /** Grows with every announced change: a value that was read before a change must not be cached after it. */
  #changeCount = 0;

  constructor(signals: Pick<Signals, 'isHealthy' | 'onReset'>, sizeMax: number) {
    this.#signals = signals;
    this.#known = new BoundedMap<string, Entry<Value>>(sizeMax);
    signals.onReset(() => this.forget(() => true));
  }

  /** Drops the entries for which `test` is true, and every entry of a missing thing. */
  forget(test: (value: Value, key: string) => boolean): void {
    this.#changeCount += 1;
    this.#loading.clear();
    this.#missing.clear();
    this.#known.deleteWhere((entry, key) => test(entry.value, key));
  }

  /** Whether a value is cached, of any age. */
  has(key: string): boolean {
    return this.#known.has(key);
  }

  /** What is cached, of any age; undefined for nothing. Loads nothing. */
  peek(key: string): Value | undefined {
    return this.#known.get(key)?.value;
  }

  /** A value on a hit, else a promise of what `load` finds. Concurrent calls share one `load`. A missing thing is cached too. */
  find(
    key: string,
    nowMs: number,
    load: (key: string) => Promise<Value | undefined>,
  ): Value | undefined | Promise<Value | undefined> {
    const entry = this.#known.get(key) ?? this.#missing.get(key);
    const ageMaxMs = this.#signals.isHealthy() ? healthyAgeMaxMs : unhealthyAgeMaxMs;
    if (entry !== undefined && nowMs - entry.loadedAtMs <= ageMaxMs) return entry.value;
    const running = this.#loading.get(key);
    if (running !== undefined) return running;
    const started = this.#read(key, nowMs, load).finally(() => {
      if (this.#loading.get(key) === started) this.#loading.delete(key);
    });
    this.#loading.set(key, started);
    return started;
  }

  async #read(key: string, nowMs: number, load: (key: string) => Promise<Value | undefined>): Promise<Value | undefined> {
    const countBefore = this.#changeCount;
    const value = await load(key);
    if (this.#changeCount !== countBefore) return value;
    this.#known.delete(key);
    if (value === undefined) this.#missing.set(key, { value: undefined, loadedAtMs: nowMs });
    else this.#known.set(key, { value, loadedAtMs: nowMs });
    return value;
  }
}
