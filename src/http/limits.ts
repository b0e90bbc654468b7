import type { AdmissionPool, Pools } from '../engine/sharing/pools.ts';
import type { Settings } from '../settings.ts';
import { FailedKeys } from './authenticate/failed-keys.ts';
import { RequestTurns } from './request-turns.ts';

/** Requests of one organization that may wait for their turn; more answer 429. */
const waitingMax = 1_000;
/** A request that has waited this long for its turn is answered 503. */
const waitTimeoutMs = 15_000;
/** WebSockets of the responses API that one organization may have open at this process; more answer 429. */
const organizationSocketsMax = 400;
/** Those that one person may have open of them, by all keys together. */
const personSocketsMax = 200;

/** What requests share in this process, whichever API they use. */
export interface Admissions {
  /** Requests that hold a run. */
  readonly runs: AdmissionPool;
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
    runs: pools.admission('runs', { max: settings.RUNS_ACTIVE_MAX, what: 'concurrent runs' }),
    uploads: pools.admission('uploads', { max: settings.UPLOADS_ACTIVE_MAX, what: 'uploads at one time' }),
    subscriptions: pools.admission('subscriptions', {
      max: settings.SUBSCRIPTIONS_MAX,
      what: 'open subscriptions',
      organizationMax: settings.SUBSCRIPTIONS_PER_ORGANIZATION_MAX,
      personMax: settings.SUBSCRIPTIONS_PER_PERSON_MAX,
    }),
    sockets: pools.admission('sockets', {
      max: settings.SOCKETS_MAX,
      what: 'open WebSockets',
      organizationMax: organizationSocketsMax,
      personMax: personSocketsMax,
    }),
    requests: new RequestTurns(pools.queue('requests', settings.REQUESTS_ACTIVE_MAX), {
      waitingMax,
      timeoutMs: waitTimeoutMs,
    }),
    failedKeys: new FailedKeys({
      perMinute: settings.RATE_LIMIT_FAILED_KEYS_PER_MINUTE_ADDRESS,
      proxyHops: settings.TRUSTED_PROXY_HOPS,
    }),
  };
}
