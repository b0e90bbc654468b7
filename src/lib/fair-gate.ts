interface Waiting {
  readonly enter: () => void;
}

/**
 * So many places at one time. No owner has more than its part of them, and a place that becomes free goes to the waiting owner that has the
 * fewest: one with thousands of requests does not delay another by more than one place.
 */
export class FairGate {
  readonly #max: number;
  readonly #perOwnerMax: number;
  readonly #taken = new Map<string, number>();
  /** Those that wait, by owner; an owner that was served goes to the end. */
  readonly #waiting = new Map<string, Waiting[]>();
  #count = 0;

  /** @param perOwnerMax  places that one owner may have at one time. */
  constructor(max: number, perOwnerMax: number) {
    this.#max = max;
    this.#perOwnerMax = perOwnerMax;
  }

  /**
   * Waits for a place and takes it.
   *
   * @returns what gives the place back; a second call does nothing.
   * @throws the signal's reason when it fires before there is a place.
   */
  async enter(owner: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!this.#hasPlace(owner) || this.#waiting.has(owner)) await this.#wait(owner, signal);
    else this.#take(owner);
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.#give(owner);
    };
  }

  #wait(owner: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        const left = (this.#waiting.get(owner) ?? []).filter((other) => other !== waiting);
        if (left.length === 0) this.#waiting.delete(owner);
        else this.#waiting.set(owner, left);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        enter() {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      const queue = this.#waiting.get(owner);
      if (queue === undefined) this.#waiting.set(owner, [waiting]);
      else queue.push(waiting);
    });
  }

  #hasPlace(owner: string): boolean {
    return this.#count < this.#max && (this.#taken.get(owner) ?? 0) < this.#perOwnerMax;
  }

  #take(owner: string): void {
    this.#count += 1;
    this.#taken.set(owner, (this.#taken.get(owner) ?? 0) + 1);
  }

  #give(owner: string): void {
    this.#count -= 1;
    const left = (this.#taken.get(owner) ?? 0) - 1;
    if (left <= 0) this.#taken.delete(owner);
    else this.#taken.set(owner, left);
    const next = this.#next();
    if (next === undefined) return;
    const [first, ...rest] = this.#waiting.get(next) ?? [];
    this.#waiting.delete(next);
    if (rest.length > 0) this.#waiting.set(next, rest);
    this.#take(next);
    first?.enter();
  }

  /** The owner with the fewest places among those that wait and may have one; of several, the one that waits longest for its turn. */
  #next(): string | undefined {
    let next: string | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const owner of this.#waiting.keys()) {
      const taken = this.#taken.get(owner) ?? 0;
      if (taken >= fewest || !this.#hasPlace(owner)) continue;
      next = owner;
      fewest = taken;
    }
    return next;
  }
}
