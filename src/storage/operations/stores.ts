import type { Settings } from '../../settings.ts';
import { OrphanBlobStore } from '../blobs/orphans.ts';
import type { Database } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { PublishingStore } from '../ground/store.ts';
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
export class OperationStores extends PublishingStore {
  readonly installation: InstallationFacts;
  readonly orphanBlobs = new OrphanBlobStore(this.db);
  readonly ownership = new OwnershipStore(this.db, this.signals);
  readonly agentImports = new AgentImportStore(this.db, this.signals);
  readonly auditEntries = new AuditEntryStore(this.db);
  /** Audit entries that are written after the replies. */
  readonly auditBatch: AuditBatch;
  readonly auditSink = new AuditSinkStore(this.db);
  readonly unseenContent = new UnseenContent(this.db);
  readonly usage = new UsageStore(this.db, this.signals);
  readonly usageLimits = new UsageLimitStore(this.db, this.signals);
  readonly budgets = new BudgetStore(this.db, this.signals);
  readonly savedDocuments = new SavedDocumentStore(this.db, this.signals);
  /** Undefined on the embedded database, which has a single process. */
  readonly rateBuckets: RateBucketStore | undefined;
  readonly retention = new RetentionStore(this.db);
  readonly sweeps = new SweepStore(this.db);
  readonly eventSweeps = new EventSweepStore(this.db);
  readonly eventPartitions = new EventPartitionStore(this.db);
  readonly logSweeps: LogSweeps;
  readonly dataRows = new DataRows(this.db);
  readonly dataExports = new DataExportStore(this.db);
  readonly erasures = new ErasureStore(this.db, this.signals);
  /** What streams of changes read. */
  readonly live = new LiveStore(this.db);
  readonly search = new SearchStore(this.db);
  readonly webhooks = new WebhookStore(this.db);

  constructor(db: Database, signals: Signals, settings: Settings, options: OperationStoreOptions) {
    super(db, signals);
    this.installation = new InstallationFacts(db, settings);
    this.auditBatch = new AuditBatch(db, this.auditEntries, options.onError);
    this.rateBuckets = options.rateBuckets;
    this.logSweeps = new LogSweeps(db, { keepsUnsent: settings.AUDIT_SINK_URL !== undefined });
  }
}
