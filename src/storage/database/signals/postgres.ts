// Raw SQL: Prisma has no NOTIFY.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { openPool } from '../pool.ts';
import { ChangeFeed } from './change-feed.ts';
import { SignalHub } from './hub.ts';
import { Listener } from './listener.ts';
import { announcedTopics, type SignalListener, type Signals, type SignalTopic } from './signals.ts';

/** The triggers in the migrations use the same name. */
const channel = 'parley_signals';
const answerTimeoutMs = 2_000;
const republishMs = 250;
const gapEveryMs = 1_000;
/** Of the notifications that the triggers send. */
const triggerOrigin = '-';
/** A healthy database is read twice a second: a row that comes later is not taken for the one of a notification. */
const heardMs = 2_000;
const heardMax = 10_000;
const announced: ReadonlySet<SignalTopic> = new Set(announcedTopics);

/**
 * Signals between the processes on one PostgreSQL server. `publish` calls the listeners of this process at once; other processes get the signal by
 * LISTEN on a connection of its own. Caches depend on `announcedTopics`, so changes of those are also read from a table twice a second.
 *
 * @throws Error when the database does not answer.
 */
export async function createPostgresSignals(pool: Pool, onError: (error: Error) => void): Promise<Signals> {
  const signals = new PostgresSignals(pool, onError);
  await signals.start();
  return signals;
}

class PostgresSignals implements Signals {
  readonly #pool: Pool;
  readonly #onError: (error: Error) => void;
  readonly #hub = new SignalHub();
  /** Marks this process's own notifications, so that its listeners are not called twice. */
  readonly #origin = randomUUID();
  readonly #closing = new AbortController();
  readonly #feedPool: Pool;
  readonly #feed: ChangeFeed;
  readonly #listener: Listener;
  /** When a notification of a change came last. A connection that works delivers all of them. */
  readonly #heard = new BoundedMap<string, number>(heardMax);
  #gapMs = 0;
  #outbox: string[] = [];
  #sending: Promise<void> | undefined;

  constructor(pool: Pool, onError: (error: Error) => void) {
    this.#pool = pool;
    this.#onError = onError;
    const connection = { ...pool.options, application_name: 'parley-signals', connectionTimeoutMillis: answerTimeoutMs };
    const beatChannel = `parley_beat_${this.#origin.replaceAll('-', '')}`;
    // A pool of one: work that waits for connections must not delay announcements.
    this.#feedPool = openPool({ ...connection, max: 1, query_timeout: answerTimeoutMs }, { onLost: () => undefined });
    this.#feed = new ChangeFeed({
      pool: this.#feedPool,
      beatChannel,
      onChange: (topic, subject) => this.#hub.deliver(topic, subject, this.#wasHeard(`${topic} ${subject}`)),
      onReset: () => this.#hub.deliverReset(),
      onLook: () => this.#look(),
    });
    this.#listener = new Listener({
      ...{ connection, channels: [channel, beatChannel], onError },
      onMessage: (message) => this.#hear(message),
      onReplaced: () => {
        this.#heard.clear();
        this.#hub.deliverGap();
      },
    });
  }

  publish(topic: SignalTopic, payload: string): void {
    this.#hub.deliver(topic, payload);
    if (announced.has(topic)) return;
    this.#outbox.push(`${this.#origin} ${topic} ${payload}`);
    this.#sending ??= this.#send();
  }

  subscribe(topic: SignalTopic, listener: SignalListener): () => void {
    return this.#hub.subscribe(topic, listener);
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

  state(): 'live' | 'polling' | 'lost' {
    if (!this.#feed.isFresh) return 'lost';
    return this.#listener.isHearing ? 'live' : 'polling';
  }

  async start(): Promise<void> {
    await this.#listener.start();
    await this.#feed.start();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sending;
    this.#hub.clear();
    await this.#feed.close();
    await this.#listener.close();
    await this.#feedPool.end();
  }

  /** A heartbeat was sent. */
  #look(): void {
    this.#listener.check();
    const now = performance.now();
    if (this.#listener.isHearing || now - this.#gapMs < gapEveryMs) return;
    this.#gapMs = now;
    this.#hub.deliverGap();
  }

  #hear(message: string): void {
    const [origin, topic, ...payload] = message.split(' ');
    if (origin === triggerOrigin) this.#heard.set(`${topic} ${payload.join(' ')}`, performance.now());
    if (origin !== this.#origin && topic !== undefined) this.#hub.deliver(topic as SignalTopic, payload.join(' '));
  }

  /** Whether a notification has told the change that a row of the table is of, or is about to. */
  #wasHeard(change: string): boolean {
    return performance.now() - (this.#heard.get(change) ?? Number.NEGATIVE_INFINITY) < heardMs;
  }

  /** Sends everything that was published in one turn of the event loop in one statement. While the server does not answer, the signals are kept. */
  async #send(): Promise<void> {
    await Promise.resolve();
    while (this.#outbox.length > 0) {
      const messages = [...new Set(this.#outbox)];
      this.#outbox = [];
      try {
        await this.#pool.query('SELECT pg_notify($1, message) FROM unnest($2::text[]) AS message', [channel, messages]);
      } catch (error) {
        this.#onError(error instanceof Error ? error : new Error(String(error)));
        if (this.#closing.signal.aborted) break;
        this.#outbox = [...messages, ...this.#outbox];
        await wait(republishMs, undefined, { ref: false });
      }
    }
    this.#sending = undefined;
  }
}
