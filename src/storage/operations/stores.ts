import type { Settings } from '../../settings.ts';
import { OrphanBlobStore } from '../blobs/orphans.ts';
import type { Database } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { AgentImportStore } from './agent-imports.ts';
import { AuditBatch } from './audit/batch.ts';
import { AuditEntryStore } from './audit/entries.ts';
import { AuditSinkStore } from './audit/sink.ts';
import { UnseenContent } from './audit/unseen-content.ts';
import { ErasureStore } from './data-life/erasures.ts';
import { EventPartitionStore } from './data-life/event-partitions.ts';
import { EventSweepStore } from './data-life/event-sweeps.ts';
import { DataExportStore } from './data-life/exports.ts';
import { LogSweeps } from './data-life/log-sweeps.ts';
import { RetentionStore } from './data-life/retention.ts';
import { DataRows } from './data-life/rows.ts';
import { SweepStore } from './data-life/sweeps.ts';
import { InstallationFacts } from './installation.ts';
import { LiveStore } from './live/live.ts';
import { OwnershipStore } from './ownership.ts';
import { SavedDocumentStore } from './saved-documents.ts';
import { SearchStore } from './search/search.ts';
import { BudgetStore } from './usage/budgets.ts';
import { UsageLimitStore } from './usage/limits.ts';
import type { RateBucketStore } from './usage/rate-buckets.ts';
import { UsageStore } from './usage/usage.ts';
import { WebhookStore } from './webhooks/webhooks.ts';

export interface OperationStoreOptions {
  readonly onError: (error: unknown) => void;
  readonly rateBuckets: RateBucketStore | undefined;
}

/** The stores of usage, audit, webhooks and the life of data. A new one is added here. */
export class OperationStores {
  readonly installation: InstallationFacts;
  readonly orphanBlobs: OrphanBlobStore;
  readonly ownership: OwnershipStore;
  readonly agentImports: AgentImportStore;
  readonly auditEntries: AuditEntryStore;
  /** Audit entries that are written after the replies. */
  readonly auditBatch: AuditBatch;
  readonly auditSink: AuditSinkStore;
  readonly unseenContent: UnseenContent;
  readonly usage: UsageStore;
  readonly usageLimits: UsageLimitStore;
  readonly budgets: BudgetStore;
  readonly savedDocuments: SavedDocumentStore;
  /** Undefined on the embedded database, which has a single process. */
  readonly rateBuckets: RateBucketStore | undefined;
  readonly retention: RetentionStore;
  readonly sweeps: SweepStore;
  readonly eventSweeps: EventSweepStore;
  readonly eventPartitions: EventPartitionStore;
  readonly logSweeps: LogSweeps;
  readonly dataRows: DataRows;
  readonly dataExports: DataExportStore;
  readonly erasures: ErasureStore;
  /** What streams of changes read. */
  readonly live: LiveStore;
  readonly search: SearchStore;
  readonly webhooks: WebhookStore;

  constructor(db: Database, signals: Signals, settings: Settings, options: OperationStoreOptions) {
    this.installation = new InstallationFacts(db, settings);
    this.orphanBlobs = new OrphanBlobStore(db);
    this.ownership = new OwnershipStore(db, signals);
    this.agentImports = new AgentImportStore(db, signals);
    this.auditEntries = new AuditEntryStore(db);
    this.auditBatch = new AuditBatch(db, this.auditEntries, options.onError);
    this.auditSink = new AuditSinkStore(db);
    this.unseenContent = new UnseenContent(db);
    this.usage = new UsageStore(db, signals);
    this.usageLimits = new UsageLimitStore(db, signals);
    this.budgets = new BudgetStore(db, signals);
    this.savedDocuments = new SavedDocumentStore(db, signals);
    this.rateBuckets = options.rateBuckets;
    this.retention = new RetentionStore(db);
    this.sweeps = new SweepStore(db);
    this.eventSweeps = new EventSweepStore(db);
    this.eventPartitions = new EventPartitionStore(db);
    this.logSweeps = new LogSweeps(db, { keepsUnsent: settings.AUDIT_SINK_URL !== undefined });
    this.dataRows = new DataRows(db);
    this.dataExports = new DataExportStore(db);
    this.erasures = new ErasureStore(db, signals);
    this.live = new LiveStore(db);
    this.search = new SearchStore(db);
    this.webhooks = new WebhookStore(db);
  }
}
