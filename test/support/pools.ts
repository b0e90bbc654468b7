import { Pools } from '../../src/engine/sharing/pools.ts';
import type { ShareOwner } from '../../src/lib/fair-share.ts';

/** Pools with the shares of the default settings. */
export function testPools(): Pools {
  return new Pools({ tenantPercent: 90, organizationPercent: 90 });
}

/** An organization in a tenant of its own. */
export const someOwner: ShareOwner = { tenantId: 'ten_some', orgId: 'org_some' };
