import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { ChangeFeed } from '../signals/change-feed.ts';
import { SignalHub } from '../signals/hub.ts';
import { Quiet } from '../signals/quiet.ts';
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
} from '../signals/signals.ts';
import { RedisConnection } from './connection.ts';
import { RedisKeys } from './keys.ts';
import { RedisOutbox } from './outbox.ts';
import { type Fields, RedisSession, type Source } from './session.ts';

const gapEveryMs = 1_000;
/** Who watches a run is asked at most this often. */
const askEveryMs = 250;
const runsMax = 20_000;
const processesMax = 10_000;
const announcedSet: ReadonlySet<SignalTopic> = new Set(announcedTopics);

export interface RedisSignalsOptions {
  readonly url: string;
  /** Of the database, whose changes are read twice a second, whether or not Redis answers. */
  readonly pool: Pool;
  /** The id of the installation. */
  readonly installation: string;
  readonly onError: (error: Error) => void;
  /** Called when Redis answers again. */
  readonly onBack: () => void;
}

/**
 * Signals between processes by Redis Streams. Each process has a stream of its own, its inbox, and notes in a sorted set of each run that it watches it;
 * who works on the run puts the run's new events into the inboxes of those who watch. So what a process reads follows what is watched there, in one
 * read, however many runs there are. What is asked of runs and changes that caches depend on go to all; changes of lists to those who follow lists.
 *
 * Without Redis, changes are looked up in the database, and it is tried again until it answers. Nothing waits for Redis.
 *
 * @throws Error when the database does not answer. Redis may come later.
 */
export async function createRedisSignals(options: RedisSignalsOptions): Promise<RedisSignals> {
  const signals = new RedisSignals(options);
  await signals.start();
  return signals;
}

export class RedisSignals implements Signals {
  readonly #hub = new SignalHub();
  readonly #origin = randomUUID();
  readonly #keys: RedisKeys;
  readonly #feed: ChangeFeed;
  readonly #outbox: RedisOutbox;
  readonly #quiet: Quiet;
  /** Processes that watch runs of this process, as Redis said last. */
  readonly #watchers = new BoundedMap<string, readonly string[]>(runsMax);
  /** The number of the last entry of each process: a number that is missing is an entry that is lost. */
  readonly #numbers = new BoundedMap<string, number>(processesMax);
  readonly #connection: RedisConnection;
  #gapMs = 0;
  #heardCount = 0;
  #instances = 1;
  #isFollowing = false;

  constructor(options: RedisSignalsOptions) {
    this.#keys = new RedisKeys(options.installation);
    this.#outbox = new RedisOutbox(this.#origin, () => this.session);
    this.#quiet = new Quiet(askEveryMs, (runId) => void this.#ask(runId, false));
    this.#connection = new RedisConnection({
      open: (onLost) =>
        RedisSession.open({
          ...{ url: options.url, keys: this.#keys, origin: this.#origin, onLost },
          onEntry: (source, fields) => this.#hear(source, fields),
          watched: () => this.#hub.watchedRuns(),
          onInstances: (count) => {
            this.#instances = count;
          },
        }),
      onSession: () => this.#begin(),
      onGone: () => {
        this.#isFollowing = false;
        this.#hub.deliverGap();
      },
      onError: options.onError,
      onBack: options.onBack,
    });
    this.#feed = new ChangeFeed({
      pool: options.pool,
      beat: () => undefined,
      onChange: (topic, subject, isRepeat) => this.#hub.deliver(topic, subject, isRepeat),
      onReset: () => this.#hub.deliverReset(),
      onLook: () => this.#look(),
    });
  }

  /** The connection that is there now; undefined while Redis does not answer. */
  get session(): RedisSession | undefined {
    return this.#connection.session;
  }

  get keys(): RedisKeys {
    return this.#keys;
  }

  publish(topic: SignalTopic, payload: string): void {
    this.#hub.deliver(topic, payload);
    const isForAll = announcedSet.has(topic) || controlTopics.has(topic);
    if (announcedSet.has(topic)) this.#feed.noteHeard(topic, payload);
    this.#outbox.add(isForAll ? 'control' : 'lists', `${topic} ${payload}`);
    if (topic !== 'run-changed') return;
    this.#quiet.forget(payload);
    this.#hub.tell(payload, '');
    void this.#ask(payload, true);
  }

  subscribe(topic: SignalTopic, listener: SignalListener, interest?: SignalInterest): () => void {
    const stop = this.#hub.subscribe(topic, listener, interest);
    void this.#followLists();
    return stop;
  }

  tell(runId: string, batch: () => string = () => ''): void {
    this.#hub.tell(runId, '');
    if (this.session === undefined) return;
    const watchers = this.#watchers.get(runId);
    if (watchers !== undefined) this.#outbox.tell(watchers, runId, batch());
    this.#quiet.ask(runId);
  }

  watch(runId: string, listener: WatchListener): () => void {
    const isFirst = !this.#hub.isWatched(runId);
    const stop = this.#hub.watch(runId, listener);
    // What was told before Redis knew of the interest is looked up.
    if (isFirst) {
      this.session
        ?.watch(runId)
        .then(() => this.#hub.tell(runId, ''))
        .catch(() => undefined);
    }
    return () => {
      stop();
      if (!this.#hub.isWatched(runId)) this.session?.unwatch(runId).catch(() => undefined);
    };
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
    return this.session === undefined ? 'polling' : 'live';
  }

  problem(): string | undefined {
    return this.state() === 'live'
      ? undefined
      : 'Redis does not answer; changes of other instances are looked up in the database.';
  }

  get counts(): SignalCounts {
    return { sent: this.#outbox.sent, heard: this.#heardCount, instances: this.#instances, watched: this.#hub.watchedCount };
  }

  async start(): Promise<void> {
    await this.#feed.start();
    await this.#connection.start();
  }

  async close(): Promise<void> {
    this.#quiet.close();
    await this.#outbox.idle();
    this.#hub.clear();
    await this.#feed.close();
    await this.#connection.close();
  }

  /** Redis answers, perhaps again: others may have missed what this process could not send, and this process what they sent. */
  async #begin(): Promise<void> {
    this.#watchers.clear();
    await this.#followLists();
    this.#outbox.addGap();
    this.#hub.deliverGap();
  }

  /** The database answered a look. */
  #look(): void {
    void this.#followLists();
    const now = performance.now();
    if (this.session !== undefined || now - this.#gapMs < gapEveryMs) return;
    this.#gapMs = now;
    this.#hub.deliverGap();
  }

  /** Reads the stream of lists while somebody here listens to one of its topics. */
  async #followLists(): Promise<void> {
    const session = this.session;
    const isWanted = this.#hub.wantedTopics().some((topic) => !announcedSet.has(topic) && !controlTopics.has(topic));
    if (session === undefined || isWanted === this.#isFollowing) return;
    this.#isFollowing = isWanted;
    try {
      await session.readLists(isWanted);
      // What changed before the stream was read.
      if (isWanted) this.#hub.deliverGap();
    } catch {
      // The session is lost, which its heartbeat finds out.
    }
  }

  /** Asks who watches a run, and tells those who are new, or all. */
  async #ask(runId: string, isForAll: boolean): Promise<void> {
    const session = this.session;
    if (session === undefined) return;
    const watcherIds = await session.watchersOf(runId).catch(() => []);
    const others = watcherIds.filter((origin) => origin !== this.#origin);
    const knownWatchers = this.#watchers.get(runId) ?? [];
    if (others.length === 0) this.#watchers.delete(runId);
    else this.#watchers.set(runId, others);
    this.#outbox.tell(isForAll ? others : others.filter((origin) => !knownWatchers.includes(origin)), runId, '');
  }

  #hear(source: Source, fields: Fields): void {
    this.#heardCount += 1;
    if (source === 'inbox') {
      for (let at = 0; at + 1 < fields.length; at += 2) {
        const [runId = '', batch = ''] = [fields[at], fields[at + 1]];
        this.#hub.tell(runId, batch);
      }
      return;
    }
    const { from, number, lines } = RedisOutbox.read(fields);
    if (from === undefined || from === this.#origin) return;
    const before = this.#numbers.get(`${source} ${from}`);
    this.#numbers.set(`${source} ${from}`, number);
    if (lines === undefined || (before !== undefined && number > before + 1)) this.#hub.deliverGap();
    for (const line of lines ?? []) this.#hearLine(line);
  }

  #hearLine(line: string): void {
    const space = line.indexOf(' ');
    const [topic, payload] = [line.slice(0, space) as SignalTopic, line.slice(space + 1)];
    if (announcedSet.has(topic)) this.#feed.noteHeard(topic, payload);
    this.#hub.deliver(topic, payload);
  }
}
