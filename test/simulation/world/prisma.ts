import { Pool, type PoolConfig } from 'pg';
import type { PrismaClient } from '../../../src/storage/generated/client.ts';
import { prismaOn } from '../../../src/storage/ground/database.ts';
import type { Host, Timeline } from './timeline.ts';

/**
 * One client of Prisma for the processes of all worlds: each client of its own reads the schema and compiles every statement anew, a sixth of the
 * processor time of a world. A statement goes to the pool of the process that sends it.
 */
export class SharedPrisma {
  readonly client: PrismaClient;
  readonly #pools = new WeakMap<Host, Pool>();

  constructor(timeline: Timeline, config: PoolConfig) {
    const current = (): Pool => {
      const pool = timeline.host && this.#pools.get(timeline.host);
      if (pool === undefined) throw new Error('a statement of no process');
      return pool;
    };
    const switching = class extends Pool {
      // biome-ignore lint/suspicious/noExplicitAny: the overloads of `pg` cannot be written otherwise.
      override connect(...given: any): any {
        return current().connect(...(given as []));
      }

      // biome-ignore lint/suspicious/noExplicitAny: the overloads of `pg` cannot be written otherwise.
      override query(...given: any): any {
        return current().query(...(given as [string]));
      }
    };
    this.client = prismaOn(new switching(config));
  }

  /** @param pool  where the statements of the process go. */
  join(host: Host, pool: Pool): PrismaClient {
    this.#pools.set(host, pool);
    return this.client;
  }
}
