import type { Database } from '../../database/database.ts';
import type { Signals } from '../../database/signals/signals.ts';
import type { SyncStore } from './lease.ts';
import { createRunWrites } from './run-writes.ts';
import { createSyncUpkeep } from './upkeep.ts';

export type { SyncedItem, SyncLease, SyncStore } from './lease.ts';

export function createSyncStore(db: Database, signals: Signals): SyncStore {
  const announce = (dataSourceId: string) => signals.publish('data-source-changed', dataSourceId);
  return { ...createRunWrites(db, announce), ...createSyncUpkeep(db, announce) };
}
