import { isLast, type RunEvent } from '../../../entities/runs/event.ts';

const pieceCharsMax = 64 * 1024;

/**
 * The stored events of one run that this process works on, for its readers: each keeps only its place, so a slow one costs no memory.
 * An event's index is its sequence number.
 */
export class EventLog {
  readonly #events: RunEvent[] = [];
  #waiting: (() => void)[] = [];
  #isOpen = true;

  /** True once the last event is here. */
  get isOver(): boolean {
    const last = this.#events.at(-1);
    return last !== undefined && isLast(last);
  }

  get length(): number {
    return this.#events.length;
  }

  /** Whether an item of the output was begun at this place or behind it. */
  hasOutputFrom(index: number): boolean {
    return this.#events.some((event, at) => at >= index && event.type === 'response.output_item.added');
  }

  /** Takes events that are in the database. */
  add(events: readonly RunEvent[]): void {
    for (const event of events) this.#events.push(event);
    this.#wake();
  }

  /** Nothing more comes from this process: the run is over, or another process has it. */
  close(): void {
    this.#isOpen = false;
    this.#wake();
  }

  /** Yields what comes after a sequence number, until the log is closed or the signal fires. */
  async *read(afterSequence: number, signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    let next = afterSequence + 1;
    while (!signal.aborted) {
      if (next < this.#events.length) {
        const batch = this.#piece(next);
        next += batch.length;
        yield batch;
      } else if (this.#isOpen && !this.isOver) await this.#news(signal);
      else return;
    }
  }

  /** The events from an index on, as many as one write should hold: a slow reader holds no more of a long answer. */
  #piece(from: number): readonly RunEvent[] {
    let end = from;
    for (let chars = 0; end < this.#events.length && chars < pieceCharsMax; end += 1) {
      const event = this.#events[end];
      if (event !== undefined && 'json' in event) chars += event.json.length;
    }
    return this.#events.slice(from, end);
  }

  #news(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.push(done);
    });
  }

  #wake(): void {
    for (const done of this.#waiting.splice(0)) done();
  }
}
