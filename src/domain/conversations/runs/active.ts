import type { Run } from '../../../entities/conversations/runs/run.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { isAdministrator } from '../../ground/access/access.ts';
import { readRuns } from './runs.ts';

const runsMax = 500;

/** The organization's active runs, newest first. Administrators see all, others their own. Cost: one statement. */
export async function listActiveRuns(deps: Deps, caller: Caller): Promise<readonly Run[]> {
  const userId = isAdministrator(caller, caller.orgId) ? undefined : caller.userId;
  const runs = await deps.storage.conversations.runs.listActive(caller.orgId, userId, runsMax);
  readRuns(deps, caller, runs);
  return runs;
}
