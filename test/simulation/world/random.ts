import { seededRandom } from '../../support/property/random.ts';

/** Choices of one seed. Parts of a world that must not disturb each other have a source each. */
export class Choices {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededRandom(seed);
    // Neighbouring seeds begin alike.
    for (let count = 0; count < 8; count += 1) this.#next();
  }

  /** From 0 to below 1. */
  get fraction(): number {
    return this.#next();
  }

  /** A whole number, both ends included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.#next() * (to - from + 1));
  }

  /** True so often: 0 never, 1 always. */
  chance(share: number): boolean {
    return this.#next() < share;
  }

  one<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to choose from');
    return item;
  }
}
