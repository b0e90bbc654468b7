import type { Charge } from '../../engine/plan/plan.ts';
import type { Caller } from '../../entities/accounts/caller.ts';

/** A user with the rights of a plain member of the organization: whoever asked, a run never administers. */
export function memberOf({ keyId, userId, orgId, tenantId }: Pick<Charge, 'keyId' | 'userId' | 'orgId' | 'tenantId'>): Caller {
  return { keyId: keyId ?? '', userId, orgId, tenantId, level: 'ORGANIZATION', role: 'MEMBER', scopes: new Set() };
}
