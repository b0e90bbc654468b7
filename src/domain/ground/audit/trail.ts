import type { Logger } from 'pino';
import type { AuditedRequest } from '../../../entities/operations/audit.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Settings } from '../../../settings.ts';
import type { Transaction } from '../../../storage/ground/database.ts';
import type { PlacedThing } from '../../../storage/operations/audit/unseen-content.ts';
import type { Storage } from '../../../storage/storage.ts';
import { type ChangeOfService, recordChange, recordChangeOfService } from './change.ts';
import { type ContentNoun, type ReadDeps, RequestReads, type ShownThing } from './reads.ts';
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
  readonly #ofService: Pick<TrailDeps, 'storage' | 'newId' | 'now'>;
  readonly #readsOfRequests = new WeakMap<AuditedRequest, RequestReads>();

  constructor({ settings, storage, logger, newId, now }: TrailDeps) {
    const batch = storage.operations.auditBatch;
    this.refusals = new Refusals({ batch, logger, newId, now, perMinuteMax: settings.AUDIT_REFUSALS_PER_MINUTE_MAX });
    this.#storage = storage;
    this.#ofService = { storage, newId, now };
    this.#reads = { batch, unseen: storage.operations.unseenContent, newId, now };
  }

  /** Makes a change in one transaction with its entry: see `recordChange`. */
  change<T>(caller: Caller, write: (tx: Transaction) => Promise<T>): Promise<T> {
    return recordChange(this.#storage, caller, write);
  }

  /** The same for a change that the service makes by itself: see `recordChangeOfService`. */
  changeOfService(change: ChangeOfService, write: (tx: Transaction) => Promise<boolean>): Promise<boolean> {
    return recordChangeOfService(this.#ofService, change, write);
  }

  /**
   * Notes what the caller is shown of people's content, after access was decided: what a plain member would not have seen becomes an entry of the
   * request. What a mutation works with is in the entry of its change. For other callers the cost is one comparison.
   */
  read(caller: Caller, noun: ContentNoun, things: readonly ShownThing[]): void {
    if (caller.request === undefined || caller.call !== undefined) return;
    this.#readsOf(caller, caller.request).note(noun, things);
  }

  /** Notes that the caller gets a copy of a thing, which is an entry whoever the caller is. */
  export(caller: Caller, thing: PlacedThing): void {
    if (caller.request !== undefined) this.#readsOf(caller, caller.request).noteExport(thing);
  }

  /** Notes that an administrator asked what a person can see, of which there is an entry whatever a plain member would have seen. */
  lookUp(caller: Caller, things: readonly PlacedThing[]): void {
    for (const thing of things) this.export(caller, thing);
  }

  /** Writes all entries that were noted until now. */
  async flush(): Promise<void> {
    this.refusals.endWindow();
    await this.#reads.batch.flush();
  }

  #readsOf(caller: Caller, request: AuditedRequest): RequestReads {
    const requestReads = this.#readsOfRequests.get(request) ?? new RequestReads(this.#reads, caller, request);
    this.#readsOfRequests.set(request, requestReads);
    return requestReads;
  }
}
