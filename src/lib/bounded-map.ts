/** A map that drops its least recently set entries beyond `sizeMax`, so that callers cannot make it grow. */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  entries(): IterableIterator<[Key, Value]> {
    return this.#entries.entries();
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#sizeMax) return;
    const oldest = this.#entries.keys().next();
    if (oldest.done !== true) this.#entries.delete(oldest.value);
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  deleteWhere(test: (value: Value, key: Key) => boolean): void {
    for (const [key, value] of this.#entries) if (test(value, key)) this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
