import type { Charge } from '../../engine/runs/run-engine.ts';
import type { Caller } from '../../entities/accounts/caller.ts';

/** Whom a run of this caller is charged to, and counted for. */
export function chargeTo(
  { tenantId, orgId, userId, keyId }: Caller,
  { agentId, runId }: Pick<Charge, 'agentId' | 'runId'>,
): Charge {
  return { tenantId, orgId, userId, keyId, agentId, runId };
}
