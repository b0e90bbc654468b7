/** Costly work, such as reading every waiting job, takes at most this share of the time. */
const shareMax = 1 / 20;

/** Says when work that is repeated is due again: after a fixed time, and later when it took long. */
export class Pace {
  readonly #everyMs: number;
  #dueAtMs = Number.NEGATIVE_INFINITY;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  isDue(): boolean {
    return performance.now() >= this.#dueAtMs;
  }

  /** Not due again before the work ended; the time counts from its beginning. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const begunAtMs = performance.now();
    this.#dueAtMs = begunAtMs + this.#everyMs;
    const result = await work();
    this.#dueAtMs = begunAtMs + Math.max(this.#everyMs, (performance.now() - begunAtMs) / shareMax);
    return result;
  }

  /** Makes the work due now. */
  reset(): void {
    this.#dueAtMs = Number.NEGATIVE_INFINITY;
  }
}
