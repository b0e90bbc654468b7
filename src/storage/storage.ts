import type { AccountStore } from './accounts.ts';
import type { ApiKeyStore } from './api-keys.ts';
import type { Blobs } from './blobs.ts';
import type { Database } from './database.ts';
import type { Signals } from './signals.ts';

/** Everything that is kept. One store for each feature, each in the file of its noun; every feature adds its own here. */
export interface Storage {
  readonly db: Database;
  readonly blobs: Blobs;
  readonly signals: Signals;
  readonly accounts: AccountStore;
  readonly apiKeys: ApiKeyStore;
  close(): Promise<void>;
}
