import { RunStop } from './stop.ts';

/** The time of one run in this process: its own signal, fired by the caller's, by cancel, or by the clock. */
export class RunScope {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly outer: AbortSignal | undefined;
  private readonly onOuterAbort = () => this.stop(left);

  constructor(timeoutMs: number, outer?: AbortSignal) {
    this.timer = setTimeout(() => this.stop(new RunStop('timeout', `The run took longer than ${timeoutMs} ms`)), timeoutMs);
    this.timer.unref();
    this.outer = outer;
    if (outer?.aborted === true) this.onOuterAbort();
    else outer?.addEventListener('abort', this.onOuterAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  stop(reason: RunStop): void {
    this.controller.abort(reason);
  }

  /** @param isOver  whether the run came to its own end; otherwise a reader left without a word, and work may be under way. */
  close(isOver: boolean): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener('abort', this.onOuterAbort);
    if (!isOver) this.stop(closed);
  }
}

// One of each: with its stack, an error costs as much as all else that is done when a reader leaves.
const left = new RunStop('cancelled', 'The client left');
const closed = new RunStop('cancelled', 'The run is over');
