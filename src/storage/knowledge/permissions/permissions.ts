import type { GroupMembers, ItemAccess } from '../../../entities/knowledge/permissions.ts';
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { AccessGates } from './gates.ts';
import { writeGroups } from './groups.ts';
import { type PermissionPlace, writeItemAccess } from './rules.ts';

/** A part of what a source says of who may open its items. */
export interface WrittenPermissions {
  readonly items?: readonly ItemAccess[];
  readonly groups?: readonly GroupMembers[];
}

/** Who may open what at MIRRORED sources. */
export class PermissionStore {
  readonly gates: AccessGates;
  readonly #db: Database;
  readonly #signals: Signals;

  constructor(db: Database, signals: Signals, maxAgeMs: number) {
    this.gates = new AccessGates(db, signals, maxAgeMs);
    this.#db = db;
    this.#signals = signals;
  }

  /** Stores a part of the permissions of a source: all of it or nothing. @returns how many items changed. */
  async write(place: PermissionPlace, { items = [], groups = [] }: WrittenPermissions): Promise<number> {
    const changedCount = await this.#db.transaction(async (tx) => {
      await writeGroups(tx, place, groups);
      return writeItemAccess(tx, place, items);
    });
    if (changedCount > 0 || groups.length > 0) this.#signals.publish('permissions-changed', place.dataSourceId);
    return changedCount;
  }
}
