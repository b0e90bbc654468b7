import type { Signals } from '../../../storage/database/signals/signals.ts';

/** The least time between two signals about one run, so that a fast model does not flood the other instances. */
const quietMs = 50;

/** Tells readers of runs, in this and other processes, to look again. */
export class RunChanges {
  readonly #signals: Signals;
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #planned = new Map<string, NodeJS.Timeout>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor(signals: Signals) {
    this.#signals = signals;
    this.#unsubscribe = [signals.subscribe('run-changed', (runId) => this.#wake(runId)), signals.onGap(() => this.wakeAll())];
  }

  publish(runId: string, isUrgent: boolean): void {
    const planned = this.#planned.get(runId);
    if (isUrgent) {
      clearTimeout(planned);
      this.#planned.delete(runId);
      this.#signals.publish('run-changed', runId);
    } else if (planned === undefined) {
      const timer = setTimeout(() => {
        this.#planned.delete(runId);
        this.#signals.publish('run-changed', runId);
      }, quietMs);
      this.#planned.set(runId, timer.unref());
    }
  }

  /** Resolves at the next change of a run, after `timeoutMs`, or when the signal fires. */
  next(runId: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const listeners = this.#waiting.get(runId) ?? new Set();
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        listeners.delete(done);
        if (listeners.size === 0) this.#waiting.delete(runId);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs).unref();
      signal.addEventListener('abort', done, { once: true });
      listeners.add(done);
      this.#waiting.set(runId, listeners);
    });
  }

  /** All readers look again. */
  wakeAll(): void {
    for (const runId of [...this.#waiting.keys()]) this.#wake(runId);
  }

  close(): void {
    for (const stop of this.#unsubscribe) stop();
    for (const timer of this.#planned.values()) clearTimeout(timer);
  }

  #wake(runId: string): void {
    for (const done of [...(this.#waiting.get(runId) ?? [])]) done();
  }
}
