import { BoundedMap } from '../../../lib/bounded-map.ts';
import type { SignalTopic } from './topics.ts';

/** @param isRepeat  the same change was delivered before, by a signal. Caches drop their entry again; who tells people of changes need not. */
export type SignalListener = (payload: string, isRepeat: boolean) => void;
export type WatchListener = (batch: string) => void;
export type SignalInterest = 'all' | 'announced';

/** A healthy database is read twice a second: a change that is read later is not taken for the one that was heard of. */
const heardMs = 2_000;
const heardMax = 10_000;

/** The listeners of this process, and what reaches them: from this process, from a transport, and from the changes of the database. */
export class SignalHub {
  readonly #listeners = new Listeners<SignalTopic, SignalListener>();
  /** One for each listener that wants what other processes publish. */
  readonly #wishes = new Listeners<SignalTopic, object>();
  readonly #watchers = new Listeners<string, WatchListener>();
  readonly #losses = new Listeners<'gap' | 'reset', () => void>();
  /** When a change that the database announces was heard of last by a signal. */
  readonly #heard = new BoundedMap<string, number>(heardMax);

  /** A signal. @param isAnnounced  the changes of the database, which are read soon, repeat it. */
  hear(topic: SignalTopic, payload: string, isAnnounced: boolean): void {
    if (isAnnounced) this.#heard.set(`${topic} ${payload}`, performance.now());
    for (const listener of this.#listeners.list(topic)) listener(payload, false);
  }

  /** A change that was read in the database. */
  hearChange(topic: SignalTopic, subject: string): void {
    const heardAtMs = this.#heard.get(`${topic} ${subject}`) ?? Number.NEGATIVE_INFINITY;
    const isRepeat = performance.now() - heardAtMs < heardMs;
    for (const listener of this.#listeners.list(topic)) listener(subject, isRepeat);
  }

  /** News of a run. @param batch  its events; '': look again. */
  tell(runId: string, batch: string): void {
    for (const listener of this.#watchers.list(runId)) listener(batch);
  }

  /** Signals may have been lost. */
  miss(): void {
    this.#heard.clear();
    for (const listener of this.#losses.list('gap')) listener();
  }

  /** Changes of the database may have been missed. */
  reset(): void {
    for (const listener of this.#losses.list('reset')) listener();
  }

  subscribe(topic: SignalTopic, listener: SignalListener, interest: SignalInterest): () => void {
    const stop = this.#listeners.add(topic, listener);
    const drop = interest === 'all' ? this.#wishes.add(topic, {}) : undefined;
    return () => {
      stop();
      drop?.();
    };
  }

  watch(runId: string, listener: WatchListener): () => void {
    return this.#watchers.add(runId, listener);
  }

  onLoss(kind: 'gap' | 'reset', listener: () => void): () => void {
    return this.#losses.add(kind, listener);
  }

  /** Whether somebody here wants the topic from other processes. */
  wants(topic: SignalTopic): boolean {
    return this.#wishes.list(topic).length > 0;
  }

  wantedTopics(): readonly SignalTopic[] {
    return this.#wishes.subjects();
  }

  isWatched(runId: string): boolean {
    return this.#watchers.list(runId).length > 0;
  }

  watchedRuns(): readonly string[] {
    return this.#watchers.subjects();
  }

  clear(): void {
    for (const listeners of [this.#listeners, this.#wishes, this.#watchers, this.#losses]) listeners.clear();
  }
}

/** Listeners by what they listen to. */
class Listeners<Subject, Listener> {
  readonly #bySubject = new Map<Subject, Set<Listener>>();

  /** @returns a function that removes it again. */
  add(subject: Subject, listener: Listener): () => void {
    const listeners = this.#bySubject.get(subject) ?? new Set<Listener>();
    this.#bySubject.set(subject, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#bySubject.get(subject) === listeners) this.#bySubject.delete(subject);
    };
  }

  list(subject: Subject): readonly Listener[] {
    const listeners = this.#bySubject.get(subject);
    return listeners === undefined ? [] : [...listeners];
  }

  subjects(): readonly Subject[] {
    return [...this.#bySubject.keys()];
  }

  clear(): void {
    this.#bySubject.clear();
  }
}
