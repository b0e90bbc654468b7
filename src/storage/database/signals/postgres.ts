// Raw SQL: Prisma sends no notifications.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import { openPool } from '../pool.ts';
import { ChangeFeed } from './change-feed.ts';
import { SignalHub } from './hub.ts';
import { Listener } from './listener.ts';
import { announcedTopics, type Signals, type SignalTopic } from './signals.ts';

/** The triggers of the migrations name it too. */
const channel = 'parley_signals';
const answerTimeoutMs = 2_000;
const republishMs = 250;
const gapEveryMs = 1_000;
const announced: ReadonlySet<SignalTopic> = new Set(announcedTopics);

/**
 * Signals between the processes on one PostgreSQL server. Listeners of this process hear at once, those of others by LISTEN on a connection
 * of its own. What others keep in memory depends on `announcedTopics`, whose changes are also looked up twice a second.
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
  /** Tells this process's own notifications, which its listeners have heard already. */
  readonly #origin = randomUUID();
  readonly #closing = new AbortController();
  readonly #feedPool: Pool;
  readonly #feed: ChangeFeed;
  readonly #listener: Listener;
  #gapMs = 0;
  #outbox: string[] = [];
  #sending: Promise<void> | undefined;

  constructor(pool: Pool, onError: (error: Error) => void) {
    this.#pool = pool;
    this.#onError = onError;
    const connection = { ...pool.options, application_name: 'parley-signals', connectionTimeoutMillis: answerTimeoutMs };
    const beatChannel = `parley_beat_${this.#origin.replaceAll('-', '')}`;
    // A pool of one: work that waits for connections must not make changes late.
    this.#feedPool = openPool({ ...connection, max: 1, query_timeout: answerTimeoutMs }, { onLost: () => undefined });
    this.#feed = new ChangeFeed({
      pool: this.#feedPool,
      beatChannel,
      onChange: (topic, subject) => this.#hub.deliver(topic, subject),
      onReset: () => this.#hub.deliverReset(),
      onLook: () => this.#look(),
    });
    this.#listener = new Listener({
      ...{ connection, channels: [channel, beatChannel], onError },
      onMessage: (message) => this.#hear(message),
      onReplaced: () => this.#hub.deliverGap(),
    });
  }

  publish(topic: SignalTopic, payload: string): void {
    this.#hub.deliver(topic, payload);
    if (announced.has(topic)) return;
    this.#outbox.push(`${this.#origin} ${topic} ${payload}`);
    this.#sending ??= this.#send();
  }

  subscribe(topic: SignalTopic, listener: (payload: string) => void): () => void {
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

  /** A sign of life was sent. */
  #look(): void {
    this.#listener.check();
    const now = performance.now();
    if (this.#listener.isHearing || now - this.#gapMs < gapEveryMs) return;
    this.#gapMs = now;
    this.#hub.deliverGap();
  }

  #hear(message: string): void {
    const [origin, topic, ...payload] = message.split(' ');
    if (origin !== this.#origin && topic !== undefined) this.#hub.deliver(topic as SignalTopic, payload.join(' '));
  }

  /** Everything published in one turn of the event loop goes out in one statement; while the server is away it is kept. */
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
