import { AsyncLocalStorage } from 'node:async_hooks';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool, PoolClient } from 'pg';
import { type Prisma, PrismaClient } from '../generated/client.ts';

/** A transaction: Prisma for plain reads and writes, `query` for raw SQL on the same connection. */
export interface Transaction extends Pick<PoolClient, 'query'> {
  readonly prisma: Prisma.TransactionClient;
}

export interface PrismaOnPool {
  readonly prisma: PrismaClient;
  /**
   * Runs `work` in one transaction; rolls back when it throws. Keep it short and never await a model or a network inside: the embedded database runs
   * transactions one after the other.
   *
   * @throws what `work` threw, or the error of a lost connection.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** Turns Prisma's own time limits off: the server ends slow statements, and the pool limits the wait for a connection. */
const unlimited = { maxWait: 2_147_483_647, timeout: 2_147_483_647 };

/**
 * Makes the Prisma client of a pool. Its statements pass through the pool, so the records of changes and the time limits hold for them too.
 *
 * @param begin  what begins a transaction, with its time limits.
 */
export function createPrisma(pool: Pool, begin: () => string): PrismaOnPool {
  const starting = new AsyncLocalStorage<{ client?: PoolClient }>();
  const connect = async () => {
    const client = await pool.connect();
    const start = starting.getStore();
    if (start !== undefined) start.client ??= client;
    return beginningWith(begin(), client);
  };
  const lending = new Proxy(pool, {
    get: (target, name) => (name === 'connect' ? connect : Reflect.get(target, name)),
  });
  const prisma = new PrismaClient({ adapter: new PrismaPg(lending), transactionOptions: unlimited });
  return {
    prisma,
    transaction(work) {
      const start: { client?: PoolClient } = {};
      return starting.run(start, () =>
        prisma.$transaction((tx) => {
          const { client } = start;
          if (client === undefined) throw new Error('a transaction began without a connection of the pool');
          return work({ prisma: tx, query: client.query.bind(client) as PoolClient['query'] });
        }),
      );
    },
  };
}

/** Wraps the connection so that its first statement is `begin`: the BEGIN that Prisma sends sets no time limit. */
function beginningWith(begin: string, client: PoolClient): PoolClient {
  let hasBegun = false;
  const query = (...args: readonly unknown[]) => {
    if (hasBegun) return Reflect.apply(client.query, client, args);
    hasBegun = true;
    return client.query(begin);
  };
  return new Proxy(client, {
    get(target, name) {
      if (name === 'query') return query;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
