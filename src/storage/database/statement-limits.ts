import { AsyncLocalStorage } from 'node:async_hooks';
import type { ClientBase, Pool } from 'pg';
import { transaction } from './pool.ts';

/** For whom statements run: somebody who waits, or a job behind it all. */
export type StatementClass = 'interactive' | 'background';

/** Times after which a server ends a statement, which then fails with 57014. */
export interface StatementTimes {
  /** Of a single statement. */
  readonly readMs: number;
  /** Of each statement in a transaction. */
  readonly writeMs: number;
  /** Of every statement of a job. */
  readonly backgroundMs: number;
}

/**
 * Time limits of statements on a server. Every connection has the shortest, which is set after connecting: poolers in between refuse
 * parameters of the connection that they do not know. What may take longer says so within its own transaction (`SET LOCAL`), so it holds
 * for nobody else behind a pooler either. A transaction says it in the message that begins it, so it costs no round trip; a single
 * statement of a job gets a transaction of its own.
 *
 * The embedded database has no timers and cannot end a statement: there nothing is set.
 */
export class StatementLimits {
  readonly #times: StatementTimes | undefined;
  readonly #current = new AsyncLocalStorage<StatementClass>();

  /** @param times  undefined for the embedded database. */
  constructor(times: StatementTimes | undefined) {
    this.#times = times;
  }

  /** Runs `work` with the limits of a class, whatever it was called from. */
  runAs<T>(kind: StatementClass, work: () => T): T {
    return this.#current.run(kind, work);
  }

  /** What begins a transaction. */
  get begin(): string {
    if (this.#times === undefined) return 'BEGIN';
    const { writeMs, backgroundMs } = this.#times;
    return `BEGIN; SET LOCAL statement_timeout = ${this.#isBackground ? backgroundMs : writeMs}`;
  }

  /** Prepares a new connection. */
  async prepare(client: ClientBase): Promise<void> {
    if (this.#times !== undefined) await client.query(`SET statement_timeout = ${this.#times.readMs}`);
  }

  /** Has single statements of jobs run with the time of jobs. */
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
