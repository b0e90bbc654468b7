import { pino } from 'pino';
import { Pools } from '../../../src/engine/sharing/pools.ts';
import { RateLimits } from '../../../src/engine/sharing/rate-limits.ts';
import type { UsageLimits } from '../../../src/engine/usage/limits.ts';
import type { ShareOwner } from '../../../src/lib/flow/fair-share.ts';

/** Pools with the shares of the default settings. */
export function testPools(): Pools {
  return new Pools({ tenantPercent: 90, organizationPercent: 90 });
}

/** No budget counts what is asked. */
export const noBudgets = { left: () => [] } as Partial<UsageLimits> as UsageLimits;

/** Limits that no test reaches. */
export function testRates(): RateLimits {
  const logger = pino({ level: 'silent' });
  return new RateLimits({
    keyPerMinute: 600_000,
    organizationPerMinute: 1_200_000,
    store: undefined,
    instances: () => 1,
    logger,
  });
}

/** The shared places of calls to other hosts and of name look-ups. */
export function egressPlaces(lookupsMax: number, callsMax: number) {
  const pools = testPools();
  return {
    lookups: pools.queue('egress-lookups', lookupsMax, { organizationMax: Math.ceil(lookupsMax / 8) }),
    calls: pools.queue('egress-calls', callsMax, { organizationMax: Math.ceil(callsMax / 4) }),
  };
}

/** An organization in a tenant of its own. */
export const someOwner: ShareOwner = { tenantId: 'ten_some', orgId: 'org_some' };
