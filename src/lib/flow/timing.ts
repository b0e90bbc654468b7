/** How long something took, as Prometheus counts it. */
export interface TimingCounts {
  /** How many took at most `boundsSeconds[n]`, for each n; not added up. */
  readonly within: readonly number[];
  /** How many in all, those beyond the last bound included. */
  readonly count: number;
  readonly sumSeconds: number;
}

/** Counts durations by size. Cost: some 20 ns. */
export class Timing implements TimingCounts {
  readonly within: number[];
  count = 0;
  sumSeconds = 0;
  readonly #boundsSeconds: readonly number[];

  /** @param boundsSeconds  in rising order. */
  constructor(boundsSeconds: readonly number[]) {
    this.#boundsSeconds = boundsSeconds;
    this.within = boundsSeconds.map(() => 0);
  }

  add(seconds: number): void {
    this.count += 1;
    this.sumSeconds += seconds;
    const index = this.#boundsSeconds.findIndex((bound) => seconds <= bound);
    if (index >= 0) this.within[index] = (this.within[index] ?? 0) + 1;
  }
}

/** A timing for each name. The names come from lists of ours, so their number is bounded. */
export class Timings implements Iterable<readonly [string, TimingCounts]> {
  readonly boundsSeconds: readonly number[];
  readonly #byName = new Map<string, Timing>();

  constructor(boundsSeconds: readonly number[]) {
    this.boundsSeconds = boundsSeconds;
  }

  add(name: string, seconds: number): void {
    let timing = this.#byName.get(name);
    if (timing === undefined) {
      timing = new Timing(this.boundsSeconds);
      this.#byName.set(name, timing);
    }
    timing.add(seconds);
  }

  [Symbol.iterator](): IterableIterator<[string, TimingCounts]> {
    return this.#byName.entries();
  }
}
