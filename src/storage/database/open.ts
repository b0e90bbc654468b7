// Raw SQL: settings of sessions, and extensions.
import type { ClientBase, Pool, PoolConfig } from 'pg';
import type { Settings } from '../../settings.ts';
import { recordChanges } from '../audit/recorded-pool.ts';
import type { Database } from './database.ts';
import { type EmbeddedServer, startEmbeddedOf } from './embedded/embedded.ts';
import { prepareFolder } from './folders.ts';
import { migrate } from './migrate.ts';
import { openPool } from './pool.ts';
import { createPrisma } from './prisma.ts';
import { createRoom } from './room.ts';
import { StatementLimits } from './statement-limits.ts';
import { prepareVectors, type VectorSupport } from './vector-extension.ts';

export interface OpenDatabaseOptions {
  /** Called for failures outside any call: a lost idle connection (not fatal, the pool replaces it), or the end of the embedded database (fatal). */
  readonly onError: (error: Error, isFatal: boolean) => void;
  /** The embedded database of these settings, when the caller has started it already. */
  readonly embedded?: Promise<EmbeddedServer> | undefined;
}

/** The embedded database works through one query at a time: more connections would only wait. */
const embeddedConnectionsMax = 10;

/**
 * The server ends a transaction that is idle for longer than this, so that a stopped process does not hold its locks. Our transactions wait only for
 * the database.
 */
const idleTransactionMs = 10_000;

/**
 * Opens the database that the settings name, brings it to the newest schema, and connects the one pool and the one Prisma client on it.
 *
 * @throws StartRefusal when the data folder cannot be used, or another process has the embedded database in it.
 */
export async function openDatabase(settings: Settings, options: OpenDatabaseOptions): Promise<Database> {
  const starting = options.embedded ?? startEmbeddedOf(settings, (error) => options.onError(error, true));
  if (starting === undefined) {
    prepareFolder(settings.DATA_DIR, 'DATA_DIR');
    const connection = {
      connectionString: settings.DATABASE_URL,
      max: settings.DATABASE_POOL_MAX,
      connectionTimeoutMillis: settings.DATABASE_CHECKOUT_TIMEOUT_MS,
    };
    const limits = new StatementLimits({
      readMs: settings.DATABASE_READ_TIMEOUT_MS,
      writeMs: settings.DATABASE_WRITE_TIMEOUT_MS,
      backgroundMs: settings.DATABASE_BACKGROUND_TIMEOUT_MS,
    });
    return connect(settings, connection, limits, options, undefined);
  }
  const embedded = await starting;
  const connection = {
    ...embedded.connection,
    max: Math.min(settings.DATABASE_POOL_MAX, embeddedConnectionsMax),
    connectionTimeoutMillis: settings.DATABASE_CHECKOUT_TIMEOUT_MS,
  };
  return connect(settings, connection, new StatementLimits(undefined), options, embedded);
}

async function connect(
  settings: Settings,
  connection: PoolConfig,
  limits: StatementLimits,
  { onError }: OpenDatabaseOptions,
  embedded: EmbeddedServer | undefined,
): Promise<Database> {
  let isClosing = false;
  const room = createRoom(settings, embedded, () => pool);
  const config = {
    ...connection,
    application_name: 'parley',
    idleTimeoutMillis: 60_000,
    // Set after connecting, not as a parameter of the connection: poolers in between refuse parameters that they do not know.
    ...(embedded === undefined ? { onConnect: (client: ClientBase) => prepareSession(client, limits) } : {}),
  };
  const pool: Pool = openPool(config, {
    onLost(error) {
      if (!isClosing) onError(error, false);
    },
    onFull: () => room.noteFull(),
  });
  const { recorded, current } = recordChanges(pool, () => limits.begin);
  const close = async () => {
    isClosing = true;
    await pool.end();
    await embedded?.close();
  };
  try {
    // Runs while the Prisma client is made, which takes some 50 ms.
    const needsVectors = settings.EMBEDDING_MODEL !== undefined;
    const preparing = prepareSchema(pool, embedded, connection, needsVectors);
    limits.bind(pool);
    const { prisma, transaction } = createPrisma(pool, () => limits.begin);
    const vectors = await preparing;
    return {
      kind: embedded === undefined ? 'server' : 'embedded',
      pool,
      prisma,
      room,
      vectors,
      pageMaxBytes: settings.LIST_PAGE_MAX_BYTES,
      listMaxBytes: settings.REPLY_MAX_BYTES,
      transaction,
      runAs: (kind, work) => limits.runAs(kind, work),
      recorded,
      currentRecord: current,
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

async function prepareSession(client: ClientBase, limits: StatementLimits): Promise<void> {
  await client.query(`SET idle_in_transaction_session_timeout = ${idleTransactionMs}`);
  await limits.prepare(client);
}

/** On a connection of its own, without time limits: a migration may take long, and waits for other instances that migrate. */
async function prepareSchema(
  pool: Pool,
  embedded: EmbeddedServer | undefined,
  connection: PoolConfig,
  needsVectors: boolean,
): Promise<VectorSupport> {
  const prepare = async (client: Pool): Promise<VectorSupport> => {
    await migrate(client);
    return needsVectors ? prepareVectors(client) : { kind: 'unneeded' };
  };
  if (embedded !== undefined) return prepare(pool);
  const own = openPool({ ...connection, max: 1, application_name: 'parley-migrations' }, { onLost: () => undefined });
  try {
    return await prepare(own);
  } finally {
    await own.end();
  }
}
