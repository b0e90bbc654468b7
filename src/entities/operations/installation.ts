/** What an operator sees of a whole installation. */

export const healthStates = ['ready', 'degraded', 'unavailable'] as const;

/** Whether the service can serve. `degraded`: it serves, and something works in a slower way. `unavailable`: balancers send no requests. */
export type Health =
  | { readonly state: 'ready' | 'degraded'; readonly problems: readonly string[] }
  | {
      readonly state: 'unavailable';
      /** For programs. */
      readonly reason: 'database' | 'storage_full' | 'signals';
      /** Sentences for people. */
      readonly problems: readonly string[];
    };

export const databaseKinds = ['embedded', 'postgresql'] as const;
export interface DatabaseFacts {
  readonly kind: (typeof databaseKinds)[number];
  /** Of PostgreSQL. */
  readonly version: string;
  readonly sizeBytes: number;
  /** The name of the newest migration. */
  readonly migration: string;
}

export const storageKinds = ['folder', 's3'] as const;
export interface FileStorageFacts {
  readonly kind: (typeof storageKinds)[number];
  /** Of the disk of the folder; null for a bucket. */
  readonly freeBytes: number | null;
  readonly diskBytes: number | null;
}
