import type { Database } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { PublishingStore } from '../ground/store.ts';
import { ConnectionAttemptStore } from './connections/attempts.ts';
import { ConnectionStore } from './connections/connections.ts';
import { McpOauthClientStore } from './connections/mcp-oauth-clients.ts';
import { EmbeddingStore } from './embeddings/embeddings.ts';
import { IndexingStore } from './indexing/indexing.ts';
import { KnowledgeItemStore } from './items/items.ts';
import { ChunkStore } from './passages/chunks.ts';
import { PermissionStore } from './permissions/permissions.ts';
import { PermissionReadingStore } from './permissions/readings.ts';
import { SearchIndexStore } from './search-index/store.ts';
import { ConnectedSourceStore } from './sources/connected-sources.ts';
import { SourceLinks } from './sources/links.ts';
import { SourceRunStore } from './sources/runs.ts';
import { DataSourceStore } from './sources/sources.ts';
import { SyncStore } from './syncing/syncing.ts';
import { VectorStoreBatchStore } from './vector-stores/batches.ts';
import { VectorStorePages } from './vector-stores/store-pages.ts';
import { VectorStoreStore } from './vector-stores/stores.ts';

/** The stores of sources, their items and passages. A new one is added here. */
export class KnowledgeStores extends PublishingStore {
  readonly sources = new DataSourceStore(this.db, this.signals);
  readonly items = new KnowledgeItemStore(this.db);
  readonly connections = new ConnectionStore(this.db, this.signals);
  readonly connectionAttempts = new ConnectionAttemptStore(this.db);
  readonly mcpOauthClients = new McpOauthClientStore(this.db);
  readonly connectedSources = new ConnectedSourceStore(this.db, this.signals);
  readonly sourceLinks = new SourceLinks(this.db);
  readonly sourceRuns = new SourceRunStore(this.db);
  readonly vectorStorePages = new VectorStorePages(this.db);
  readonly vectorStores = new VectorStoreStore(this.db, this.signals);
  readonly vectorStoreBatches = new VectorStoreBatchStore(this.db, this.signals);
  readonly chunks = new ChunkStore(this.db);
  /** Undefined where no embedding model is set, or the database keeps no vectors. */
  readonly embeddings = this.db.vectors.kind === 'ready' ? new EmbeddingStore(this.db) : undefined;
  readonly indexing = new IndexingStore(this.db, this.signals, this.chunks);
  /** Who may open what at MIRRORED sources. */
  readonly permissions: PermissionStore;
  readonly permissionReadings: PermissionReadingStore;
  readonly syncing = new SyncStore(this.db, this.signals);
  /** What is known of the copy of all passages at an OpenSearch. */
  readonly searchIndex = new SearchIndexStore(this.db);

  /** @param permissionMaxAgeMs  how long permissions count after they were read. */
  constructor(db: Database, signals: Signals, permissionMaxAgeMs: number) {
    super(db, signals);
    this.permissions = new PermissionStore(db, signals, permissionMaxAgeMs);
    this.permissionReadings = new PermissionReadingStore(db, signals, permissionMaxAgeMs);
  }
}
