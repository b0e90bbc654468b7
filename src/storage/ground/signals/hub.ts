import type { SignalInterest, SignalListener, SignalTopic, WatchListener } from './signals.ts';

/** The listeners of this process, by topic. */
export class SignalHub {
  readonly #listeners = new Map<SignalTopic, Set<SignalListener>>();
  /** By topic: how many listeners want what other processes publish. */
  readonly #wanted = new Map<SignalTopic, number>();
  readonly #gapListeners = new Set<() => void>();
  readonly #resetListeners = new Set<() => void>();
  readonly #watchers = new Map<string, Set<WatchListener>>();

  deliver(topic: SignalTopic, payload: string, isRepeat = false): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(payload, isRepeat);
  }

  subscribe(topic: SignalTopic, listener: SignalListener, interest: SignalInterest = 'all'): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set<SignalListener>();
    this.#listeners.set(topic, listeners);
    const stop = added(listeners, listener);
    if (interest === 'announced') return stop;
    this.#wanted.set(topic, (this.#wanted.get(topic) ?? 0) + 1);
    let isOver = false;
    return () => {
      stop();
      if (!isOver) this.#wanted.set(topic, (this.#wanted.get(topic) ?? 0) - 1);
      isOver = true;
    };
  }

  /** Whether somebody wants the topic from others. */
  wants(topic: SignalTopic): boolean {
    return (this.#wanted.get(topic) ?? 0) > 0;
  }

  /** The topics that somebody wants from others. */
  wantedTopics(): readonly SignalTopic[] {
    return [...this.#wanted].filter(([, count]) => count > 0).map(([topic]) => topic);
  }

  tell(runId: string, batch: string): void {
    for (const listener of [...(this.#watchers.get(runId) ?? [])]) listener(batch);
  }

  watch(runId: string, listener: WatchListener): () => void {
    const watchers = this.#watchers.get(runId) ?? new Set<WatchListener>();
    this.#watchers.set(runId, watchers);
    watchers.add(listener);
    return () => {
      watchers.delete(listener);
      if (watchers.size === 0 && this.#watchers.get(runId) === watchers) this.#watchers.delete(runId);
    };
  }

  isWatched(runId: string): boolean {
    return this.#watchers.has(runId);
  }

  get watchedCount(): number {
    return this.#watchers.size;
  }

  watchedRuns(): readonly string[] {
    return [...this.#watchers.keys()];
  }

  deliverGap(): void {
    for (const listener of this.#gapListeners) listener();
  }

  onGap(listener: () => void): () => void {
    return added(this.#gapListeners, listener);
  }

  deliverReset(): void {
    for (const listener of this.#resetListeners) listener();
  }

  onReset(listener: () => void): () => void {
    return added(this.#resetListeners, listener);
  }

  clear(): void {
    this.#listeners.clear();
    this.#wanted.clear();
    this.#gapListeners.clear();
    this.#resetListeners.clear();
    this.#watchers.clear();
  }
}

/** @returns a function that removes it again. */
function added<T>(set: Set<T>, item: T): () => void {
  set.add(item);
  return () => {
    set.delete(item);
  };
}
