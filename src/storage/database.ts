import type { Pool, PoolClient } from 'pg';
import type { PrismaClient } from './generated/client.ts';

/** The database behind every store: one pool, one Prisma client on it. */
export interface Database {
  readonly prisma: PrismaClient;
  readonly pool: Pool;
  readonly kind: 'embedded' | 'server';
  /** Whether pgvector is there. */
  readonly hasVectors: boolean;
  /**
   * Runs `work` in one transaction. Keep it short and never await a model or a network inside: the embedded database runs
   * transactions one after the other.
   */
  transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
