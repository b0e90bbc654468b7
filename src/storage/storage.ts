import type { Settings } from '../settings.ts';
import { AgentStores } from './agents/stores.ts';
import type { Blobs } from './blobs/blobs.ts';
import { openBlobs } from './blobs/open.ts';
import { ConversationStores } from './conversations/stores.ts';
import type { Database } from './ground/database.ts';
import { LegalHoldStore } from './ground/holds.ts';
import { IdempotencyStore } from './ground/idempotency.ts';
import { Leases } from './ground/leases.ts';
import { identify, refuseBlobsWithoutRows, storedId } from './ground/opening/installation.ts';
import { type OpenDatabaseOptions, openDatabase } from './ground/opening/open.ts';
import { confirmFiles } from './ground/opening/shared-files.ts';
import { StartRefusal } from './ground/opening/start-refusal.ts';
import type { RedisTransport } from './ground/redis/transport.ts';
import { SignalHub } from './ground/signals/hub.ts';
import { PostgresTransport } from './ground/signals/postgres.ts';
import { SiblingTransport } from './ground/signals/siblings.ts';
import { Signals } from './ground/signals/signals.ts';
import { TaskStore } from './ground/tasks.ts';
import { KnowledgeStores } from './knowledge/stores.ts';
import { OperationStores } from './operations/stores.ts';
import { createRateBucketStore, type RateBucketStore } from './operations/usage/rate-buckets.ts';
import { createRedisRateBuckets } from './operations/usage/redis-rate-buckets.ts';
import { PeopleStores } from './people/stores.ts';
import { checkMasterKeys } from './vault/check-keys.ts';
import { LinkSigner } from './vault/link-signer.ts';
import { loadMasterKeys, type MasterKeys } from './vault/master-keys.ts';
import { Vault } from './vault/vault.ts';

/** What is kept: the stores of each district, and what they stand on. A new store is added to its district. */
export interface Storage {
  readonly people: PeopleStores;
  readonly agents: AgentStores;
  readonly conversations: ConversationStores;
  readonly knowledge: KnowledgeStores;
  readonly operations: OperationStores;
  readonly db: Database;
  readonly blobs: Blobs;
  readonly signals: Signals;
  readonly vault: Vault;
  readonly links: LinkSigner;
  readonly idempotency: IdempotencyStore;
  readonly legalHolds: LegalHoldStore;
  readonly tasks: TaskStore;
  readonly leases: Leases;
  close(): Promise<void>;
}

export interface OpenStorageOptions extends OpenDatabaseOptions {
  /** Called for failures of an S3 store, whose callers only learn that it cannot be reached. */
  readonly onStoreFailure?: (error: Error) => void;
  /** Called when Redis answers again. */
  readonly onRedisBack?: () => void;
}

/**
 * Opens all stores.
 *
 * @throws StartRefusal when a folder cannot be used, belongs to another database, or its secrets need another master key.
 */
export async function openStorage(settings: Settings, options: OpenStorageOptions): Promise<Storage> {
  const { onError } = options;
  const onStoreFailure = options.onStoreFailure ?? (() => undefined);
  // Checked before the database is opened, which takes longer. Opening the database checks DATA_DIR.
  const openBlobStore = settings.BLOB_URL === undefined ? undefined : await openBlobs(settings, onStoreFailure);
  const masterKeys = loadMasterKeys(settings);
  const db = await openDatabase(settings, options).catch(async (error: unknown) => {
    await openBlobStore?.close();
    throw error;
  });
  let blobs: Blobs;
  const hub = new SignalHub();
  let redis: RedisTransport | undefined;
  let signals: Signals;
  try {
    blobs = openBlobStore ?? (await openBlobs(settings, onStoreFailure));
    await check(settings, blobs, db, masterKeys);
    redis = await openRedis(hub, settings, db, options);
    signals = openSignals(hub, redis, db, onError);
    await signals.start();
  } catch (error) {
    await openBlobStore?.close();
    await db.close();
    throw error;
  }
  const people = new PeopleStores(db, signals, settings);
  const operations = new OperationStores(db, signals, settings, {
    onError: (error) => onError(error as Error, false),
    rateBuckets: openRateBuckets(db, redis),
  });
  const vault = new Vault(db, masterKeys);
  return {
    people,
    agents: new AgentStores(db, signals),
    conversations: new ConversationStores(db, signals),
    knowledge: new KnowledgeStores(db, signals, settings.PERMISSION_MAX_AGE_HOURS * 3_600_000),
    operations,
    db,
    blobs,
    signals,
    vault,
    links: new LinkSigner(masterKeys),
    idempotency: new IdempotencyStore(db),
    legalHolds: new LegalHoldStore(db),
    tasks: new TaskStore(db),
    leases: new Leases(db),
    close: async () => {
      await operations.auditBatch.close();
      await people.close();
      await vault.close();
      await signals.close();
      await db.close();
      await blobs.close();
    },
  };
}

/**
 * Redis, where it is set. A Redis that is away now may come back, so it only gives a warning.
 *
 * @throws StartRefusal for one that can never be used.
 */
async function openRedis(
  hub: SignalHub,
  settings: Settings,
  db: Database,
  options: OpenStorageOptions,
): Promise<RedisTransport | undefined> {
  const { REDIS_URL: url } = settings;
  if (url === undefined) return undefined;
  // Loaded only where it is switched on.
  const [{ redisProblem }, { RedisTransport: Transport }] = await Promise.all([
    import('./ground/redis/check.ts'),
    import('./ground/redis/transport.ts'),
  ]);
  if (db.kind === 'embedded') {
    throw new StartRefusal(
      'DATABASE_URL must be set with REDIS_URL: the embedded database has one instance, which needs no Redis.',
    );
  }
  const problem = await redisProblem(url);
  if (problem?.isLasting === true) throw new StartRefusal(`${problem.message} ${problem.advice}`);
  const installation = await storedId(db.pool);
  return new Transport(hub, {
    ...{ url, installation: installation ?? 'unnamed' },
    onError: (error) => options.onError(error, false),
    onBack: options.onRedisBack ?? (() => undefined),
  });
}

/** What is published in a transaction is sent once it has committed: who looks again finds the change. */
function openSignals(
  hub: SignalHub,
  redis: RedisTransport | undefined,
  db: Database,
  onError: OpenStorageOptions['onError'],
): Signals {
  const afterCommit = (act: () => void) => db.afterCommit(act);
  if (db.isOfOneProcess) return new Signals(hub, undefined, afterCommit);
  if (db.siblings !== undefined) {
    const transport = new SiblingTransport(hub, db.siblings, (error) => onError(error, false));
    return new Signals(hub, { transport, pool: db.pool }, afterCommit);
  }
  const pool = redis === undefined ? (db.direct ?? db.pool) : db.pool;
  const transport = redis ?? new PostgresTransport(hub, pool, (error) => onError(error, false));
  return new Signals(hub, { transport, pool }, afterCommit);
}

/** Buckets in Redis while it answers, else in the database; none for the only process on its database. */
function openRateBuckets(db: Database, redis: RedisTransport | undefined): RateBucketStore | undefined {
  if (db.isOfOneProcess) return undefined;
  const databaseBuckets = createRateBucketStore(db);
  return redis === undefined ? databaseBuckets : createRedisRateBuckets(redis, databaseBuckets);
}

/**
 * Checks that database, blobs and master keys belong together, before anything is written.
 *
 * @throws StartRefusal
 */
async function check(settings: Settings, blobs: Blobs, db: Database, masterKeys: MasterKeys): Promise<void> {
  await refuseBlobsWithoutRows(settings, blobs, db);
  if (db.kind === 'embedded') await identify(settings, db);
  await checkMasterKeys(db, masterKeys, settings);
  if (db.kind === 'server') await confirmFiles(settings, blobs, db.pool);
  masterKeys.keep();
}
