import { setTimeout as wait } from 'node:timers/promises';
import { RedisLost } from './lost.ts';
import type { RedisSession } from './session.ts';

const againMinMs = 250;
const againMaxMs = 5_000;

export interface ConnectionOptions {
  /** @param onLost  called once, when the session is lost. */
  readonly open: (onLost: (error: Error) => void) => Promise<RedisSession>;
  /** Called with each new session, once `session` is it. */
  readonly onSession: (session: RedisSession) => Promise<void>;
  /** Called when a session is lost. */
  readonly onGone: () => void;
  /** Called once for a loss, however often it is tried again. */
  readonly onError: (error: RedisLost) => void;
  readonly onBack: () => void;
}

/** Connects to Redis, and again after each loss, until it is closed. */
export class RedisConnection {
  readonly #options: ConnectionOptions;
  readonly #closing = new AbortController();
  #session: RedisSession | undefined;
  #connecting: Promise<void> = Promise.resolve();
  #isLost = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Undefined while Redis does not answer. */
  get session(): RedisSession | undefined {
    return this.#session;
  }

  /** Tries once; a Redis that is away may come later. */
  async start(): Promise<void> {
    await this.#connect();
    if (this.#session === undefined) this.#connecting = this.#connectAgain();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connecting;
    const session = this.#session;
    this.#session = undefined;
    await session?.end();
  }

  async #connect(): Promise<void> {
    try {
      const session = await this.#options.open((error) => this.#lose(error));
      if (this.#closing.signal.aborted) {
        await session.end();
        return;
      }
      if (session.isOver) throw new Error('Redis was lost at once');
      this.#session = session;
      if (this.#isLost) this.#options.onBack();
      this.#isLost = false;
      await this.#options.onSession(session);
    } catch (error) {
      this.#note(error);
    }
  }

  async #connectAgain(): Promise<void> {
    const { signal } = this.#closing;
    let pauseMs = againMinMs;
    while (!signal.aborted && this.#session === undefined) {
      // Not all processes at the same moment.
      await wait(pauseMs * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => undefined);
      pauseMs = Math.min(2 * pauseMs, againMaxMs);
      if (!signal.aborted) await this.#connect();
    }
  }

  #lose(error: Error): void {
    if (this.#session === undefined) return;
    this.#session = undefined;
    this.#note(error);
    if (this.#closing.signal.aborted) return;
    this.#options.onGone();
    this.#connecting = this.#connectAgain();
  }

  #note(error: unknown): void {
    if (!this.#isLost) this.#options.onError(new RedisLost(error));
    this.#isLost = true;
  }
}
