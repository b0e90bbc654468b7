// Raw SQL: settings of sessions, and extensions.
import { resolve } from 'node:path';
import type { ClientBase, Pool, PoolConfig } from 'pg';
import type { FairQueue } from '../../../lib/flow/fair-queue.ts';
import type { Settings } from '../../../settings.ts';
import { refuseUnfinishedMove } from '../../move/progress.ts';
import { Database, prismaOn } from '../database.ts';
import { noteMigration } from '../embedded/data-folder.ts';
import { type EmbeddedServer, startConfiguredEmbedded } from '../embedded/embedded.ts';
import type { UpgradeCopy } from '../embedded/upgrade-copy.ts';
import { migrate } from '../migrations/migrate.ts';
import { newestMigration } from '../migrations/migrations-folder.ts';
import { StatementNames } from '../statement-names.ts';
import { prepareVectors, type VectorSupport } from '../vectors/vector-extension.ts';
import { prepareFolder } from './folders.ts';
import { openPool, type PoolListeners } from './pool.ts';
import { createRoom } from './room.ts';
import { checkServer, refuseOtherDatabase } from './server-check.ts';

export interface OpenDatabaseOptions {
  /** Called for failures outside any call: a lost idle connection (not fatal, the pool replaces it), or the end of the embedded database (fatal). */
  readonly onError: (error: Error, isFatal: boolean) => void;
  /** Called when an embedded database is opened by a program with other migrations than the last one. */
  readonly onUpgradeCopy?: (copy: UpgradeCopy) => void;
  /** The embedded database of these settings, when the caller has started it already. */
  readonly embedded?: Promise<EmbeddedServer> | undefined;
  /** Makes the places of statements that owners share, for so many connections; absent for a program that has the database for itself. */
  readonly places?: (kind: Database['kind'], connectionsMax: number) => FairQueue;
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
  const starting = options.embedded ?? startConfiguredEmbedded(settings, (error) => options.onError(error, true));
  if (starting === undefined) {
    prepareFolder(settings.DATA_DIR, 'DATA_DIR');
    const connection = {
      connectionString: settings.DATABASE_URL,
      max: settings.DATABASE_POOL_MAX,
      connectionTimeoutMillis: settings.DATABASE_CHECKOUT_TIMEOUT_MS,
    };
    return connect(settings, connection, options, undefined);
  }
  const embeddedServer = await starting;
  if (embeddedServer.upgradeCopy !== undefined) options.onUpgradeCopy?.(embeddedServer.upgradeCopy);
  const connection = {
    ...embeddedServer.connection,
    max: Math.min(settings.DATABASE_POOL_MAX, embeddedConnectionsMax),
    connectionTimeoutMillis: settings.DATABASE_CHECKOUT_TIMEOUT_MS,
  };
  return connect(settings, connection, options, embeddedServer);
}

async function connect(
  settings: Settings,
  connection: PoolConfig & { readonly max: number },
  { onError, places }: OpenDatabaseOptions,
  embeddedServer: EmbeddedServer | undefined,
): Promise<Database> {
  let isClosing = false;
  const room = createRoom(settings, embeddedServer, () => pool);
  const config = {
    ...connection,
    application_name: 'parley',
    idleTimeoutMillis: 60_000,
    ...(embeddedServer === undefined
      ? { onConnect: (client: ClientBase) => prepareSession(client, settings.DATABASE_STATEMENT_TIMEOUT_MS) }
      : {}),
  };
  const listeners: PoolListeners = {
    onLost(error) {
      if (!isClosing) onError(error, false);
    },
    onFull: () => room.noteFull(),
  };
  const kind = embeddedServer === undefined ? 'server' : 'embedded';
  const sharing = {
    ...{ places: places?.(kind, connection.max), ownerOf: () => db.owner },
    otherCallers: embeddedServer?.siblings?.callers,
  };
  const pool: Pool = openPool(config, listeners, { kind, sharing });
  const direct = openDirect(settings);
  const db: Database = new Database({
    kind,
    siblings: embeddedServer?.siblings?.link,
    pool,
    prisma: prismaOn(pool),
    direct,
    names: settings.DATABASE_PREPARED_STATEMENTS === 'on' ? new StatementNames() : undefined,
    room,
    pageMaxBytes: settings.LIST_PAGE_MAX_BYTES,
    listMaxBytes: settings.REPLY_MAX_BYTES,
    backgroundMs: embeddedServer === undefined ? settings.DATABASE_BACKGROUND_TIMEOUT_MS : undefined,
    async close() {
      isClosing = true;
      await direct?.end();
      await pool.end();
      await embeddedServer?.close();
    },
  });
  try {
    db.vectors = await prepareSchema(pool, embeddedServer, connection, settings);
    if (embeddedServer !== undefined) noteMigration(resolve(settings.DATA_DIR), newestMigration());
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Prisma writes times without their zone. Poolers in between refuse parameters of a connection that they do not know, so the limits are set after connecting. */
async function prepareSession(client: ClientBase, statementMs: number): Promise<void> {
  await client.query(
    `SET idle_in_transaction_session_timeout = ${idleTransactionMs}; SET statement_timeout = ${statementMs}; SET TIME ZONE 'UTC'`,
  );
}

/** On connections of its own, without time limits: a migration may take long, and waits for other instances that migrate. The second one builds indexes. */
async function prepareSchema(
  pool: Pool,
  embeddedServer: EmbeddedServer | undefined,
  connection: PoolConfig,
  { EMBEDDING_MODEL, DATABASE_DIRECT_URL, DATABASE_PREPARED_STATEMENTS }: Settings,
): Promise<VectorSupport> {
  const prepare = async (client: Pool): Promise<VectorSupport> => {
    await migrate(client);
    return EMBEDDING_MODEL !== undefined ? prepareVectors(client) : { kind: 'unneeded' };
  };
  if (embeddedServer !== undefined) return prepare(pool);
  const open = (config: PoolConfig) =>
    openPool({ ...config, max: 2, application_name: 'parley-migrations' }, { onLost: () => undefined });
  const own = open(connection);
  const direct = DATABASE_DIRECT_URL === undefined ? undefined : open({ ...connection, connectionString: DATABASE_DIRECT_URL });
  try {
    await checkServer(own, { prepares: DATABASE_PREPARED_STATEMENTS === 'on' });
    await refuseUnfinishedMove(own);
    if (direct === undefined) return await prepare(own);
    await refuseOtherDatabase(own, direct);
    return await prepare(direct);
  } finally {
    await direct?.end();
    await own.end();
  }
}

/** Few connections, for what passes no pooler. */
function openDirect({ DATABASE_DIRECT_URL, DATABASE_CHECKOUT_TIMEOUT_MS }: Settings): Pool | undefined {
  if (DATABASE_DIRECT_URL === undefined) return undefined;
  const config = { connectionString: DATABASE_DIRECT_URL, max: 2, connectionTimeoutMillis: DATABASE_CHECKOUT_TIMEOUT_MS };
  return openPool({ ...config, application_name: 'parley' }, { onLost: () => undefined });
}
