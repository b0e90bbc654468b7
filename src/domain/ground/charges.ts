import type { Charge } from '../../engine/plan/plan.ts';
import type { Caller } from '../../entities/people/caller.ts';

/** The organization, user and key that a run is charged to. */
export function chargeTo(
  { tenantId, orgId, userId, keyId }: Caller,
  { agentId, runId }: Pick<Charge, 'agentId' | 'runId'>,
): Charge {
  return { tenantId, orgId, userId, keyId, agentId, runId };
}
