import type { Database } from '../../database/database.ts';
import type { Signals } from '../../database/signals/signals.ts';
import { createHolderWrites } from './holder.ts';
import { createSyncRuns } from './runs.ts';
import type { SyncStore } from './store.ts';

export type { SyncedItem, SyncLease, SyncStore } from './store.ts';

export function createSyncStore(db: Database, signals: Signals): SyncStore {
  const announce = (dataSourceId: string) => signals.publish('data-source-changed', dataSourceId);
  return { ...createHolderWrites(db, announce), ...createSyncRuns(db, announce) };
}
