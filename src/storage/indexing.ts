import type { ChunkStore } from './chunks.ts';
import type { Database } from './database.ts';
import type { IndexingStore } from './indexing/lease.ts';
import { createLeaseWrites } from './indexing/lease-writes.ts';
import { createUpkeep } from './indexing/upkeep.ts';
import type { Signals } from './signals.ts';

export {
  type IndexedContent,
  type IndexFailure,
  type IndexingStore,
  type IndexLease,
  LeaseLostError,
  type OwnedId,
} from './indexing/lease.ts';

export function createIndexingStore(db: Database, signals: Signals, chunks: ChunkStore): IndexingStore {
  const announce = (dataSourceId: string) => signals.publish('data-source-changed', dataSourceId);
  return { ...createLeaseWrites(db, chunks, announce), ...createUpkeep(db, chunks, announce) };
}
