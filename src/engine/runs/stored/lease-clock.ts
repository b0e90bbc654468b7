import { performance } from 'node:perf_hooks';

/**
 * Tells how long a lease certainly runs. It asks two clocks: the monotonic one, and the wall clock, which goes on while the machine
 * sleeps. A lease counts from before its statement was sent, so the database never ends it earlier.
 */
export class LeaseClock {
  readonly #leaseMs: number;
  #from: Moment | undefined;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** @param asked  `LeaseClock.now()` before the statement was sent. */
  renewed(asked: Moment): void {
    if (this.#from === undefined || asked.steadyMs > this.#from.steadyMs) this.#from = asked;
  }

  get isFresh(): boolean {
    if (this.#from === undefined) return false;
    const { steadyMs, dayMs } = LeaseClock.now();
    return Math.max(steadyMs - this.#from.steadyMs, dayMs - this.#from.dayMs) < this.#leaseMs;
  }

  static now(): Moment {
    return { steadyMs: performance.now(), dayMs: Date.now() };
  }
}

export interface Moment {
  readonly steadyMs: number;
  readonly dayMs: number;
}
