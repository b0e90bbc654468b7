/** Counts by name. The names come from fixed lists, so their number is bounded. */
export class Counter<Name extends string = string> implements Iterable<readonly [Name, number]> {
  readonly #counts = new Map<Name, number>();

  /** @param names  counted from zero, so that a dashboard shows them from the start. */
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
