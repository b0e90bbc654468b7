/** Where an item stands; what `remove` takes. */
export interface OpenItem<T> {
  readonly item: T;
  /** Below 0: it was removed. */
  index: number;
}

/**
 * What is open now and soon closed, such as requests, in no order.
 *
 * Not a Set or a Map: with every few dozen items that come and go, V8 makes a new table and lets the old one refer to it. Once one of these tables is in
 * the old heap, quick collections keep each later one with all that was in it, here whole requests, until the next full collection.
 */
export class OpenItems<T> {
  readonly #items: OpenItem<T>[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The items of this moment. */
  values(): readonly T[] {
    return this.#items.map(({ item }) => item);
  }

  add(item: T): OpenItem<T> {
    const added = { item, index: this.#items.length };
    this.#items.push(added);
    return added;
  }

  /** A second time it does nothing. */
  remove(removed: OpenItem<T>): void {
    if (removed.index < 0) return;
    const last = this.#items.pop();
    if (last !== undefined && last !== removed) {
      this.#items[removed.index] = last;
      last.index = removed.index;
    }
    removed.index = -1;
  }
}
