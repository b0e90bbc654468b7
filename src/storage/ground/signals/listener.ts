// Raw SQL: Prisma has no LISTEN.
import { setTimeout as wait } from 'node:timers/promises';
import type { Client, ClientConfig } from 'pg';
import { openClient } from '../opening/pool.ts';

export interface ListenerOptions {
  readonly connection: ClientConfig;
  readonly channels: readonly string[];
  readonly onMessage: (channel: string, payload: string) => void;
  /** Called when another connection listens: notifications in between were missed. */
  readonly onReplaced: () => void;
  readonly onError: (error: Error) => void;
}

/** Heartbeats of some process come twice a second. */
const silenceMsMax = 1_500;
const replaceMinMs = 250;
/** The longest pause between attempts. Behind a pooler that drops every notification, replacing the connection faster does not help. */
const replaceMaxMs = 30_000;

/**
 * Listens on a connection of its own. Only a notification that arrives proves that it works: behind a pooler that gives each statement another
 * connection, every query is answered and no notification arrives.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #closing = new AbortController();
  #client: Client | undefined;
  #heardMs = Number.NEGATIVE_INFINITY;
  #openedMs = 0;
  #isReplacing = false;
  #replaceMs = replaceMinMs;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Whether notifications arrive. */
  get isHearing(): boolean {
    return this.silenceMs < silenceMsMax;
  }

  /** The time since the last notification. */
  get silenceMs(): number {
    return performance.now() - this.#heardMs;
  }

  async start(): Promise<void> {
    await this.#open().catch(() => this.#replace());
  }

  /** Call it with each sent heartbeat: replaces the connection when heartbeats do not arrive. */
  check(): void {
    const now = performance.now();
    if (!this.isHearing && now - this.#openedMs > silenceMsMax) this.#replace();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#client?.end().catch(() => undefined);
  }

  async #open(): Promise<void> {
    const { connection, channels, onMessage } = this.#options;
    const client = openClient(connection, () => {
      if (this.#client === client) this.#replace();
    });
    client.on('notification', ({ channel, payload }) => {
      this.#heardMs = performance.now();
      this.#replaceMs = replaceMinMs;
      onMessage(channel, payload ?? '');
    });
    try {
      await client.connect();
      for (const channel of channels) await client.query(`LISTEN ${channel}`);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    this.#client = client;
    this.#openedMs = performance.now();
  }

  #replace(): void {
    if (this.#isReplacing || this.#closing.signal.aborted) return;
    this.#isReplacing = true;
    this.#heardMs = Number.NEGATIVE_INFINITY;
    const old = this.#client;
    this.#client = undefined;
    old?.end().catch(() => undefined);
    void this.#reopen();
  }

  async #reopen(): Promise<void> {
    const { signal } = this.#closing;
    this.#options.onError(new Error('no notifications arrive from the database; changes are looked up instead'));
    while (!signal.aborted) {
      await wait(this.#replaceMs, undefined, { signal, ref: false }).catch(() => undefined);
      this.#replaceMs = Math.min(2 * this.#replaceMs, replaceMaxMs);
      if (signal.aborted) break;
      try {
        await this.#open();
        break;
      } catch (error) {
        this.#options.onError(error instanceof Error ? error : new Error(String(error)));
      }
    }
    this.#isReplacing = false;
    if (signal.aborted) await this.#client?.end().catch(() => undefined);
    else this.#options.onReplaced();
  }
}
