import type { Logger } from 'pino';
import type { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { AuditBatch } from '../../../storage/operations/audit/batch.ts';
import type { NewAuditEntry } from '../../../storage/operations/audit/entries.ts';
import type { CallOrigin } from './origin.ts';
import { targets } from './targets.ts';

export interface RefusalDeps {
  readonly batch: AuditBatch;
  readonly logger: Logger;
  /** Refusals of one key in a minute that get an entry each. */
  readonly perMinuteMax: number;
  newId(kind: 'auditEntry'): string;
  now(): Date;
}

interface Spent {
  entries: number;
  surplus: number;
  /** The last refusal without an entry of its own. */
  last: NewAuditEntry | undefined;
}

/** An organization gets at most the entries of this many keys, however many keys it makes. */
const keysPerOrganization = 10;
const windowMs = 60_000;

/**
 * Writes refusals into the audit log, with limits: repeated refusals do not fill it. Refusals beyond the limit of a key or of its
 * organization become one entry with a count at the end of the minute. Calls without a valid key belong to no organization: the
 * process log gets their count once a minute.
 */
export class Refusals {
  readonly #deps: RefusalDeps;
  #byKey = new Map<string, Spent>();
  #byOrganization = new Map<string, number>();
  #withoutKey = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: RefusalDeps) {
    this.#deps = deps;
  }

  /** @param ids  the ids in the call's arguments. */
  note(caller: Caller, action: string, error: DomainError, ids: readonly string[], origin: CallOrigin): void {
    this.#begin();
    const { perMinuteMax, batch, newId, now } = this.#deps;
    const { keyId, orgId } = caller;
    const entry: NewAuditEntry = {
      id: newId('auditEntry'),
      createdAt: now(),
      orgId,
      actorUserId: caller.userId,
      actorKeyId: keyId,
      action,
      kind: 'REFUSAL',
      outcome: 'REFUSED',
      count: 1,
      ...targets(ids),
      changes: [{ member: 'code', value: error.code.toLowerCase() }],
      requestId: origin.requestId,
      address: origin.address ?? null,
    };
    const counter = this.#byKey.get(keyId) ?? { entries: 0, surplus: 0, last: undefined };
    this.#byKey.set(keyId, counter);
    const ofOrganization = this.#byOrganization.get(orgId) ?? 0;
    if (counter.entries < perMinuteMax && ofOrganization < perMinuteMax * keysPerOrganization) {
      counter.entries += 1;
      this.#byOrganization.set(orgId, ofOrganization + 1);
      batch.add(async () => [entry]);
    } else {
      counter.surplus += 1;
      counter.last = entry;
    }
  }

  /** A call without a valid key. */
  noteWithoutKey(): void {
    this.#begin();
    this.#withoutKey += 1;
  }

  /** Ends the minute: the surplus of each key becomes one entry. */
  endWindow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const sums = new Map<string, NewAuditEntry>();
    const keysOf = new Map<string, number>();
    for (const { surplus, last } of this.#byKey.values()) {
      if (last === undefined) continue;
      const keys = keysOf.get(last.orgId) ?? 0;
      keysOf.set(last.orgId, keys + 1);
      // An organization with more keys gets one entry for all further keys.
      const place = keys < keysPerOrganization ? last.actorKeyId : last.orgId;
      sums.set(place, { ...last, count: surplus + (sums.get(place)?.count ?? 0) });
    }
    for (const entry of sums.values()) this.#deps.batch.add(async () => [entry]);
    if (this.#withoutKey > 0) {
      this.#deps.logger.warn({ count: this.#withoutKey }, 'calls without a valid API key were refused in the last minute');
    }
    this.#byKey = new Map();
    this.#byOrganization = new Map();
    this.#withoutKey = 0;
  }

  #begin(): void {
    this.#timer ??= setTimeout(() => this.endWindow(), windowMs).unref();
  }
}
