import { setTimeout as wait } from 'node:timers/promises';
import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg';
import { YieldingPool } from '../embedded/yielding-pool.ts';
import { type PoolSharing, SharedPool } from './shared-pool.ts';

/** PostgreSQL's code for a disk without room. */
const diskFull = '53100';

export interface PoolListeners {
  /** Called when a connection is lost; the pool replaces it. Also called while a caller has the connection; the caller's query fails too. */
  readonly onLost: (error: Error) => void;
  /** Called when the server reports that its disk is full. */
  readonly onFull?: () => void;
}

/**
 * Opens a pool. Every connection to a database comes from here or from `openClient`: without a listener for errors, a connection that the server
 * closes ends the process, also between two queries of a transaction.
 *
 * @param shared  for the pool of the service: how owners share it; on the embedded database, jobs let callers go first.
 */
export function openPool(
  config: PoolConfig,
  { onLost, onFull }: PoolListeners,
  sharedPool?: { readonly kind: 'embedded' | 'server'; readonly sharing: PoolSharing },
): Pool {
  const pool =
    sharedPool === undefined
      ? new Pool(config)
      : new (sharedPool.kind === 'embedded' ? YieldingPool : SharedPool)(config, sharedPool.sharing);
  pool.on('error', onLost);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    if (onFull === undefined) return;
    readConnection(client).on('errorMessage', ({ code }) => {
      if (code === diskFull) onFull();
    });
  });
  return pool;
}

/** A single connection, not yet open. */
export function openClient(config: ClientConfig, onLost: () => void): Client {
  const client = new Client(config);
  client.on('error', onLost);
  client.on('end', onLost);
  return client;
}

const turnEveryMs = 100;

/**
 * Runs `work` in one transaction. Processes that start together with the same lock take turns; those that wait have no statement open meanwhile,
 * because an index that is built concurrently waits for the end of every older statement. When `work` throws, closing the connection rolls back.
 */
export async function withTurn<T>(pool: Pool, lock: number, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isDone = false;
  try {
    while (!(await takeTurn(client, lock))) await wait(turnEveryMs);
    const result = await work(client);
    await client.query('COMMIT');
    isDone = true;
    return result;
  } finally {
    client.release(!isDone);
  }
}

/** Begins a transaction that has the lock. @returns false while another process has the lock. */
async function takeTurn(client: PoolClient, lock: number): Promise<boolean> {
  // Behind a pooler, a connection may have the limits of other sessions.
  await client.query('BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0');
  const { rows } = await client.query<{ is_mine: boolean }>(`SELECT pg_try_advisory_xact_lock(${lock}) AS is_mine`);
  if (rows[0]?.is_mine === true) return true;
  await client.query('ROLLBACK');
  return false;
}

export async function hasTable(client: Pick<Pool, 'query'>, name: string): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS is_there', [
    `public.${name}`,
  ]);
  return rows[0]?.is_there === true;
}

/** The client's protocol connection, which its types leave out. */
function readConnection(client: ClientBase): {
  on(event: 'errorMessage', listener: (message: { readonly code?: string }) => void): void;
} {
  return (client as unknown as { readonly connection: ReturnType<typeof readConnection> }).connection;
}
