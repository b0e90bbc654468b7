import type { RunFigures, RunGrouping, RunStatistics } from '../../../entities/conversations/runs/history.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { VersionFigures } from '../../../storage/conversations/runs/version-figures.ts';
import { versionedAgent } from '../../agents/versions/publish.ts';
import type { Deps } from '../../deps.ts';
import { isAdministrator } from '../../ground/access/access.ts';
import { loadNarrowing, loadReach, type RunFilterInput } from './history.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const daysDefault = 30;
const daysMax = 92;
/** So that there are at most a hundred hours. */
const hourDaysMax = 4;
const groupsMax = 100;
/** More runs are not counted: the statement reads each of them, and the embedded database serves nobody else meanwhile. */
const rowsMax = { server: 1_000_000, embedded: 200_000 };

/**
 * What the runs that the caller sees took and cost, in all and in groups, over the last 30 days unless the filter says otherwise: by hour, over the
 * last one.
 *
 * @throws DomainError INVALID_VALUE for more than 92 days, or more than four by hour; and as `listRuns`.
 *
 * Cost: one statement, which reads the rows of these runs, of the newest million at most, on the embedded database of the newest 200,000; one more for callers who are no administrators.
 */
export async function getRunStatistics(
  deps: Deps,
  caller: Caller,
  input: RunFilterInput,
  by: RunGrouping,
): Promise<RunStatistics> {
  const { since, until } = toSpan(deps.now(), input, by);
  const reach = await loadReach(deps, caller);
  const query = { ...(await loadNarrowing(deps, caller, reach, { ...input, since, until })), since, until };
  const most = rowsMax[deps.storage.db.kind];
  const { total, groups } = await deps.storage.conversations.runHistory.statistics(reach, query, by, {
    rowsMax: most,
    groupsMax,
  });
  return { since, until, by, total, groups: groups.slice(0, groupsMax), isComplete: total.runCount < most };
}

/**
 * What the runs of agents took and cost in the last days, without percentiles, in the order of `agents`: for members of an agent that show its use.
 * Only runs of people of the agent's organization count; null for an agent whose runs the caller may not all see.
 *
 * Cost: one statement for all agents.
 */
export async function agentRunFigures(
  deps: Deps,
  caller: Caller,
  agents: readonly { readonly id: string; readonly orgId: string; readonly canEdit: boolean }[],
  days = daysDefault,
): Promise<readonly (RunFigures | null)[]> {
  const maySee = agents.filter(({ orgId, canEdit }) => canEdit || isAdministrator(caller, orgId));
  const until = deps.now();
  const since = new Date(until.getTime() - days * dayMs);
  const sums = await deps.storage.conversations.runHistory.sumsOfAgents(maySee, since, until);
  return agents.map((agent) => (maySee.includes(agent) ? (sums.get(agent.id) ?? noFigures) : null));
}

/**
 * What the runs of an agent took and cost by its versions, the newest first, over the last 30 days unless a span is named; of runs in its organization, of
 * the newest million at most, on the embedded database of the newest 200,000.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for who may not edit the agent; INVALID_VALUE for more than 92 days.
 *
 * Cost: one statement, which reads the rows of these runs.
 */
export async function getVersionFigures(
  deps: Deps,
  caller: Caller,
  agentId: string,
  span: Pick<RunFilterInput, 'since' | 'until'>,
): Promise<readonly VersionFigures[]> {
  const agent = await versionedAgent(deps, caller, agentId);
  const { id, orgId } = agent;
  deps.audit.read(caller, 'agent', [agent]);
  const { since, until } = toSpan(deps.now(), span, 'DAY');
  return deps.storage.conversations.runHistory.sumsOfVersions(
    { agentId: id, orgId, since, until },
    rowsMax[deps.storage.db.kind],
  );
}

const noFigures: RunFigures = {
  ...{ runCount: 0, completedCount: 0, failedCount: 0, incompleteCount: 0, cancelledCount: 0, activeCount: 0 },
  ...{
    firstTokenMs: null,
    durationMs: null,
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  },
  ...{ cost: 0, unpricedCount: 0, ratedUp: 0, ratedDown: 0, nothingFoundCount: 0 },
};

function toSpan(now: Date, { since, until }: RunFilterInput, by: RunGrouping): { readonly since: Date; readonly until: Date } {
  const isHourly = by === 'HOUR';
  const end = until ?? now;
  const begin = since ?? new Date(end.getTime() - (isHourly ? 1 : daysDefault) * dayMs);
  const most = isHourly ? hourDaysMax : daysMax;
  if (end.getTime() - begin.getTime() > most * dayMs) {
    throw new DomainError('INVALID_VALUE', `Statistics${isHourly ? ' by hour' : ''} span at most ${most} days`, {
      param: 'since',
    });
  }
  return { since: begin, until: end };
}
