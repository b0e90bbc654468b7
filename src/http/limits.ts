import type { AdmissionPool, Pools } from '../engine/sharing/pools.ts';
import type { Settings } from '../settings.ts';
import { FailedKeys } from './authenticate/failed-keys.ts';
import { RequestTurns } from './request-turns.ts';

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
