import type { LiveRow } from '../../../entities/operations/live.ts';

/**
 * The things that a stream takes as known to its client, so that it can tell a new thing from a changed one, and that a known thing is gone.
 *
 * Of a list that is remembered, all things. Of a long one, those of which the stream has told, and those that were there before a time.
 */
export class Known {
  readonly #times = new Map<string, number>();
  readonly #sizeMax: number;
  #beforeMs: number;

  /** @param before  things made until then are known; undefined: only those that are added. */
  constructor(sizeMax: number, before?: Date) {
    this.#sizeMax = sizeMax;
    this.#beforeMs = before?.getTime() ?? Number.NEGATIVE_INFINITY;
  }

  get ids(): readonly string[] {
    return [...this.#times.keys()];
  }

  /** Whether the client knows the thing by its id alone. */
  hasId(id: string): boolean {
    return this.#times.has(id);
  }

  has({ id, createdAt }: LiveRow): boolean {
    return this.#times.has(id) || createdAt.getTime() <= this.#beforeMs;
  }

  /** Beyond the size, what was added first is known by its time from then on. */
  add({ id, createdAt }: LiveRow): void {
    this.#times.set(id, createdAt.getTime());
    if (this.#times.size <= this.#sizeMax) return;
    const [oldest] = this.#times;
    if (oldest === undefined) return;
    this.#times.delete(oldest[0]);
    this.#beforeMs = Math.max(this.#beforeMs, oldest[1]);
  }

  /** @returns whether it was known by its id. */
  remove(id: string): boolean {
    return this.#times.delete(id);
  }
}
