import type { Database } from '../../database/database.ts';
import type { Signals } from '../../database/signals/signals.ts';
import type { ChunkStore } from '../chunks.ts';
import { createHolderWrites } from './holder.ts';
import type { IndexingStore } from './store.ts';
import { createUpkeep } from './upkeep.ts';

export type { AlsoInTransaction, IndexFailure, IndexingStore, IndexLease, ItemLeft, OwnedId } from './store.ts';

export function createIndexingStore(db: Database, signals: Signals, chunks: ChunkStore): IndexingStore {
  const announce = (dataSourceId: string) => signals.publish('data-source-changed', dataSourceId);
  return { ...createHolderWrites(db, chunks, announce), ...createUpkeep(db, chunks, announce) };
}
