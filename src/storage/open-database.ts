import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Settings } from '../settings.ts';
import type { Database } from './database.ts';
import { startEmbedded } from './embedded/embedded.ts';
import { PrismaClient } from './generated/client.ts';
import { migrate } from './migrate.ts';

export interface OpenDatabaseOptions {
  /** Called for failures outside any call: a lost idle connection (it is replaced), or the end of the embedded database (it is not). */
  readonly onError: (error: Error, isFatal: boolean) => void;
}

/** More connections only queue in front of the embedded database, which works through one query at a time. */
const embeddedConnectionsMax = 10;

/**
 * Opens the database that the settings name, brings it to the newest schema, and connects the one pool and the one Prisma client on it.
 *
 * @throws FolderInUseError when another process has the data folder of the embedded database.
 */
export async function openDatabase(settings: Settings, options: OpenDatabaseOptions): Promise<Database> {
  mkdirSync(settings.DATA_DIR, { recursive: true, mode: 0o700 });
  if (settings.DATABASE_URL !== undefined) {
    const connection = { connectionString: settings.DATABASE_URL, max: settings.DATABASE_POOL_MAX };
    return connect('server', connection, options, async () => {});
  }
  const embedded = await startEmbedded(resolve(settings.DATA_DIR), (error) => options.onError(error, true));
  const connection = { ...embedded.connection, max: Math.min(settings.DATABASE_POOL_MAX, embeddedConnectionsMax) };
  return connect('embedded', connection, options, () => embedded.close());
}

async function connect(
  kind: Database['kind'],
  connection: PoolConfig,
  { onError }: OpenDatabaseOptions,
  closeServer: () => Promise<void>,
): Promise<Database> {
  const pool = new Pool({
    ...connection,
    application_name: 'parley',
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: 30_000,
  });
  let isClosing = false;
  pool.on('error', (error) => {
    if (!isClosing) onError(error, false);
  });
  const close = async () => {
    isClosing = true;
    await pool.end();
    await closeServer();
  };
  try {
    await migrate(pool);
    const hasVectors = await prepareExtensions(pool);
    const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
    return {
      kind,
      pool,
      prisma,
      hasVectors,
      transaction: (work) => transaction(pool, work),
      close: async () => {
        await prisma.$disconnect();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function transaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {
      isBroken = true;
    });
    throw error;
  } finally {
    client.release(isBroken);
  }
}

/**
 * Adds the extensions that this server has and this database lacks; one that may not be added is done without. At each start rather than in
 * a migration, so that an extension installed later is found.
 *
 * @returns whether vectors can be kept.
 */
async function prepareExtensions(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ name: string; is_added: boolean }>(
    "SELECT name, installed_version IS NOT NULL AS is_added FROM pg_available_extensions WHERE name IN ('vector', 'pg_trgm', 'unaccent')",
  );
  const added = new Set(rows.filter((row) => row.is_added).map((row) => row.name));
  for (const { name } of rows.filter((row) => !row.is_added)) {
    await pool.query(`CREATE EXTENSION IF NOT EXISTS ${name}`).then(
      () => added.add(name),
      () => undefined,
    );
  }
  return added.has('vector');
}
