import type { Logger } from 'pino';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { Settings } from '../../settings.ts';
import type { Storage } from '../../storage/storage.ts';
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

/** Records reads of other people's content, exports and refusals. No call waits for these entries. */
export class AuditTrail {
  readonly refusals: Refusals;
  readonly #reads: ReadDeps;

  constructor({ settings, storage, logger, newId, now }: TrailDeps) {
    const batch = storage.auditBatch;
    this.refusals = new Refusals({ batch, logger, newId, now, perMinuteMax: settings.AUDIT_REFUSALS_PER_MINUTE_MAX });
    this.#reads = { batch, unseen: storage.unseenContent, newId, now };
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
