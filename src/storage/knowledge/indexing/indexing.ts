import type { Database } from '../../database/database.ts';
import type { Signals } from '../../database/signals/signals.ts';
import type { ChunkStore } from '../chunks.ts';
import type { IndexingStore } from './lease.ts';
import { createLeaseWrites } from './lease-writes.ts';
import { createUpkeep } from './upkeep.ts';

export {
  type IndexFailure,
  type IndexingStore,
  type IndexLease,
  LeaseLostError,
  type OwnedId,
} from './lease.ts';

export function createIndexingStore(db: Database, signals: Signals, chunks: ChunkStore): IndexingStore {
  const announce = (dataSourceId: string) => signals.publish('data-source-changed', dataSourceId);
  return { ...createLeaseWrites(db, chunks, announce), ...createUpkeep(db, chunks, announce) };
}
