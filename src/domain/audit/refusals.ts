import type { Logger } from 'pino';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { DomainError } from '../../entities/errors.ts';
import type { AuditBatch } from '../../storage/audit/batch.ts';
import type { NewAuditEntry } from '../../storage/audit/entries.ts';
import type { CallOrigin } from './origin.ts';
import { targets } from './targets.ts';

export interface RefusalDeps {
  readonly batch: AuditBatch;
  readonly logger: Logger;
  /** Refusals of one key in a minute that are an entry each. */
  readonly perMinuteMax: number;
  newId(kind: 'auditEntry'): string;
  now(): Date;
}

interface Spent {
  entries: number;
  surplus: number;
  /** Of the last refusal that got no entry of its own. */
  last: NewAuditEntry | undefined;
}

/** An organization can make more keys; more than the entries of so many keys it does not get. */
const keysPerOrganization = 10;
const windowMs = 60_000;

/**
 * Writes refusals into the audit log, bounded: whoever is refused again and again does not fill it. What is over the limit of a key or of its
 * organization is one entry at the end of the minute, with a count. Calls without a good key belong to nobody: they are counted, and the log
 * of the process tells the count once a minute.
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

  /** @param ids  what the call named. */
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
    const spent = this.#byKey.get(keyId) ?? { entries: 0, surplus: 0, last: undefined };
    this.#byKey.set(keyId, spent);
    const ofOrganization = this.#byOrganization.get(orgId) ?? 0;
    if (spent.entries < perMinuteMax && ofOrganization < perMinuteMax * keysPerOrganization) {
      spent.entries += 1;
      this.#byOrganization.set(orgId, ofOrganization + 1);
      batch.add(async () => [entry]);
    } else {
      spent.surplus += 1;
      spent.last = entry;
    }
  }

  /** A call without a good key. */
  noteWithoutKey(): void {
    this.#begin();
    this.#withoutKey += 1;
  }

  /** Ends the minute: what was over the limits becomes one entry a key. */
  endWindow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const sums = new Map<string, NewAuditEntry>();
    const keysOf = new Map<string, number>();
    for (const { surplus, last } of this.#byKey.values()) {
      if (last === undefined) continue;
      const keys = keysOf.get(last.orgId) ?? 0;
      keysOf.set(last.orgId, keys + 1);
      // An organization with more keys gets one entry for all further ones.
      const place = keys < keysPerOrganization ? last.actorKeyId : last.orgId;
      sums.set(place, { ...last, count: surplus + (sums.get(place)?.count ?? 0) });
    }
    for (const entry of sums.values()) this.#deps.batch.add(async () => [entry]);
    if (this.#withoutKey > 0) {
      this.#deps.logger.warn({ count: this.#withoutKey }, 'calls without a good API key were refused in the last minute');
    }
    this.#byKey = new Map();
    this.#byOrganization = new Map();
    this.#withoutKey = 0;
  }

  #begin(): void {
    this.#timer ??= setTimeout(() => this.endWindow(), windowMs).unref();
  }
}
