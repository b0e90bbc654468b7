/** From here on a whole is busy: what is left is for owners with less than an equal share. */
const busyFrom = 0.8;

/** So many places, of which no owner may crowd out the others. Asking and counting cost next to nothing. */
export class FairShare {
  readonly #max: number;
  readonly #byOwner = new Map<string, number>();
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count >= this.#max;
  }

  /** Why there is no place for this owner: all are taken, or it has its share of a busy whole. Undefined when there is one. */
  refusal(owner: string): 'full' | 'share' | undefined {
    if (this.isFull) return 'full';
    const own = this.#byOwner.get(owner) ?? 0;
    if (own === 0 || this.#count < this.#max * busyFrom) return undefined;
    return own >= Math.ceil(this.#max / (this.#byOwner.size + 1)) ? 'share' : undefined;
  }

  /** Takes a place, whether there is one or not: what must be is not refused. */
  take(owner: string): void {
    this.#count += 1;
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? 0) + 1);
  }

  give(owner: string): void {
    const own = this.#byOwner.get(owner);
    if (own === undefined) return;
    this.#count -= 1;
    if (own === 1) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, own - 1);
  }
}
