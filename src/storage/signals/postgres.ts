import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, type Pool } from 'pg';
import type { Signals, SignalTopic } from '../signals.ts';
import { SignalHub } from './hub.ts';

const channel = 'parley_signals';
const heartbeatMs = 400;
/** Older news of the connection's health than this is no news. */
const silenceMsMax = 1_000;
const reconnectMs = 250;
const republishMs = 250;

/**
 * Signals between the processes on one PostgreSQL server. Listeners of this process hear at once, those of others by LISTEN on a connection
 * of its own, which is asked for a sign of life all the time and replaced when it gives none.
 */
export async function createPostgresSignals(pool: Pool, onError: (error: Error) => void): Promise<Signals> {
  const signals = new PostgresSignals(pool, onError);
  await signals.connect();
  return signals;
}

class PostgresSignals implements Signals {
  readonly #pool: Pool;
  readonly #onError: (error: Error) => void;
  readonly #hub = new SignalHub();
  /** Tells this process's own notifications, which its listeners have heard already. */
  readonly #origin = randomUUID();
  readonly #closing = new AbortController();
  #client: Client | undefined;
  #lastHeardMs = 0;
  #outbox: string[] = [];
  #sending: Promise<void> | undefined;

  constructor(pool: Pool, onError: (error: Error) => void) {
    this.#pool = pool;
    this.#onError = onError;
  }

  publish(topic: SignalTopic, payload: string): void {
    this.#hub.deliver(topic, payload);
    this.#outbox.push(`${this.#origin} ${topic} ${payload}`);
    this.#sending ??= this.#send();
  }

  subscribe(topic: SignalTopic, listener: (payload: string) => void): () => void {
    return this.#hub.subscribe(topic, listener);
  }

  onGap(listener: () => void): () => void {
    return this.#hub.onGap(listener);
  }

  isHealthy(): boolean {
    return performance.now() - this.#lastHeardMs < silenceMsMax;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sending;
    this.#hub.clear();
    await this.#client?.end().catch(() => {});
  }

  async connect(): Promise<void> {
    const client = new Client({ ...this.#pool.options, application_name: 'parley-signals', connectionTimeoutMillis: 5_000 });
    client.on('error', () => this.#replace(client));
    client.on('end', () => this.#replace(client));
    client.on('notification', ({ payload }) => this.#hear(payload ?? ''));
    await client.connect();
    await client.query(`LISTEN ${channel}`);
    this.#client = client;
    this.#lastHeardMs = performance.now();
    void this.#watch(client);
  }

  #hear(message: string): void {
    this.#lastHeardMs = performance.now();
    const [origin, topic, ...payload] = message.split(' ');
    if (origin !== this.#origin && topic !== undefined) this.#hub.deliver(topic as SignalTopic, payload.join(' '));
  }

  async #watch(client: Client): Promise<void> {
    while (this.#client === client && !this.#closing.signal.aborted) {
      try {
        await within(client.query('SELECT 1'), silenceMsMax * 2);
        this.#lastHeardMs = performance.now();
        await wait(heartbeatMs, undefined, { signal: this.#closing.signal, ref: false });
      } catch {
        this.#replace(client);
        return;
      }
    }
  }

  #replace(client: Client): void {
    if (this.#client !== client || this.#closing.signal.aborted) return;
    this.#client = undefined;
    this.#lastHeardMs = 0;
    client.end().catch(() => {});
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.connect();
        this.#hub.deliverGap();
        return;
      } catch (error) {
        this.#onError(error instanceof Error ? error : new Error(String(error)));
        await wait(reconnectMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {});
      }
    }
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

function within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const late = wait(timeoutMs, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${timeoutMs} ms`);
  });
  return Promise.race([work, late]);
}
