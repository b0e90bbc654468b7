import type { Logger } from 'pino';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { Settings } from '../../settings.ts';
import type { Transaction } from '../../storage/database/database.ts';
import type { Storage } from '../../storage/storage.ts';
import { recordChange } from './change.ts';
import type { CallOrigin } from './origin.ts';
import { OperationReads, type ReadDeps } from './reads.ts';
import { Refusals } from './refusals.ts';

export interface TrailDeps {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly logger: Logger;
  newId(kind: 'auditEntry'): string;
  now(): Date;
}

/** The audit log. Changes commit with their entry; no call waits for the entries of reads of other people's content, exports and refusals. */
export class AuditTrail {
  readonly refusals: Refusals;
  readonly #reads: ReadDeps;
  readonly #storage: Storage;

  constructor({ settings, storage, logger, newId, now }: TrailDeps) {
    const batch = storage.auditBatch;
    this.refusals = new Refusals({ batch, logger, newId, now, perMinuteMax: settings.AUDIT_REFUSALS_PER_MINUTE_MAX });
    this.#storage = storage;
    this.#reads = { batch, unseen: storage.unseenContent, newId, now };
  }

  /** Makes a change in one transaction with its entry: see `recordChange`. */
  change<T>(caller: Caller, write: (tx: Transaction) => Promise<T>): Promise<T> {
    return recordChange(this.#storage, caller, write);
  }

  /** @param action  the root field: `chat`. */
  reads(caller: Caller, action: string, origin: CallOrigin): OperationReads {
    return new OperationReads(this.#reads, caller, action, origin);
  }

  /** Writes all entries that were noted until now. */
  async flush(): Promise<void> {
    this.refusals.endWindow();
    await this.#reads.batch.flush();
  }
}
