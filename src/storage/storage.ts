import type { Settings } from '../settings.ts';
import { type AgentStore, createAgentStore } from './agents/agents.ts';
import { type AgentCategoryStore, createAgentCategoryStore } from './agents/categories.ts';
import { createGrantStore, type GrantStore } from './agents/grants.ts';
import { type AgentPartStore, createAgentPartStore } from './agents/parts/parts.ts';
import { type AgentRatingStore, createAgentRatingStore } from './agents/ratings.ts';
import { createToolNameStore, type ToolNameStore } from './agents/tool-names.ts';
import type { Blobs } from './blobs/blobs.ts';
import { openBlobs } from './blobs/open.ts';
import { createOrphanBlobStore, type OrphanBlobStore } from './blobs/orphans.ts';
import { type BranchStore, createBranchStore } from './conversations/chats/branches.ts';
import { type ChatChangeStore, createChatChangeStore } from './conversations/chats/changes.ts';
import { type ChatStore, createChatStore } from './conversations/chats/chats.ts';
import { type CodeStateStore, createCodeStateStore } from './conversations/chats/code-states.ts';
import { type ConversationStore, createConversationStore } from './conversations/chats/conversations.ts';
import { createFeedbackStore, type FeedbackStore } from './conversations/chats/feedback.ts';
import { type ChatFileStore, createChatFileStore } from './conversations/chats/files.ts';
import { type ChatReadStore, createChatReadStore } from './conversations/chats/reads.ts';
import { createThreadStore, type ThreadStore } from './conversations/chats/threads.ts';
import { createFileStore, type FileStore } from './conversations/files/files.ts';
import { createFileUploadStore, type FileUploadStore } from './conversations/files/uploads.ts';
import { createMemoryStore, type MemoryStore } from './conversations/memories/memories.ts';
import { type ApprovalStore, createApprovalStore } from './conversations/runs/approvals.ts';
import { createRunEventStore, type RunEventStore } from './conversations/runs/events.ts';
import { createRunHistoryStore, type RunHistoryStore } from './conversations/runs/history.ts';
import { createResponseStore, type ResponseStore } from './conversations/runs/responses.ts';
import { createRunStore, type RunStore } from './conversations/runs/runs.ts';
import { createScheduleStore, type ScheduleStore } from './conversations/schedules.ts';
import type { Database } from './ground/database.ts';
import { createLegalHoldStore, type LegalHoldStore } from './ground/holds.ts';
import { createIdempotencyStore, type IdempotencyStore } from './ground/idempotency.ts';
import { createLeases, type Leases } from './ground/leases.ts';
import { identify, refuseBlobsWithoutRows, storedId } from './ground/opening/installation.ts';
import { type OpenDatabaseOptions, openDatabase } from './ground/opening/open.ts';
import { confirmFiles } from './ground/opening/shared-files.ts';
import { StartRefusal } from './ground/opening/start-refusal.ts';
import type { RedisSignals } from './ground/redis/signals.ts';
import { createInProcessSignals } from './ground/signals/in-process.ts';
import { createPostgresSignals } from './ground/signals/postgres.ts';
import type { Signals } from './ground/signals/signals.ts';
import { createTaskStore, type TaskStore } from './ground/tasks.ts';
import { type ConnectionAttemptStore, createConnectionAttemptStore } from './knowledge/connections/attempts.ts';
import { type ConnectionStore, createConnectionStore } from './knowledge/connections/connections.ts';
import { createEmbeddingStore, type EmbeddingStore } from './knowledge/embeddings/embeddings.ts';
import { createIndexingStore, type IndexingStore } from './knowledge/indexing/indexing.ts';
import { createKnowledgeItemStore, type KnowledgeItemStore } from './knowledge/items/items.ts';
import { type ChunkStore, createChunkStore } from './knowledge/passages/chunks.ts';
import { createSearchIndexStore, type SearchIndexStore } from './knowledge/search-index/store.ts';
import { type ConnectedSourceStore, createConnectedSourceStore } from './knowledge/sources/connected-sources.ts';
import { createSourceLinks, type SourceLinks } from './knowledge/sources/links.ts';
import { createSourceRunStore, type SourceRunStore } from './knowledge/sources/runs.ts';
import { createDataSourceStore, type DataSourceStore } from './knowledge/sources/sources.ts';
import { createSyncStore, type SyncStore } from './knowledge/syncing/syncing.ts';
import { createVectorStoreBatchStore, type VectorStoreBatchStore } from './knowledge/vector-stores/batches.ts';
import { createVectorStorePages, type VectorStorePages } from './knowledge/vector-stores/store-pages.ts';
import { createVectorStoreStore, type VectorStoreStore } from './knowledge/vector-stores/stores.ts';
import { type AgentImportStore, createAgentImportStore } from './operations/agent-imports.ts';
import { type AuditBatch, createAuditBatch } from './operations/audit/batch.ts';
import { type AuditEntryStore, createAuditEntryStore } from './operations/audit/entries.ts';
import { type AuditSinkStore, createAuditSinkStore } from './operations/audit/sink.ts';
import { createUnseenContent, type UnseenContent } from './operations/audit/unseen-content.ts';
import { createErasureStore, type ErasureStore } from './operations/data-life/erasures.ts';
import { createEventPartitionStore, type EventPartitionStore } from './operations/data-life/event-partitions.ts';
import { createEventSweepStore, type EventSweepStore } from './operations/data-life/event-sweeps.ts';
import { createDataExportStore, type DataExportStore } from './operations/data-life/exports.ts';
import { createLogSweeps, type LogSweeps } from './operations/data-life/log-sweeps.ts';
import { createRetentionStore, type RetentionStore } from './operations/data-life/retention.ts';
import { createDataRows, type DataRows } from './operations/data-life/rows.ts';
import { createSweepStore, type SweepStore } from './operations/data-life/sweeps.ts';
import { createInstallationFacts, type InstallationFacts } from './operations/installation.ts';
import { createLiveStore, type LiveStore } from './operations/live/live.ts';
import { createOwnershipStore, type OwnershipStore } from './operations/ownership.ts';
import { createSearchStore, type SearchStore } from './operations/search/search.ts';
import { createUsageLimitStore, type UsageLimitStore } from './operations/usage/limits.ts';
import { createRateBucketStore, type RateBucketStore } from './operations/usage/rate-buckets.ts';
import { createRedisRateBuckets } from './operations/usage/redis-rate-buckets.ts';
import { createUsageStore, type UsageStore } from './operations/usage/usage.ts';
import { createWebhookStore, type WebhookStore } from './operations/webhooks/webhooks.ts';
import { type AccountStore, createAccountStore } from './people/accounts.ts';
import { createGroupStore, type GroupStore } from './people/groups/groups.ts';
import { type ApiKeyStore, createApiKeyStore } from './people/keys/api-keys.ts';
import { createMembershipStore, type MembershipStore } from './people/memberships.ts';
import { createOperatorStore, type OperatorStore } from './people/operators.ts';
import { createOrganizationStore, type OrganizationStore } from './people/organizations.ts';
import { createRemovalStore, type RemovalStore } from './people/removals.ts';
import { createScimStore, type ScimStore } from './people/scim.ts';
import { createEndedSessionStore, type EndedSessionStore } from './people/sign-in/ended-sessions.ts';
import { createIdentityStore, type IdentityStore } from './people/sign-in/identities.ts';
import { createInvitationStore, type InvitationStore } from './people/sign-in/invitations.ts';
import { createSignInLinkStore, type SignInLinkStore } from './people/sign-in/links.ts';
import { createPasskeyStore, type PasskeyStore } from './people/sign-in/passkeys.ts';
import { type AttemptStore, createAttemptStore, createPasswordStore, type PasswordStore } from './people/sign-in/passwords.ts';
import { createSessionStore, type SessionStore } from './people/sign-in/sessions.ts';
import { createWayStore, type WayStore } from './people/sign-in/ways.ts';
import { createTenancyStore, type TenancyStore } from './people/tenancy.ts';
import { createTenantStore, type TenantStore } from './people/tenants.ts';
import { createUserStore, type UserStore } from './people/users.ts';
import { checkMasterKeys } from './vault/check-keys.ts';
import { createLinkSigner, type LinkSigner } from './vault/link-signer.ts';
import { loadMasterKeys, type MasterKeys } from './vault/master-keys.ts';
import { createVault, type Vault } from './vault/vault.ts';

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
  const opened = settings.BLOB_URL === undefined ? undefined : await openBlobs(settings, onStoreFailure);
  const masterKeys = loadMasterKeys(settings);
  const db = await openDatabase(settings, options).catch(async (error: unknown) => {
    await opened?.close();
    throw error;
  });
  let blobs: Blobs;
  let redis: RedisSignals | undefined;
  try {
    blobs = opened ?? (await openBlobs(settings, onStoreFailure));
    await check(settings, blobs, db, masterKeys);
    redis = await openRedis(settings, db, options);
  } catch (error) {
    await opened?.close();
    await db.close();
    throw error;
  }
  const signals = afterCommit(db, redis ?? (await openSignals(db, onError)));
  const apiKeys = createApiKeyStore(db, signals);
  const sessions = createSessionStore(db, signals, settings.SESSION_DAYS * dayMs);
  const chunks = createChunkStore(db);
  const auditEntries = createAuditEntryStore(db);
  const auditBatch = createAuditBatch(db, auditEntries, (error) => onError(error as Error, false));
  const vault = createVault(db, masterKeys);
  return {
    db,
    blobs,
    installation: createInstallationFacts(db, settings),
    orphanBlobs: createOrphanBlobStore(db),
    signals,
    vault,
    links: createLinkSigner(masterKeys),
    accounts: createAccountStore(db),
    apiKeys,
    sessions,
    signInLinks: createSignInLinkStore(db),
    invitations: createInvitationStore(db, signals),
    passkeys: createPasskeyStore(db),
    webhooks: createWebhookStore(db),
    schedules: createScheduleStore(db, signals),
    passwords: createPasswordStore(db),
    ways: createWayStore(db, signals),
    removals: createRemovalStore(db),
    attempts: createAttemptStore(db),
    identities: createIdentityStore(db, signals),
    agents: createAgentStore(db, signals),
    agentCategories: createAgentCategoryStore(db),
    agentRatings: createAgentRatingStore(db, signals),
    agentParts: createAgentPartStore(db, signals),
    agentImports: createAgentImportStore(db, signals),
    agentGrants: createGrantStore(db),
    groups: createGroupStore(db, signals),
    tenancy: createTenancyStore(db, signals),
    operators: createOperatorStore(db, signals),
    tenants: createTenantStore(db),
    organizations: createOrganizationStore(db, signals),
    users: createUserStore(db, signals),
    memberships: createMembershipStore(db, signals),
    ownership: createOwnershipStore(db, signals),
    scim: createScimStore(db, signals),
    auditEntries,
    auditBatch,
    auditSink: createAuditSinkStore(db),
    unseenContent: createUnseenContent(db),
    usage: createUsageStore(db, signals),
    usageLimits: createUsageLimitStore(db, signals),
    rateBuckets: openRateBuckets(db, redis),
    chats: createChatStore(db, signals),
    chatChanges: createChatChangeStore(db, signals),
    branches: createBranchStore(db, signals),
    chatReads: createChatReadStore(db, signals),
    feedback: createFeedbackStore(db, signals),
    conversations: createConversationStore(db, signals),
    chatFiles: createChatFileStore(db),
    codeStates: createCodeStateStore(db),
    files: createFileStore(db),
    fileUploads: createFileUploadStore(db),
    memories: createMemoryStore(db, signals),
    runs: createRunStore(db),
    runHistory: createRunHistoryStore(db),
    runEvents: createRunEventStore(db),
    responses: createResponseStore(db),
    threads: createThreadStore(db, signals),
    idempotency: createIdempotencyStore(db),
    connections: createConnectionStore(db, signals),
    approvals: createApprovalStore(db),
    toolNames: createToolNameStore(db),
    endedSessions: createEndedSessionStore(db),
    connectionAttempts: createConnectionAttemptStore(db),
    dataSources: createDataSourceStore(db, signals),
    connectedSources: createConnectedSourceStore(db, signals),
    knowledgeItems: createKnowledgeItemStore(db),
    sourceLinks: createSourceLinks(db),
    sourceRuns: createSourceRunStore(db),
    vectorStorePages: createVectorStorePages(db),
    vectorStores: createVectorStoreStore(db, signals),
    vectorStoreBatches: createVectorStoreBatchStore(db, signals),
    chunks,
    embeddings: createEmbeddingStore(db),
    indexing: createIndexingStore(db, signals, chunks),
    syncing: createSyncStore(db, signals),
    retention: createRetentionStore(db),
    legalHolds: createLegalHoldStore(db),
    eventSweeps: createEventSweepStore(db),
    eventPartitions: createEventPartitionStore(db),
    sweeps: createSweepStore(db),
    tasks: createTaskStore(db),
    logSweeps: createLogSweeps(db, { keepsUnsent: settings.AUDIT_SINK_URL !== undefined }),
    dataRows: createDataRows(db),
    dataExports: createDataExportStore(db),
    erasures: createErasureStore(db, signals),
    leases: createLeases(db),
    live: createLiveStore(db),
    search: createSearchStore(db),
    searchIndex: createSearchIndexStore(db),
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
  const stored = createRateBucketStore(db);
  return redis === undefined ? stored : createRedisRateBuckets(redis, stored);
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
