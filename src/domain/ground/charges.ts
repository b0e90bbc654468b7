import type { Charge } from '../../engine/plan/plan.ts';
import type { Caller } from '../../entities/people/caller.ts';

/** The organization, user and key that a run is charged to, and the agent that answers. */
export function chargeTo(
  { tenantId, orgId, userId, keyId }: Caller,
  { agentId, agentVersion = null, runId }: Pick<Charge, 'agentId' | 'agentVersion' | 'runId'>,
): Charge {
  return { tenantId, orgId, userId, keyId, agentId, agentVersion, runId };
}
