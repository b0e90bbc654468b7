import { agentForRun } from '../domain/agents/agents.ts';
import { visibleDataSources } from '../domain/ground/access/access.ts';
import { performOperation } from '../domain/ground/audit/operation.ts';
import { searchRun } from '../domain/knowledge/search.ts';
import type { Passage } from '../entities/knowledge/citation.ts';
import type { CallContext } from '../http/context.ts';
import type { ListedAgent } from './directory.ts';

export const passagesDefault = 8;
export const passagesMax = 30;
/** The passages together. */
const tokensMax = 16_000;
const sourcesMax = 1_000;

/**
 * Searches the knowledge of agents with the rights of the caller. Of sources that the caller may not read itself, only passages that answers
 * may cite are given.
 *
 * @param agents  of one organization.
 * @throws DomainError INSUFFICIENT_SCOPE, NOT_FOUND.
 */
export async function searchKnowledge(
  context: CallContext,
  agents: readonly ListedAgent[],
  query: string,
  limit: number,
): Promise<readonly Passage[]> {
  const { deps, signal } = context;
  const agentIds = agents.map(({ id }) => id);
  return performOperation(context, 'Query.searchKnowledge', agentIds, async (caller) => {
    const [first] = agents;
    if (first === undefined) return [];
    const loadedAgents = await Promise.all(agentIds.map(async (id) => agentForRun(deps, caller, id)));
    const dataSourceIds = [...new Set(loadedAgents.flatMap((agent) => agent.dataSourceIds))].slice(0, sourcesMax);
    if (dataSourceIds.length === 0) return [];
    const readable = new Set(
      (await deps.storage.knowledge.sources.findMany(dataSourceIds, visibleDataSources(caller))).map(({ id }) => id),
    );
    const run = searchRun(caller, agents.length === 1 ? first.id : null);
    const { passages } = await deps.runs.recorded(run, async (charge, recorder) => {
      const startedMs = performance.now();
      const searchQuestion = { orgId: first.orgId, dataSourceIds, question: query, charge };
      const passageMatches = await deps.knowledge.search(searchQuestion, { passagesMax: limit, tokensMax }, signal);
      recorder.retrieval(query, startedMs, passageMatches, undefined);
      return passageMatches;
    });
    const shownPassages = passages.filter(({ mayCite, dataSourceId }) => mayCite || readable.has(dataSourceId));
    for (const { dataSourceId } of shownPassages) deps.audit.read(caller, 'dataSource', [{ id: dataSourceId }]);
    return shownPassages;
  });
}
