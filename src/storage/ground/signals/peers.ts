/** A process says so often that it is there, and what it follows. */
export const presenceEveryMs = 5_000;
/** After this time without a word, a process or its interest counts as gone. */
const goneAfterMs = 3 * presenceEveryMs;

/** The other processes on the same database, as they said themselves: which topics they listen to, and which runs they watch. */
export class Peers {
  readonly #processes = new Map<string, { untilMs: number; topics: ReadonlySet<string> }>();
  readonly #runs = new Map<string, Map<string, number>>();
  /** Until then some process may not have said yet what it follows. */
  #unsureUntilMs = performance.now() + goneAfterMs;

  /** Messages of others may have been missed. */
  beUnsure(): void {
    this.#unsureUntilMs = performance.now() + goneAfterMs;
  }

  noteProcess(origin: string, topics: ReadonlySet<string>): void {
    this.#processes.set(origin, { untilMs: performance.now() + goneAfterMs, topics });
  }

  /** @returns whether the process did not watch the run before. */
  noteWatch(origin: string, runId: string): boolean {
    const watchers = this.#runs.get(runId) ?? new Map<string, number>();
    this.#runs.set(runId, watchers);
    const isNew = (watchers.get(origin) ?? 0) < performance.now();
    watchers.set(origin, performance.now() + goneAfterMs);
    return isNew;
  }

  /** Other processes. */
  get count(): number {
    return this.#processes.size;
  }

  /** Whether another process may listen to the topic. */
  mayCare(topic: string): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#unsureUntilMs) return true;
    return [...this.#processes.values()].some(({ untilMs, topics }) => untilMs > nowMs && topics.has(topic));
  }

  watchersOf(runId: string): readonly string[] {
    const nowMs = performance.now();
    return [...(this.#runs.get(runId) ?? [])].filter(([, untilMs]) => untilMs > nowMs).map(([origin]) => origin);
  }

  /** Drops what is over. Called now and then. */
  sweep(): void {
    const nowMs = performance.now();
    for (const [origin, { untilMs }] of this.#processes) if (untilMs <= nowMs) this.#processes.delete(origin);
    for (const [runId, watchers] of this.#runs) {
      for (const [origin, untilMs] of watchers) if (untilMs <= nowMs) watchers.delete(origin);
      if (watchers.size === 0) this.#runs.delete(runId);
    }
  }
}
