import type { Database } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
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
export class KnowledgeStores {
  readonly sources: DataSourceStore;
  readonly items: KnowledgeItemStore;
  readonly connections: ConnectionStore;
  readonly connectionAttempts: ConnectionAttemptStore;
  readonly mcpOauthClients: McpOauthClientStore;
  readonly connectedSources: ConnectedSourceStore;
  readonly sourceLinks: SourceLinks;
  readonly sourceRuns: SourceRunStore;
  readonly vectorStorePages: VectorStorePages;
  readonly vectorStores: VectorStoreStore;
  readonly vectorStoreBatches: VectorStoreBatchStore;
  readonly chunks: ChunkStore;
  /** Undefined where no embedding model is set, or the database keeps no vectors. */
  readonly embeddings: EmbeddingStore | undefined;
  readonly indexing: IndexingStore;
  /** Who may open what at MIRRORED sources. */
  readonly permissions: PermissionStore;
  readonly permissionReadings: PermissionReadingStore;
  readonly syncing: SyncStore;
  /** What is known of the copy of all passages at an OpenSearch. */
  readonly searchIndex: SearchIndexStore;

  /** @param permissionMaxAgeMs  how long permissions count after they were read. */
  constructor(db: Database, signals: Signals, permissionMaxAgeMs: number) {
    this.sources = new DataSourceStore(db, signals);
    this.items = new KnowledgeItemStore(db);
    this.connections = new ConnectionStore(db, signals);
    this.connectionAttempts = new ConnectionAttemptStore(db);
    this.mcpOauthClients = new McpOauthClientStore(db);
    this.connectedSources = new ConnectedSourceStore(db, signals);
    this.sourceLinks = new SourceLinks(db);
    this.sourceRuns = new SourceRunStore(db);
    this.vectorStorePages = new VectorStorePages(db);
    this.vectorStores = new VectorStoreStore(db, signals);
    this.vectorStoreBatches = new VectorStoreBatchStore(db, signals);
    this.chunks = new ChunkStore(db);
    this.embeddings = db.vectors.kind === 'ready' ? new EmbeddingStore(db) : undefined;
    this.indexing = new IndexingStore(db, signals, this.chunks);
    this.permissions = new PermissionStore(db, signals, permissionMaxAgeMs);
    this.permissionReadings = new PermissionReadingStore(db, signals, permissionMaxAgeMs);
    this.syncing = new SyncStore(db, signals);
    this.searchIndex = new SearchIndexStore(db);
  }
}
