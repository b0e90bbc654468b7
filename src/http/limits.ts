import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AdmissionPool, Pools } from '../engine/sharing/pools.ts';
import type { PublicError } from '../entities/errors.ts';
import type { ShareOwner, ShareRefusal } from '../lib/fair-share.ts';
import type { Settings } from '../settings.ts';
import { FailedKeys } from './authenticate/failed-keys.ts';
import { type MadeError, makeError } from './errors.ts';
import { sendJson } from './reply/reply.ts';
import { RequestTurns } from './request-turns.ts';

/** What requests share in this process, whatever API they come by. */
export interface Admissions {
  readonly runs: RunAdmission;
  /** Files being received. */
  readonly uploads: AdmissionPool;
  /** GraphQL subscriptions without a run, and reserved event streams. */
  readonly subscriptions: AdmissionPool;
  readonly sockets: AdmissionPool;
  readonly requests: RequestTurns;
  readonly failedKeys: FailedKeys;
}

/** Makes the pools of requests; once for a process. */
export function createAdmissions(pools: Pools, settings: Settings): Admissions {
  return {
    runs: new RunAdmission(pools.admission('runs', { max: settings.RUNS_ACTIVE_MAX, what: 'concurrent runs' })),
    uploads: pools.admission('uploads', { max: settings.UPLOADS_ACTIVE_MAX, what: 'uploads at one time' }),
    subscriptions: pools.admission('subscriptions', {
      max: settings.SUBSCRIPTIONS_MAX,
      what: 'open subscriptions',
      organizationMax: settings.SUBSCRIPTIONS_PER_ORGANIZATION_MAX,
    }),
    sockets: pools.admission('sockets', {
      max: settings.SOCKETS_MAX,
      what: 'open WebSockets',
      organizationMax: settings.SOCKETS_PER_ORGANIZATION_MAX,
    }),
    requests: new RequestTurns(pools.queue('requests', settings.REQUESTS_ACTIVE_MAX), {
      waitingMax: settings.REQUESTS_WAITING_MAX,
      timeoutMs: settings.REQUEST_WAIT_TIMEOUT_MS,
    }),
    failedKeys: new FailedKeys({
      perMinute: settings.RATE_LIMIT_FAILED_KEYS_PER_MINUTE_ADDRESS,
      proxyHops: settings.TRUSTED_PROXY_HOPS,
    }),
  };
}

/** Refusals that were made before anybody is refused. */
export type MadeRefusals = Readonly<Record<ShareRefusal, MadeError>>;

/** Admission of requests that hold a run: so many at one time in this process, shared by tenant and organization. */
export class RunAdmission {
  readonly #pool: AdmissionPool;

  constructor(pool: AdmissionPool) {
    this.#pool = pool;
  }

  get activeCount(): number {
    return this.#pool.share.count;
  }

  /** @param form  how the callers of a row have their errors, where that is another way. */
  makeRefusals(form?: (shown: PublicError) => PublicError): MadeRefusals {
    const made = (refusal: ShareRefusal) => makeError(this.#pool.errorOf(refusal), form);
    return { full: made('full'), tenant: made('tenant'), organization: made('organization') };
  }

  /**
   * Answers a request as `enter` would have it refused, before anything of its body is read. What may have been answered before, which the
   * header idempotency-key asks for, is looked up all the same.
   *
   * @returns false while there is a place for its organization.
   */
  isRefused(req: IncomingMessage, res: ServerResponse, owner: ShareOwner, requestId: string, made: MadeRefusals): boolean {
    if (req.headers['idempotency-key'] !== undefined) return false;
    const refusal = this.#pool.refusal(owner);
    if (refusal === undefined) return false;
    const { status, text, headers } = made[refusal];
    sendJson(res, status, text, requestId, headers);
    return true;
  }

  /**
   * Counts one run in; `leave` counts it out.
   *
   * @throws DomainError OVERLOADED when the process is full, RATE_LIMIT_EXCEEDED when the organization or its tenant has its share.
   */
  enter(owner: ShareOwner): void {
    this.#pool.enter(owner);
  }

  leave(owner: ShareOwner): void {
    this.#pool.leave(owner);
  }
}
