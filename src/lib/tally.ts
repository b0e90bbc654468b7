/** Counts by name. Names come from lists of ours, so there are only so many. */
export class Tally<Name extends string = string> implements Iterable<readonly [Name, number]> {
  readonly #counts = new Map<Name, number>();

  /** @param names  those that count from the start, so that a dashboard sees their zero. */
  constructor(names: readonly Name[] = []) {
    for (const name of names) this.#counts.set(name, 0);
  }

  add(name: Name, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  [Symbol.iterator](): IterableIterator<[Name, number]> {
    return this.#counts.entries();
  }
}
