import type { SignalListener, SignalTopic } from './signals.ts';

/** The listeners of this process, by topic. */
export class SignalHub {
  readonly #listeners = new Map<SignalTopic, Set<SignalListener>>();
  readonly #gapListeners = new Set<() => void>();
  readonly #resetListeners = new Set<() => void>();

  deliver(topic: SignalTopic, payload: string, isRepeat = false): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(payload, isRepeat);
  }

  subscribe(topic: SignalTopic, listener: SignalListener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set<SignalListener>();
    this.#listeners.set(topic, listeners);
    return added(listeners, listener);
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
    this.#gapListeners.clear();
    this.#resetListeners.clear();
  }
}

/** @returns a function that removes it again. */
function added<T>(set: Set<T>, item: T): () => void {
  set.add(item);
  return () => {
    set.delete(item);
  };
}
