/**
 * The bytes of finished replies that wait for their readers, in the whole process and by owner (an organization). An owner gets half of
 * `maxBytes`; one that has nothing waiting is refused only at twice `maxBytes`, so that a greedy owner keeps nobody else out.
 */
export class UnsentReplies {
  readonly #maxBytes: number;
  readonly #byOwner = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Of the whole process. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param sizeBytes  of a reply that is about to be sent; 0 for a request whose reply is not known yet. */
  hasRoom(owner: string, sizeBytes = 0): boolean {
    if (this.#bytes === 0) return true;
    const own = this.#byOwner.get(owner) ?? 0;
    if (own === 0) return this.#bytes + sizeBytes <= 2 * this.#maxBytes;
    return own + sizeBytes <= this.#maxBytes / 2 && this.#bytes + sizeBytes <= this.#maxBytes;
  }

  /** Whether an owner holds more than its share: a reply that may not be refused is sent whatever waits. */
  isOver(owner: string): boolean {
    const own = this.#byOwner.get(owner) ?? 0;
    return own > this.#maxBytes / 2 || (own > 0 && this.#bytes > 2 * this.#maxBytes);
  }

  add(owner: string, sizeBytes: number): void {
    this.#bytes += sizeBytes;
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? 0) + sizeBytes);
  }

  remove(owner: string, sizeBytes: number): void {
    const remainingBytes = (this.#byOwner.get(owner) ?? 0) - sizeBytes;
    this.#bytes -= sizeBytes;
    if (remainingBytes > 0) this.#byOwner.set(owner, remainingBytes);
    else this.#byOwner.delete(owner);
  }
}
