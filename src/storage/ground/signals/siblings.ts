import { BoundedMap } from '../../../lib/bounded-map.ts';
import { SignalsLost } from './connection.ts';
import type { SignalHub } from './hub.ts';
import { announcedTopics, controlTopics, type SignalTopic } from './topics.ts';
import type { SignalTransport, TransportCounts } from './transport.ts';

/** The other processes of the same service, which have one embedded database together. */
export interface SiblingLink {
  /** Their numbers. */
  readonly others: readonly number[];
  /** Waits for nothing. What one process sends to another arrives in its order. */
  send(to: number | 'others', message: SignalMessage): void;
  listen(listener: SiblingListener): void;
}

export interface SiblingListener {
  onMessage(message: SignalMessage, from: number): void;
  /** A process serves, perhaps in the place of one that ended. */
  onJoin(number: number): void;
  onLeave(number: number): void;
  /** Messages of this process or to it were dropped, because they were not read in time. */
  onLoss(): void;
}

/** `topics`: the lists that the process follows, all of them. `tell`: news of a run. */
export type SignalMessage =
  | readonly ['topics', readonly string[]]
  | readonly ['signal', SignalTopic, payload: string]
  | readonly ['watch' | 'unwatch', runId: string]
  | readonly ['tell', runId: string, batch: string];

/** A longer batch of events is read from the database. */
const batchLengthMax = 64 * 1024;
/** Who begins to watch a run is told again what was told so long ago at most. */
const toldAgainMs = 2_000;
const toldMax = 10_000;

/**
 * Messages between the processes of one service. Who watches which run is known exactly, so events go only where they are read. A process that joins
 * hears from each other what that one follows, and tells it what it follows itself.
 */
export class SiblingTransport implements SignalTransport {
  readonly isLive = true;
  readonly problem = 'Messages between the processes of this machine were dropped; changes are looked up in the database';
  readonly #hub: SignalHub;
  readonly #link: SiblingLink;
  readonly #topics = new Map<number, ReadonlySet<string>>();
  readonly #watchers = new Map<string, Set<number>>();
  /** Runs that this process told of lately: who begins to watch one may have looked before. */
  readonly #told = new BoundedMap<string, number>(toldMax);
  readonly #onError: (error: SignalsLost) => void;
  #sentCount = 0;
  #heardCount = 0;

  constructor(hub: SignalHub, link: SiblingLink, onError: (error: SignalsLost) => void) {
    this.#hub = hub;
    this.#link = link;
    this.#onError = onError;
  }

  get counts(): TransportCounts {
    return { sent: this.#sentCount, heard: this.#heardCount, instances: this.#link.others.length + 1 };
  }

  async start(): Promise<void> {
    this.#link.listen({
      onMessage: (message, from) => this.#hear(message, from),
      onJoin: (number) => this.#introduce(number),
      onLeave: (number) => this.#forget(number),
      onLoss: () => {
        this.#onError(new SignalsLost(this.problem));
        this.#introduce('others');
        this.#hub.miss();
      },
    });
  }

  send(topic: SignalTopic, payload: string): void {
    const isForAll = announcedTopics.has(topic) || controlTopics.has(topic);
    for (const number of this.#link.others)
      if (isForAll || this.#topics.get(number)?.has(topic) === true) this.#post(number, ['signal', topic, payload]);
  }

  sendEvents(runId: string, makeBatch: () => string): void {
    this.#told.set(runId, performance.now());
    const watchers = this.#watchers.get(runId);
    if (watchers === undefined) return;
    const batch = makeBatch();
    for (const number of watchers) this.#post(number, ['tell', runId, batch.length > batchLengthMax ? '' : batch]);
  }

  /** All that watch have got the events. */
  tellWatchers(runId: string, isForAll: boolean): void {
    this.#told.set(runId, performance.now());
    if (isForAll) for (const number of this.#watchers.get(runId) ?? []) this.#post(number, ['tell', runId, '']);
  }

  watch(runId: string): void {
    this.#post('others', ['watch', runId]);
  }

  unwatch(runId: string): void {
    this.#post('others', ['unwatch', runId]);
  }

  follow(): void {
    this.#post('others', ['topics', this.#hub.wantedTopics()]);
  }

  look(): void {
    // Whatever is sent arrives.
  }

  async close(): Promise<void> {
    this.#link.listen({ onMessage: ignore, onJoin: ignore, onLeave: ignore, onLoss: ignore });
  }

  #post(to: number | 'others', message: SignalMessage): void {
    if (this.#link.others.length === 0) return;
    this.#sentCount += 1;
    this.#link.send(to, message);
  }

  /** Says what this process follows. What others published before they knew is looked up. */
  #introduce(to: number | 'others'): void {
    this.#post(to, ['topics', this.#hub.wantedTopics()]);
    for (const runId of this.#hub.watchedRuns()) this.#post(to, ['watch', runId]);
    this.#hub.miss();
  }

  #forget(number: number): void {
    this.#topics.delete(number);
    for (const runId of this.#watchers.keys()) this.#dropWatch(number, runId);
    // It may have ended in the middle of what it had to say.
    this.#hub.miss();
  }

  #dropWatch(number: number, runId: string): void {
    const watchers = this.#watchers.get(runId);
    watchers?.delete(number);
    if (watchers?.size === 0) this.#watchers.delete(runId);
  }

  #hear(message: SignalMessage, from: number): void {
    this.#heardCount += 1;
    const [kind, subject, text] = message;
    if (kind === 'topics') this.#topics.set(from, new Set(subject));
    else if (kind === 'signal') this.#hub.hear(subject, text, announcedTopics.has(subject));
    else if (kind === 'tell') this.#hub.tell(subject, text);
    else if (kind === 'unwatch') this.#dropWatch(from, subject);
    else this.#noteWatch(from, subject);
  }

  #noteWatch(from: number, runId: string): void {
    this.#watchers.set(runId, (this.#watchers.get(runId) ?? new Set<number>()).add(from));
    const toldMs = this.#told.get(runId) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - toldMs < toldAgainMs) this.#post(from, ['tell', runId, '']);
  }
}

function ignore(): void {}
