import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import type { Signals } from '../../../storage/ground/signals/signals.ts';

/** A reader that falls this far behind reads the database instead. */
const heldMax = 2_000;

/** Tells readers of runs, in this and other processes, to look again. */
export class RunChanges {
  readonly #signals: Signals;
  readonly #runs = new Map<string, { readonly watches: Set<RunWatch>; readonly stop: () => void }>();
  readonly #unsubscribe: () => void;

  constructor(signals: Signals) {
    this.#signals = signals;
    this.#unsubscribe = signals.onGap(() => this.wakeAll());
  }

  /** The state of the run has changed. */
  publish(runId: string): void {
    this.#signals.publish('run-changed', runId);
  }

  /** Its log has grown by these events, which are stored. */
  tell(runId: string, events: readonly RunEvent[]): void {
    this.#signals.tell(runId, () => JSON.stringify(events));
  }

  /** Begins to listen. The caller closes it. */
  watch(runId: string): RunWatch {
    const watches = this.#runs.get(runId)?.watches ?? this.#begin(runId);
    const watch = new RunWatch(() => {
      watches.delete(watch);
      if (watches.size > 0) return;
      this.#runs.get(runId)?.stop();
      this.#runs.delete(runId);
    });
    watches.add(watch);
    return watch;
  }

  /** All readers look again. */
  wakeAll(): void {
    for (const { watches } of this.#runs.values()) for (const watch of watches) watch.hear([]);
  }

  close(): void {
    this.#unsubscribe();
    for (const { stop } of this.#runs.values()) stop();
  }

  #begin(runId: string): Set<RunWatch> {
    const watches = new Set<RunWatch>();
    const stop = this.#signals.watch(runId, (batch) => {
      const events: readonly RunEvent[] = batch === '' ? [] : (JSON.parse(batch) as readonly RunEvent[]);
      for (const watch of [...watches]) watch.hear(events);
    });
    this.#runs.set(runId, { watches, stop });
    return watches;
  }
}

/** What one reader hears of a run. */
export class RunWatch {
  readonly close: () => void;
  #events: RunEvent[] = [];
  /** The database may have what was not told. */
  #mustLook = true;
  #wake: (() => void) | undefined;

  constructor(close: () => void) {
    this.close = close;
  }

  /** @param events  none: something has changed, look again. */
  hear(events: readonly RunEvent[]): void {
    if (events.length === 0 || this.#events.length > heldMax) this.#mustLook = true;
    else this.#events.push(...events);
    this.#wake?.();
  }

  /**
   * The events after this number that were told, with none missing in between. Undefined: look into the database. What changes from this call on is
   * heard, so no change is missed while the database is read.
   */
  take(afterSequence: number): readonly RunEvent[] | undefined {
    const events = this.#events.filter(({ sequence }) => sequence > afterSequence);
    this.#events = [];
    const isWhole = events.every(({ sequence }, index) => sequence === afterSequence + 1 + index);
    if (isWhole && events.length > 0) return events;
    if (isWhole && !this.#mustLook) return [];
    this.#mustLook = false;
    return undefined;
  }

  /** Resolves when there is something to take, at the latest after `timeoutMs` or when the signal fires. */
  next(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.#mustLook || this.#events.length > 0 || signal.aborted) {
        resolve();
        return;
      }
      const finish = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', finish);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(() => {
        this.#mustLook = true;
        finish();
      }, timeoutMs).unref();
      signal.addEventListener('abort', finish, { once: true });
      this.#wake = finish;
    });
  }
}
