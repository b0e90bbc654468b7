/** How long a reader waits for a fresh value. */
const waitMsMax = 1_000;

/** A value that is read anew when it is asked for and older than `ageMsMax`; never twice at one time. */
export class RecentValue<T> {
  readonly #ageMsMax: number;
  readonly #read: () => Promise<T>;
  #value: T | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(ageMsMax: number, read: () => Promise<T>) {
    this.#ageMsMax = ageMsMax;
    this.#read = read;
  }

  /** @returns undefined when the last reading failed, or when none has succeeded within a second. Never rejects. */
  async read(): Promise<T | undefined> {
    if (performance.now() - this.#readAtMs >= this.#ageMsMax) {
      this.#reading ??= this.#refresh();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, waitMsMax);
      });
      await Promise.race([this.#reading, late]);
      clearTimeout(timer);
    }
    return this.#value;
  }

  async #refresh(): Promise<void> {
    try {
      this.#value = await this.#read();
    } catch {
      this.#value = undefined;
    }
    this.#readAtMs = performance.now();
    this.#reading = undefined;
  }
}
