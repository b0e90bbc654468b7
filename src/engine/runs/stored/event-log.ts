import { isLast, type RunEvent } from '../../../entities/conversations/runs/event.ts';

const pieceCharsMax = 64 * 1024;

/**
 * The stored events of a run that this process works on, for its readers. Each reader keeps only its position, so a slow reader
 * costs no memory. The index of an event is its sequence number.
 */
export class EventLog {
  readonly #events: RunEvent[] = [];
  #waiting: (() => void)[] = [];
  #isOpen = true;

  /** Whether the last event was added. */
  get isOver(): boolean {
    const last = this.#events.at(-1);
    return last !== undefined && isLast(last);
  }

  /** All events. */
  get events(): readonly RunEvent[] {
    return this.#events;
  }

  get length(): number {
    return this.#events.length;
  }

  /** Whether an output item was begun, or a step of a flow finished, at this index or later. */
  hasOutputFrom(index: number): boolean {
    return this.#events.some(
      ({ type }, at) => at >= index && (type === 'response.output_item.added' || type === 'parley.flow.step'),
    );
  }

  /** Adds events that are stored in the database. */
  add(events: readonly RunEvent[]): void {
    for (const event of events) this.#events.push(event);
    this.#wake();
  }

  /** This process adds no more events: the run is over, or another process has it. */
  close(): void {
    this.#isOpen = false;
    this.#wake();
  }

  /** Yields the events after a sequence number until the log is closed or the signal fires. */
  async *read(afterSequence: number, signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    let next = afterSequence + 1;
    while (!signal.aborted) {
      if (next < this.#events.length) {
        const batch = this.#piece(next);
        next += batch.length;
        yield batch;
      } else if (this.#isOpen && !this.isOver) await this.#nextChange(signal);
      else return;
    }
  }

  /** The events from an index on, as many as one write should hold, so that a slow reader holds only a part of a long answer. */
  #piece(from: number): readonly RunEvent[] {
    let end = from;
    for (let chars = 0; end < this.#events.length && chars < pieceCharsMax; end += 1) {
      const event = this.#events[end];
      if (event !== undefined && 'json' in event) chars += event.json.length;
    }
    return this.#events.slice(from, end);
  }

  #nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        signal.removeEventListener('abort', finish);
        resolve();
      };
      signal.addEventListener('abort', finish, { once: true });
      this.#waiting.push(finish);
    });
  }

  #wake(): void {
    for (const wakeWaiter of this.#waiting.splice(0)) wakeWaiter();
  }
}
