/** Bounds of the time between the beginnings of two writes of a run. */
const pauseMsMin = 40;
const pauseMsMax = 200;
/** The pause is this share of the time since the run last had something urgent to write. */
const pauseShare = 1 / 8;

/**
 * Says when a run's next events are written. The first words of an answer are written at once. Words that follow gather, the longer the answer
 * already flows: an answer of four seconds makes about thirty writes, however many words it has.
 */
export class Gathering {
  #isUrgent = true;
  #urgentMs = performance.now();
  #writtenMs = 0;
  #waiting: { readonly timer: NodeJS.Timeout; readonly resolve: () => void } | undefined;

  /** Something waits for the events: they are written without a pause. Ends a pause that is under way. */
  hurry(): void {
    this.#isUrgent = true;
    this.#urgentMs = performance.now();
    if (this.#waiting === undefined) return;
    clearTimeout(this.#waiting.timer);
    this.#waiting.resolve();
    this.#waiting = undefined;
  }

  /** Resolves when the next write may begin; undefined when it may begin now. */
  pause(): Promise<void> | undefined {
    if (this.#isUrgent) return undefined;
    const nowMs = performance.now();
    const pauseMs = Math.min(Math.max((nowMs - this.#urgentMs) * pauseShare, pauseMsMin), pauseMsMax);
    const leftMs = this.#writtenMs + pauseMs - nowMs;
    if (leftMs <= 0) return undefined;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting = undefined;
        resolve();
      }, leftMs);
      this.#waiting = { timer, resolve };
    });
  }

  /** A write begins. */
  begin(): void {
    this.#isUrgent = false;
    this.#writtenMs = performance.now();
  }
}
