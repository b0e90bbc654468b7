import { AsyncLocalStorage } from 'node:async_hooks';
import type { ClientBase, Pool } from 'pg';
import { transaction } from './pool.ts';

/** Who waits for a statement: a caller (`interactive`), or only a job (`background`). */
export type StatementClass = 'interactive' | 'background';

/** Times in milliseconds after which the server ends a statement, which then fails with 57014. */
export interface StatementTimes {
  /** For a single statement. */
  readonly readMs: number;
  /** For each statement in a transaction. */
  readonly writeMs: number;
  /** For every statement of a job. */
  readonly backgroundMs: number;
}

/**
 * Time limits of statements on a server. Every connection has the shortest limit, which is set after connecting: poolers in between refuse connection
 * parameters that they do not know. Slower work sets its own limit within its transaction (`SET LOCAL`), so behind a pooler the limit does not reach
 * another caller. The statement that begins the transaction sets it, so it costs no round trip; a single statement of a job gets a transaction of its
 * own.
 *
 * The embedded database has no timers and cannot end a statement: nothing is set there.
 */
export class StatementLimits {
  readonly #times: StatementTimes | undefined;
  readonly #current = new AsyncLocalStorage<StatementClass>();

  /** @param times  undefined for the embedded database. */
  constructor(times: StatementTimes | undefined) {
    this.#times = times;
  }

  /** Runs `work` with the limits of a class, whatever the class of its caller. */
  runAs<T>(kind: StatementClass, work: () => T): T {
    return this.#current.run(kind, work);
  }

  /** The statement that begins a transaction. */
  get begin(): string {
    if (this.#times === undefined) return 'BEGIN';
    const { writeMs, backgroundMs } = this.#times;
    return `BEGIN; SET LOCAL statement_timeout = ${this.#isBackground ? backgroundMs : writeMs}`;
  }

  /** Sets the limits of a new connection. */
  async prepare(client: ClientBase): Promise<void> {
    if (this.#times !== undefined) await client.query(`SET statement_timeout = ${this.#times.readMs}`);
  }

  /** Makes the pool run single statements of jobs with the limit of jobs. */
  bind(pool: Pool): void {
    if (this.#times === undefined) return;
    const query = pool.query.bind(pool) as (...args: readonly unknown[]) => unknown;
    const limited = (...args: readonly unknown[]) => {
      const isAwaited = typeof args.at(-1) !== 'function';
      return this.#isBackground && isAwaited ? this.#inTransaction(pool, args) : query(...args);
    };
    Object.assign(pool, { query: limited });
  }

  get #isBackground(): boolean {
    return this.#current.getStore() === 'background';
  }

  #inTransaction(pool: Pool, args: readonly unknown[]): Promise<unknown> {
    return transaction(pool, (client) => Reflect.apply(client.query, client, args) as Promise<unknown>, this.begin);
  }
}
