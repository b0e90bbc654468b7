import type { Settings } from '../settings.ts';
import { AgentStore } from './agents/agents.ts';
import { AgentCategoryStore } from './agents/categories.ts';
import { GrantStore } from './agents/grants.ts';
import { AgentPartStore } from './agents/parts/parts.ts';
import { AgentRatingStore } from './agents/ratings.ts';
import { ToolNameStore } from './agents/tool-names.ts';
import type { Blobs } from './blobs/blobs.ts';
import { openBlobs } from './blobs/open.ts';
import { OrphanBlobStore } from './blobs/orphans.ts';
import { BranchStore } from './conversations/chats/branches.ts';
import { ChatChangeStore } from './conversations/chats/changes.ts';
import { ChatStore } from './conversations/chats/chats.ts';
import { CodeStateStore } from './conversations/chats/code-states.ts';
import { ConversationStore } from './conversations/chats/conversations.ts';
import { FeedbackStore } from './conversations/chats/feedback.ts';
import { ChatFileStore } from './conversations/chats/files.ts';
import { ChatReadStore } from './conversations/chats/reads.ts';
import { ThreadStore } from './conversations/chats/threads.ts';
import { FileStore } from './conversations/files/files.ts';
import { FileUploadStore } from './conversations/files/uploads.ts';
import { MemoryStore } from './conversations/memories/memories.ts';
import { ApprovalStore } from './conversations/runs/approvals.ts';
import { RunEventStore } from './conversations/runs/events.ts';
import { RunHistoryStore } from './conversations/runs/history.ts';
import { ResponseStore } from './conversations/runs/responses.ts';
import { RunStore } from './conversations/runs/runs.ts';
import { ScheduleStore } from './conversations/schedules.ts';
import type { Database } from './ground/database.ts';
import { LegalHoldStore } from './ground/holds.ts';
import { IdempotencyStore } from './ground/idempotency.ts';
import { Leases } from './ground/leases.ts';
import { identify, refuseBlobsWithoutRows, storedId } from './ground/opening/installation.ts';
import { type OpenDatabaseOptions, openDatabase } from './ground/opening/open.ts';
import { confirmFiles } from './ground/opening/shared-files.ts';
import { StartRefusal } from './ground/opening/start-refusal.ts';
import type { RedisSignals } from './ground/redis/signals.ts';
import { createInProcessSignals } from './ground/signals/in-process.ts';
import { createPostgresSignals } from './ground/signals/postgres.ts';
import type { Signals } from './ground/signals/signals.ts';
import { TaskStore } from './ground/tasks.ts';
import { ConnectionAttemptStore } from './knowledge/connections/attempts.ts';
import { ConnectionStore } from './knowledge/connections/connections.ts';
import { EmbeddingStore } from './knowledge/embeddings/embeddings.ts';
import { createIndexingStore, type IndexingStore } from './knowledge/indexing/indexing.ts';
import { KnowledgeItemStore } from './knowledge/items/items.ts';
import { ChunkStore } from './knowledge/passages/chunks.ts';
import { SearchIndexStore } from './knowledge/search-index/store.ts';
import { ConnectedSourceStore } from './knowledge/sources/connected-sources.ts';
import { SourceLinks } from './knowledge/sources/links.ts';
import { SourceRunStore } from './knowledge/sources/runs.ts';
import { DataSourceStore } from './knowledge/sources/sources.ts';
import { createSyncStore, type SyncStore } from './knowledge/syncing/syncing.ts';
import { VectorStoreBatchStore } from './knowledge/vector-stores/batches.ts';
import { VectorStorePages } from './knowledge/vector-stores/store-pages.ts';
import { VectorStoreStore } from './knowledge/vector-stores/stores.ts';
import { AgentImportStore } from './operations/agent-imports.ts';
import { AuditBatch } from './operations/audit/batch.ts';
import { AuditEntryStore } from './operations/audit/entries.ts';
import { AuditSinkStore } from './operations/audit/sink.ts';
import { UnseenContent } from './operations/audit/unseen-content.ts';
import { ErasureStore } from './operations/data-life/erasures.ts';
import { EventPartitionStore } from './operations/data-life/event-partitions.ts';
import { EventSweepStore } from './operations/data-life/event-sweeps.ts';
import { DataExportStore } from './operations/data-life/exports.ts';
import { LogSweeps } from './operations/data-life/log-sweeps.ts';
import { RetentionStore } from './operations/data-life/retention.ts';
import { DataRows } from './operations/data-life/rows.ts';
import { SweepStore } from './operations/data-life/sweeps.ts';
import { InstallationFacts } from './operations/installation.ts';
import { LiveStore } from './operations/live/live.ts';
import { OwnershipStore } from './operations/ownership.ts';
import { SearchStore } from './operations/search/search.ts';
import { UsageLimitStore } from './operations/usage/limits.ts';
import { createRateBucketStore, type RateBucketStore } from './operations/usage/rate-buckets.ts';
import { createRedisRateBuckets } from './operations/usage/redis-rate-buckets.ts';
import { UsageStore } from './operations/usage/usage.ts';
import { WebhookStore } from './operations/webhooks/webhooks.ts';
import { AccountStore } from './people/accounts.ts';
import { GroupStore } from './people/groups/groups.ts';
import { ApiKeyStore } from './people/keys/api-keys.ts';
import { MembershipStore } from './people/memberships.ts';
import { OperatorStore } from './people/operators.ts';
import { OrganizationStore } from './people/organizations.ts';
import { RemovalStore } from './people/removals.ts';
import { ScimStore } from './people/scim.ts';
import { EndedSessionStore } from './people/sign-in/ended-sessions.ts';
import { IdentityStore } from './people/sign-in/identities.ts';
import { InvitationStore } from './people/sign-in/invitations.ts';
import { SignInLinkStore } from './people/sign-in/links.ts';
import { PasskeyStore } from './people/sign-in/passkeys.ts';
import { AttemptStore, PasswordStore } from './people/sign-in/passwords.ts';
import { SessionStore } from './people/sign-in/sessions.ts';
import { WayStore } from './people/sign-in/ways.ts';
import { TenancyStore } from './people/tenancy.ts';
import { TenantStore } from './people/tenants.ts';
import { UserStore } from './people/users.ts';
import { checkMasterKeys } from './vault/check-keys.ts';
import { LinkSigner } from './vault/link-signer.ts';
import { loadMasterKeys, type MasterKeys } from './vault/master-keys.ts';
import { Vault } from './vault/vault.ts';

/** All stores, one for each feature, each in the file of its noun. A new feature adds its store here. */
export interface Storage {
  readonly db: Database;
  readonly blobs: Blobs;
  readonly installation: InstallationFacts;
  readonly orphanBlobs: OrphanBlobStore;
  readonly signals: Signals;
  readonly vault: Vault;
  readonly links: LinkSigner;
  readonly accounts: AccountStore;
  readonly apiKeys: ApiKeyStore;
  readonly sessions: SessionStore;
  readonly signInLinks: SignInLinkStore;
  readonly invitations: InvitationStore;
  readonly passkeys: PasskeyStore;
  readonly passwords: PasswordStore;
  readonly ways: WayStore;
  readonly removals: RemovalStore;
  readonly attempts: AttemptStore;
  readonly identities: IdentityStore;
  readonly agents: AgentStore;
  readonly agentCategories: AgentCategoryStore;
  readonly agentRatings: AgentRatingStore;
  readonly agentParts: AgentPartStore;
  readonly agentImports: AgentImportStore;
  readonly agentGrants: GrantStore;
  readonly groups: GroupStore;
  readonly tenancy: TenancyStore;
  readonly operators: OperatorStore;
  readonly tenants: TenantStore;
  readonly organizations: OrganizationStore;
  readonly users: UserStore;
  readonly memberships: MembershipStore;
  readonly ownership: OwnershipStore;
  readonly scim: ScimStore;
  readonly auditEntries: AuditEntryStore;
  /** Audit entries that are written after the replies. */
  readonly auditBatch: AuditBatch;
  readonly auditSink: AuditSinkStore;
  readonly unseenContent: UnseenContent;
  readonly usage: UsageStore;
  readonly usageLimits: UsageLimitStore;
  /** Undefined on the embedded database, which has a single process. */
  readonly rateBuckets: RateBucketStore | undefined;
  readonly chats: ChatStore;
  readonly chatChanges: ChatChangeStore;
  readonly branches: BranchStore;
  readonly chatReads: ChatReadStore;
  readonly feedback: FeedbackStore;
  readonly conversations: ConversationStore;
  readonly chatFiles: ChatFileStore;
  readonly codeStates: CodeStateStore;
  readonly files: FileStore;
  readonly fileUploads: FileUploadStore;
  readonly memories: MemoryStore;
  readonly runs: RunStore;
  readonly runHistory: RunHistoryStore;
  readonly runEvents: RunEventStore;
  readonly responses: ResponseStore;
  readonly threads: ThreadStore;
  readonly idempotency: IdempotencyStore;
  readonly connections: ConnectionStore;
  readonly approvals: ApprovalStore;
  /** Names of agents for MCP clients. */
  readonly toolNames: ToolNameStore;
  /** Sessions of MCP clients that have ended. */
  readonly endedSessions: EndedSessionStore;
  readonly connectionAttempts: ConnectionAttemptStore;
  readonly dataSources: DataSourceStore;
  readonly connectedSources: ConnectedSourceStore;
  readonly knowledgeItems: KnowledgeItemStore;
  readonly sourceLinks: SourceLinks;
  readonly sourceRuns: SourceRunStore;
  readonly vectorStorePages: VectorStorePages;
  readonly vectorStores: VectorStoreStore;
  readonly vectorStoreBatches: VectorStoreBatchStore;
  readonly chunks: ChunkStore;
  /** Undefined where no embedding model is set, or the database keeps no vectors. */
  readonly embeddings: EmbeddingStore | undefined;
  readonly indexing: IndexingStore;
  readonly syncing: SyncStore;
  readonly retention: RetentionStore;
  readonly legalHolds: LegalHoldStore;
  readonly sweeps: SweepStore;
  readonly eventSweeps: EventSweepStore;
  readonly eventPartitions: EventPartitionStore;
  readonly logSweeps: LogSweeps;
  readonly tasks: TaskStore;
  readonly dataRows: DataRows;
  readonly dataExports: DataExportStore;
  readonly erasures: ErasureStore;
  readonly leases: Leases;
  /** What streams of changes read. */
  readonly live: LiveStore;
  readonly search: SearchStore;
  /** What is known of the copy of all passages at an OpenSearch. */
  readonly searchIndex: SearchIndexStore;
  readonly webhooks: WebhookStore;
  readonly schedules: ScheduleStore;
  close(): Promise<void>;
}

const dayMs = 86_400_000;

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
  let redis: RedisSignals | undefined;
  try {
    blobs = openBlobStore ?? (await openBlobs(settings, onStoreFailure));
    await check(settings, blobs, db, masterKeys);
    redis = await openRedis(settings, db, options);
  } catch (error) {
    await openBlobStore?.close();
    await db.close();
    throw error;
  }
  const signals = afterCommit(db, redis ?? (await openSignals(db, onError)));
  const apiKeys = new ApiKeyStore(db, signals);
  const sessions = new SessionStore(db, signals, settings.SESSION_DAYS * dayMs);
  const chunks = new ChunkStore(db);
  const auditEntries = new AuditEntryStore(db);
  const auditBatch = new AuditBatch(db, auditEntries, (error) => onError(error as Error, false));
  const vault = new Vault(db, masterKeys);
  return {
    db,
    blobs,
    installation: new InstallationFacts(db, settings),
    orphanBlobs: new OrphanBlobStore(db),
    signals,
    vault,
    links: new LinkSigner(masterKeys),
    accounts: new AccountStore(db),
    apiKeys,
    sessions,
    signInLinks: new SignInLinkStore(db),
    invitations: new InvitationStore(db, signals),
    passkeys: new PasskeyStore(db),
    webhooks: new WebhookStore(db),
    schedules: new ScheduleStore(db, signals),
    passwords: new PasswordStore(db),
    ways: new WayStore(db, signals),
    removals: new RemovalStore(db),
    attempts: new AttemptStore(db),
    identities: new IdentityStore(db, signals),
    agents: new AgentStore(db, signals),
    agentCategories: new AgentCategoryStore(db),
    agentRatings: new AgentRatingStore(db, signals),
    agentParts: new AgentPartStore(db, signals),
    agentImports: new AgentImportStore(db, signals),
    agentGrants: new GrantStore(db),
    groups: new GroupStore(db, signals),
    tenancy: new TenancyStore(db, signals),
    operators: new OperatorStore(db, signals),
    tenants: new TenantStore(db),
    organizations: new OrganizationStore(db, signals),
    users: new UserStore(db, signals),
    memberships: new MembershipStore(db, signals),
    ownership: new OwnershipStore(db, signals),
    scim: new ScimStore(db, signals),
    auditEntries,
    auditBatch,
    auditSink: new AuditSinkStore(db),
    unseenContent: new UnseenContent(db),
    usage: new UsageStore(db, signals),
    usageLimits: new UsageLimitStore(db, signals),
    rateBuckets: openRateBuckets(db, redis),
    chats: new ChatStore(db, signals),
    chatChanges: new ChatChangeStore(db, signals),
    branches: new BranchStore(db, signals),
    chatReads: new ChatReadStore(db, signals),
    feedback: new FeedbackStore(db, signals),
    conversations: new ConversationStore(db, signals),
    chatFiles: new ChatFileStore(db),
    codeStates: new CodeStateStore(db),
    files: new FileStore(db),
    fileUploads: new FileUploadStore(db),
    memories: new MemoryStore(db, signals),
    runs: new RunStore(db),
    runHistory: new RunHistoryStore(db),
    runEvents: new RunEventStore(db),
    responses: new ResponseStore(db),
    threads: new ThreadStore(db, signals),
    idempotency: new IdempotencyStore(db),
    connections: new ConnectionStore(db, signals),
    approvals: new ApprovalStore(db),
    toolNames: new ToolNameStore(db),
    endedSessions: new EndedSessionStore(db),
    connectionAttempts: new ConnectionAttemptStore(db),
    dataSources: new DataSourceStore(db, signals),
    connectedSources: new ConnectedSourceStore(db, signals),
    knowledgeItems: new KnowledgeItemStore(db),
    sourceLinks: new SourceLinks(db),
    sourceRuns: new SourceRunStore(db),
    vectorStorePages: new VectorStorePages(db),
    vectorStores: new VectorStoreStore(db, signals),
    vectorStoreBatches: new VectorStoreBatchStore(db, signals),
    chunks,
    embeddings: db.vectors.kind === 'ready' ? new EmbeddingStore(db) : undefined,
    indexing: createIndexingStore(db, signals, chunks),
    syncing: createSyncStore(db, signals),
    retention: new RetentionStore(db),
    legalHolds: new LegalHoldStore(db),
    eventSweeps: new EventSweepStore(db),
    eventPartitions: new EventPartitionStore(db),
    sweeps: new SweepStore(db),
    tasks: new TaskStore(db),
    logSweeps: new LogSweeps(db, { keepsUnsent: settings.AUDIT_SINK_URL !== undefined }),
    dataRows: new DataRows(db),
    dataExports: new DataExportStore(db),
    erasures: new ErasureStore(db, signals),
    leases: new Leases(db),
    live: new LiveStore(db),
    search: new SearchStore(db),
    searchIndex: new SearchIndexStore(db),
    close: async () => {
      await auditBatch.close();
      await apiKeys.close();
      await sessions.close();
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
async function openRedis(settings: Settings, db: Database, options: OpenStorageOptions): Promise<RedisSignals | undefined> {
  const { REDIS_URL: url } = settings;
  if (url === undefined) return undefined;
  // Loaded only where it is switched on.
  const [{ redisProblem }, { createRedisSignals }] = await Promise.all([
    import('./ground/redis/check.ts'),
    import('./ground/redis/signals.ts'),
  ]);
  if (db.kind === 'embedded') {
    throw new StartRefusal(
      'DATABASE_URL must be set with REDIS_URL: the embedded database has one instance, which needs no Redis.',
    );
  }
  const problem = await redisProblem(url);
  if (problem?.isLasting === true) throw new StartRefusal(`${problem.message} ${problem.advice}`);
  const installation = await storedId(db.pool);
  return createRedisSignals({
    ...{ url, pool: db.pool, installation: installation ?? 'unnamed' },
    onError: (error) => options.onError(error, false),
    onBack: options.onRedisBack ?? (() => undefined),
  });
}

function openSignals(db: Database, onError: OpenStorageOptions['onError']): Promise<Signals> | Signals {
  return db.kind === 'embedded'
    ? createInProcessSignals()
    : createPostgresSignals(db.direct ?? db.pool, (error) => onError(error, false));
}

/** Buckets in Redis while it answers, else in the database; none for the only process on its database. */
function openRateBuckets(db: Database, redis: RedisSignals | undefined): RateBucketStore | undefined {
  if (db.kind === 'embedded') return undefined;
  const databaseBuckets = createRateBucketStore(db);
  return redis === undefined ? databaseBuckets : createRedisRateBuckets(redis, databaseBuckets);
}

/** Signals that are published once the current transaction has committed: who looks again finds the change. */
function afterCommit(db: Database, signals: Signals): Signals {
  return {
    publish: (topic, payload) => db.afterCommit(() => signals.publish(topic, payload)),
    subscribe: (topic, listener, interest) => signals.subscribe(topic, listener, interest),
    tell: (runId, batch) => db.afterCommit(() => signals.tell(runId, batch)),
    watch: (runId, listener) => signals.watch(runId, listener),
    onGap: (listener) => signals.onGap(listener),
    onReset: (listener) => signals.onReset(listener),
    isHealthy: () => signals.isHealthy(),
    state: () => signals.state(),
    problem: () => signals.problem(),
    get counts() {
      return signals.counts;
    },
    close: () => signals.close(),
  };
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
