interface Waiting {
  readonly enter: () => void;
}

/**
 * So many places at one time. Owners that wait are served in turn, and no owner has more than its part of the places, so that one with
 * thousands of requests delays another by one place at most.
 */
export class FairGate {
  readonly #max: number;
  readonly #perOwnerMax: number;
  readonly #taken = new Map<string, number>();
  /** Those that wait, by owner; the owner whose turn it is comes first. */
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
    for (const [next, queue] of this.#waiting) {
      if (!this.#hasPlace(next)) continue;
      const [first, ...rest] = queue;
      this.#waiting.delete(next);
      if (rest.length > 0) this.#waiting.set(next, rest);
      this.#take(next);
      first?.enter();
      return;
    }
  }
}
