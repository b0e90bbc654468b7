import type { Signals } from '../../../storage/database/signals/signals.ts';

/** The least time between two signals about one run, so that a fast model does not flood the other instances. */
const quietMs = 250;

/** Tells readers of runs, in this and other processes, to look again. */
export class RunChanges {
  readonly #signals: Signals;
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Runs whose last signal is less than `quietMs` old. */
  readonly #quiet = new Map<string, { readonly timer: NodeJS.Timeout; hasChanged: boolean }>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor(signals: Signals) {
    this.#signals = signals;
    this.#unsubscribe = [signals.subscribe('run-changed', (runId) => this.#wake(runId)), signals.onGap(() => this.wakeAll())];
  }

  /** The first change is told at once, and so is an urgent one; others are told together. */
  publish(runId: string, isUrgent: boolean): void {
    const quiet = this.#quiet.get(runId);
    if (quiet !== undefined && !isUrgent) {
      quiet.hasChanged = true;
      return;
    }
    clearTimeout(quiet?.timer);
    this.#quiet.delete(runId);
    // After its end a run changes no more.
    if (!isUrgent) this.#beQuiet(runId);
    this.#signals.publish('run-changed', runId);
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
    for (const { timer } of this.#quiet.values()) clearTimeout(timer);
  }

  #beQuiet(runId: string): void {
    const timer = setTimeout(() => {
      const { hasChanged } = quiet;
      this.#quiet.delete(runId);
      if (hasChanged) this.publish(runId, false);
    }, quietMs);
    const quiet = { timer: timer.unref(), hasChanged: false };
    this.#quiet.set(runId, quiet);
  }

  #wake(runId: string): void {
    for (const done of [...(this.#waiting.get(runId) ?? [])]) done();
  }
}
