import type { Database } from './database.ts';
import type { Signals } from './signals/signals.ts';

/** What every store works with. */
export abstract class Store {
  // biome-ignore lint/style/useConsistentMemberAccessibility: subclasses read it, which a `#` member does not allow.
  protected readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }
}

/** A store that tells caches and streams, also those of other instances, what it changed. */
export abstract class PublishingStore extends Store {
  // biome-ignore lint/style/useConsistentMemberAccessibility: subclasses read it, which a `#` member does not allow.
  protected readonly signals: Signals;

  constructor(db: Database, signals: Signals) {
    super(db);
    this.signals = signals;
  }
}
