/** The limit of a crawl's memory is reached. */
export class MemoryFullError extends Error {
  override readonly name = 'MemoryFullError';
}

/** Counts the bytes that a crawl holds: bodies, and the addresses it has found. */
export class Memory {
  readonly #bytesMax: number;
  readonly #other: () => number;
  #bytes = 0;

  /** @param other  bytes that are held besides those taken. */
  constructor(bytesMax: number, other: () => number) {
    this.#bytesMax = bytesMax;
    this.#other = other;
  }

  /** @throws MemoryFullError; then nothing was taken. */
  take(bytes: number): void {
    if (this.#bytes + this.#other() + bytes > this.#bytesMax) throw new MemoryFullError('the memory of the crawl is full');
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}
