import { RunStop } from './stop.ts';

/** The time of one run in this process: its own signal, fired by the caller's, by cancel, or by the clock. */
export class RunScope {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout;
  readonly #timeoutMs: number;
  readonly #outer: AbortSignal | undefined;
  readonly #onOuterAbort = () => this.stop(left);

  constructor(timeoutMs: number, outer?: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#timer = this.#stopAfter(timeoutMs);
    this.#outer = outer;
    if (outer?.aborted === true) this.#onOuterAbort();
    else outer?.addEventListener('abort', this.#onOuterAbort, { once: true });
  }

  /** Counts the time that was spent on the run before this process had it. */
  countWorked(workedMs: number): void {
    clearTimeout(this.#timer);
    const leftMs = this.#timeoutMs - workedMs;
    if (leftMs > 0) this.#timer = this.#stopAfter(leftMs);
    else this.stop(this.#timeout());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(reason: RunStop): void {
    this.#controller.abort(reason);
  }

  /** @param isOver  whether the run came to its own end; otherwise a reader left without a word, and work may be under way. */
  close(isOver: boolean): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#onOuterAbort);
    if (!isOver) this.stop(closed);
  }

  #stopAfter(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.stop(this.#timeout()), ms).unref();
  }

  #timeout(): RunStop {
    return new RunStop('timeout', `The run took longer than ${this.#timeoutMs} ms`);
  }
}

// One of each: with its stack, an error costs as much as all else that is done when a reader leaves.
const left = new RunStop('cancelled', 'The client left');
const closed = new RunStop('cancelled', 'The run is over');
