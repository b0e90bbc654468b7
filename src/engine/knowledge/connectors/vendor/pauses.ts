import { BoundedMap } from '../../../../lib/bounded-map.ts';

/** A service that asks for more is asked again after this time. */
const pauseMaxMs = 15 * 60_000;

/**
 * How long services asked to be left alone, by service and account. Whoever asks meanwhile for something else of the same account would be refused too,
 * and many services then make the wait longer.
 */
export class Pauses {
  readonly #endsAtMs = new BoundedMap<string, number>(10_000);

  begin(key: string, waitMs: number): void {
    this.#endsAtMs.set(key, Math.max(this.#endsAtMs.get(key) ?? 0, performance.now() + Math.min(waitMs, pauseMaxMs)));
  }

  /** Milliseconds; 0 when there is nothing to wait for. */
  left(key: string): number {
    const endsAtMs = this.#endsAtMs.get(key);
    if (endsAtMs === undefined) return 0;
    const leftMs = endsAtMs - performance.now();
    if (leftMs > 0) return leftMs;
    this.#endsAtMs.delete(key);
    return 0;
  }
}
