import { setTimeout as wait } from 'node:timers/promises';

const againMinMs = 250;

/** A transport does not work, and is tried again: a warning, which its cause explains. */
export class SignalsLost extends Error {
  override readonly name = 'SignalsLost';
}

/** What there is between connecting and losing the connection. */
export interface Session {
  end(): Promise<void>;
}

export interface ConnectionOptions<S extends Session> {
  /** @param onLost  called when the session is lost; further calls do nothing. */
  open(onLost: (error: Error) => void): Promise<S>;
  /** Called with each new session, once `session` is it. */
  onSession(session: S): void | Promise<void>;
  /** Called when a session is lost. */
  onGone(): void;
  /** Called once for a loss, however often it is tried again. */
  onError(error: SignalsLost): void;
  /** Called when it works again after such a call. */
  onBack?(): void;
  /** What a loss means, for operators. */
  readonly problem: string;
  /** The longest pause between attempts. */
  readonly againMaxMs: number;
}

/** Connects, and again after each loss, until it is closed. */
export class Connection<S extends Session> {
  readonly #options: ConnectionOptions<S>;
  readonly #closing = new AbortController();
  #session: S | undefined;
  #connecting: Promise<void> = Promise.resolve();
  #pauseMs = againMinMs;
  #isLost = false;

  constructor(options: ConnectionOptions<S>) {
    this.#options = options;
  }

  /** Undefined while there is no connection. */
  get session(): S | undefined {
    return this.#session;
  }

  /** Tries once; what is away may come later. */
  async start(): Promise<void> {
    await this.#connect();
    if (this.#session === undefined) this.#connecting = this.#connectAgain();
  }

  /** The session works: the next loss is another one, and the pauses between attempts begin anew. */
  confirm(): void {
    this.#pauseMs = againMinMs;
    if (this.#isLost) this.#options.onBack?.();
    this.#isLost = false;
  }

  /** Gives the session up, and opens another. */
  lose(error: Error): void {
    const session = this.#session;
    if (session === undefined) return;
    this.#session = undefined;
    session.end().catch(() => undefined);
    this.#note(error);
    if (this.#closing.signal.aborted) return;
    this.#options.onGone();
    this.#connecting = this.#connectAgain();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connecting;
    const session = this.#session;
    this.#session = undefined;
    await session?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    let session: S | undefined;
    let early: Error | undefined;
    try {
      session = await this.#options.open((error) => {
        early = error;
        if (session !== undefined && session === this.#session) this.lose(error);
      });
      if (this.#closing.signal.aborted) return await session.end();
      if (early !== undefined) throw early;
      this.#session = session;
      await this.#options.onSession(session);
    } catch (error) {
      this.#note(error);
    }
  }

  async #connectAgain(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted && this.#session === undefined) {
      // Not all processes at the same moment.
      await wait(this.#pauseMs * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => undefined);
      this.#pauseMs = Math.min(2 * this.#pauseMs, this.#options.againMaxMs);
      if (!signal.aborted) await this.#connect();
    }
  }

  #note(cause: unknown): void {
    if (!this.#isLost && !this.#closing.signal.aborted) this.#options.onError(new SignalsLost(this.#options.problem, { cause }));
    this.#isLost = true;
  }
}
