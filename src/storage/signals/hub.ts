import type { SignalTopic } from '../signals.ts';

/** Who listens to what in this process. */
export class SignalHub {
  readonly #listeners = new Map<SignalTopic, Set<(payload: string) => void>>();
  readonly #gapListeners = new Set<() => void>();

  deliver(topic: SignalTopic, payload: string): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(payload);
  }

  subscribe(topic: SignalTopic, listener: (payload: string) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  deliverGap(): void {
    for (const listener of this.#gapListeners) listener();
  }

  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => {
      this.#gapListeners.delete(listener);
    };
  }

  clear(): void {
    this.#listeners.clear();
    this.#gapListeners.clear();
  }
}
