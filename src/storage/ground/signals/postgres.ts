import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { ChangeFeed } from './change-feed.ts';
import { SignalHub } from './hub.ts';
import { Listener } from './listener.ts';
import { Outbox } from './outbox.ts';
import { Peers, presenceEveryMs } from './peers.ts';
import { Quiet } from './quiet.ts';
import {
  announcedTopics,
  controlTopics,
  type SignalCounts,
  type SignalInterest,
  type SignalListener,
  type SignalState,
  type Signals,
  type SignalTopic,
  type WatchListener,
} from './signals.ts';
import { listenerName, StuckListeners } from './stuck-listeners.ts';

/** Of the triggers in the migrations, and of signals that ask for something; each has a notification of its own. */
const channel = 'parley_signals';
/** Of all processes: several lines a notification. Also carries the heartbeats. */
const newsChannel = 'parley_news';
const answerTimeoutMs = 2_000;
const gapEveryMs = 1_000;
/** Some process sends a heartbeat when it has heard none for this long: a little less than the time between two looks. */
const beatAfterMs = 400;
/** The least time between two signals about the events of one run. */
const tellEveryMs = 250;
/** Of the notifications that the triggers send. */
const triggerOrigin = '-';
/** Who begins to watch a run is told again what was told so long ago at most. */
const toldAgainMs = 2_000;
const toldMax = 10_000;
/** A line of watched runs has at most this many. */
const idsPerLine = 100;
const announcedSet: ReadonlySet<SignalTopic> = new Set(announcedTopics);

/**
 * Signals between the processes on one PostgreSQL server. `publish` calls the listeners of this process at once; other processes get the signal by
 * LISTEN on a connection of its own. Caches depend on `announcedTopics`, so changes of those are also read from a table twice a second.
 *
 * Each process says what it follows, and has a channel of its own for the runs that it watches. Signals that nobody elsewhere follows are not sent.
 *
 * @throws Error when the database does not answer.
 */
export async function createPostgresSignals(pool: Pool, onError: (error: Error) => void): Promise<Signals> {
  const signals = new PostgresSignals(pool, onError);
  await signals.start();
  return signals;
}

class PostgresSignals implements Signals {
  readonly #hub = new SignalHub();
  /** Names this process in its messages. */
  readonly #origin = randomUUID();
  readonly #closing = new AbortController();
  readonly #feed: ChangeFeed;
  readonly #listener: Listener;
  readonly #outbox: Outbox;
  readonly #peers = new Peers();
  readonly #stuck: StuckListeners;
  readonly #quiet: Quiet;
  readonly #presence: NodeJS.Timeout;
  /** Runs that this process told of lately: who begins to watch one is told again. */
  readonly #told = new BoundedMap<string, number>(toldMax);
  #gapMs = 0;
  #heardCount = 0;

  constructor(pool: Pool, onError: (error: Error) => void) {
    this.#outbox = new Outbox(pool, onError, this.#closing.signal);
    this.#quiet = new Quiet(tellEveryMs, (runId) => this.#tellNow(runId));
    this.#feed = new ChangeFeed({
      pool,
      beat: () => (this.#listener.silenceMs < beatAfterMs ? undefined : [newsChannel, this.#presenceLine()]),
      onChange: (topic, subject, isRepeat) => this.#hub.deliver(topic, subject, isRepeat),
      onReset: () => this.#hub.deliverReset(),
      onLook: () => this.#look(),
    });
    this.#stuck = new StuckListeners(this.#feed.pool);
    const connection = { ...pool.options, application_name: listenerName, connectionTimeoutMillis: answerTimeoutMs };
    this.#listener = new Listener({
      ...{ connection, onError },
      channels: [channel, newsChannel, toChannel(this.#origin)],
      onMessage: (_channel, payload) => {
        this.#heardCount += 1;
        for (const line of payload.split('\n')) this.#hear(line);
      },
      onReplaced: () => {
        this.#feed.forgetHeard();
        this.#peers.beUnsure();
        this.#announce();
        this.#hub.deliverGap();
      },
    });
    this.#presence = setInterval(() => void this.#tick(), presenceEveryMs).unref();
  }

  publish(topic: SignalTopic, payload: string): void {
    this.#hub.deliver(topic, payload);
    if (announcedSet.has(topic)) return;
    if (controlTopics.has(topic)) this.#outbox.add(channel, `${this.#origin} ${topic} ${payload}`, true);
    else if (this.#peers.mayCare(topic)) this.#outbox.add(newsChannel, `${this.#origin} ${topic} ${payload}`);
    if (topic !== 'run-changed') return;
    this.#quiet.forget(payload);
    this.#hub.tell(payload, '');
    this.#tellNow(payload);
  }

  subscribe(topic: SignalTopic, listener: SignalListener, interest?: SignalInterest): () => void {
    const wasWanted = this.#hub.wants(topic);
    const stop = this.#hub.subscribe(topic, listener, interest);
    if (!wasWanted && this.#hub.wants(topic)) this.#outbox.add(newsChannel, this.#presenceLine());
    return stop;
  }

  tell(runId: string): void {
    this.#hub.tell(runId, '');
    this.#quiet.ask(runId);
  }

  watch(runId: string, listener: WatchListener): () => void {
    const isFirst = !this.#hub.isWatched(runId);
    const stop = this.#hub.watch(runId, listener);
    if (isFirst) this.#outbox.add(newsChannel, `${this.#origin} watch ${runId}`);
    return stop;
  }

  onGap(listener: () => void): () => void {
    return this.#hub.onGap(listener);
  }

  onReset(listener: () => void): () => void {
    return this.#hub.onReset(listener);
  }

  isHealthy(): boolean {
    return this.#feed.isFresh;
  }

  state(): SignalState {
    if (!this.#feed.isFresh) return 'lost';
    return this.#listener.isHearing ? 'live' : 'polling';
  }

  problem(): string | undefined {
    const isLive = this.state() === 'live';
    return isLive ? undefined : 'No notifications arrive from the database; changes are looked up twice a second.';
  }

  get counts(): SignalCounts {
    return {
      sent: this.#outbox.sent,
      heard: this.#heardCount,
      instances: this.#peers.count + 1,
      watched: this.#hub.watchedCount,
      queueUsage: this.#stuck.usage,
      endedListeners: this.#stuck.ended,
    };
  }

  async start(): Promise<void> {
    await this.#listener.start();
    await this.#feed.start();
    this.#announce();
  }

  async close(): Promise<void> {
    clearInterval(this.#presence);
    this.#quiet.close();
    this.#closing.abort();
    await this.#outbox.idle();
    this.#hub.clear();
    await this.#feed.close();
    await this.#listener.close();
  }

  /** The database answered a look. */
  #look(): void {
    this.#listener.check();
    const now = performance.now();
    if (this.#listener.isHearing || now - this.#gapMs < gapEveryMs) return;
    this.#gapMs = now;
    this.#hub.deliverGap();
  }

  async #tick(): Promise<void> {
    // Who is silent only because nothing is heard still has its share of limits.
    if (this.#listener.isHearing) this.#peers.sweep();
    this.#announce();
    // The database does not answer: the next look finds the queue.
    await this.#stuck.look().catch(() => undefined);
  }

  /** Tells the others what this process follows. */
  #announce(): void {
    this.#outbox.add(newsChannel, this.#presenceLine());
    const runs = this.#hub.watchedRuns();
    for (let at = 0; at < runs.length; at += idsPerLine) {
      this.#outbox.add(newsChannel, `${this.#origin} watch ${runs.slice(at, at + idsPerLine).join(',')}`);
    }
  }

  #presenceLine(): string {
    return `${this.#origin} here ${this.#hub.wantedTopics().join(',')}`;
  }

  #tellNow(runId: string): void {
    this.#told.set(runId, performance.now());
    for (const origin of this.#peers.watchersOf(runId)) {
      if (origin !== this.#origin) this.#outbox.add(toChannel(origin), `${this.#origin} told ${runId}`);
    }
  }

  #hear(line: string): void {
    const [origin, topic, ...rest] = line.split(' ');
    const payload = rest.join(' ');
    if (origin === undefined || topic === undefined || origin === this.#origin) return;
    // A connection that works delivers the notifications of all changes.
    if (origin === triggerOrigin) this.#feed.noteHeard(topic, payload);
    if (topic === 'told') this.#hub.tell(payload, '');
    else if (topic === 'watch') this.#noteWatched(origin, payload.split(','));
    else if (topic === 'here') this.#peers.noteProcess(origin, new Set(payload.split(',')));
    else this.#hub.deliver(topic as SignalTopic, payload);
  }

  /** A process that began to watch may have read the run before its last events were written, and these may have been told before it was known here. */
  #noteWatched(origin: string, runIds: readonly string[]): void {
    for (const runId of runIds) {
      const isNew = this.#peers.noteWatch(origin, runId);
      const toldMs = this.#told.get(runId) ?? Number.NEGATIVE_INFINITY;
      if (isNew && performance.now() - toldMs < toldAgainMs) this.#outbox.add(toChannel(origin), `${this.#origin} told ${runId}`);
    }
  }
}

/** The channel of one process. */
function toChannel(origin: string): string {
  return `parley_to_${origin.replaceAll('-', '')}`;
}
