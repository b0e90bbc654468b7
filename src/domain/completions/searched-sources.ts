import type { Caller } from '../../entities/accounts/caller.ts';
import type { RunnableAgent } from '../../entities/agents/agent.ts';
import { DomainError } from '../../entities/errors.ts';
import type { EnabledTool } from '../../entities/runs/tool.ts';
import type { Deps } from '../deps.ts';
import { Faults } from '../faults.ts';
import { getVectorStore } from '../knowledge/vector-stores/stores.ts';

type Settled = RunnableAgent | undefined;

/**
 * Makes sure that what `file_search` of a request names may be searched by the caller, before a run begins.
 *
 * @param given  the tools of the request.
 * @returns the agent; its standing tools are without vector stores that the caller may not read.
 * @throws DomainError INVALID_VALUE for a data source that is none of the agent's, for a vector store that the caller may not read, and for a model
 * without anything to search.
 *
 * Cost: no promise unless a tool names vector stores; then a statement for each.
 */
export function settleSearchedSources(
  deps: Deps,
  caller: Caller,
  given: readonly EnabledTool[],
  agent: Settled,
): Settled | Promise<Settled> {
  const faults = new Faults();
  const asked = given.filter(({ type }) => type === 'file_search');
  for (const tool of asked) {
    const stores = textsOf(tool, 'vector_store_ids');
    const sources = textsOf(tool, 'data_source_ids');
    for (const id of sources) {
      if (agent?.dataSourceIds.includes(id) !== true)
        faults.add('tools', `file_search: there is no data source ${shown(id)} of this agent`);
    }
    if (agent === undefined && stores.length === 0 && sources.length === 0) {
      const message = 'file_search needs vector_store_ids here: a model has no knowledge of its own';
      faults.add('tools', message, 'MISSING_REQUIRED_PARAMETER');
    }
  }
  faults.throwIfAny();
  const named = asked.flatMap((tool) => textsOf(tool, 'vector_store_ids'));
  const standing = agent?.enabledTools ?? [];
  const isStanding = standing.some((tool) => tool.type === 'file_search' && textsOf(tool, 'vector_store_ids').length > 0);
  if (named.length === 0 && !isStanding) return agent;
  return settle(deps, caller, named, agent);
}

async function settle(deps: Deps, caller: Caller, named: readonly string[], agent: Settled): Promise<Settled> {
  const faults = new Faults();
  for (const id of new Set(named)) {
    if (!(await mayRead(deps, caller, id))) faults.add('tools', `file_search: there is no vector store ${shown(id)}`);
  }
  faults.throwIfAny();
  if (agent?.enabledTools === undefined) return agent;
  const enabledTools: EnabledTool[] = [];
  for (const tool of agent.enabledTools) {
    const stores = tool.type === 'file_search' ? textsOf(tool, 'vector_store_ids') : [];
    const readable: string[] = [];
    for (const id of stores) if (await mayRead(deps, caller, id)) readable.push(id);
    // An id of nothing stays: without any, all knowledge of the agent would be searched.
    const left = readable.length === 0 ? ['none'] : readable;
    enabledTools.push(stores.length === 0 ? tool : { ...tool, options: { ...tool.options, vector_store_ids: left } });
  }
  return { ...agent, enabledTools };
}

async function mayRead(deps: Deps, caller: Caller, id: string): Promise<boolean> {
  try {
    await getVectorStore(deps, caller, id);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}

function textsOf({ options }: EnabledTool, name: string): readonly string[] {
  const given = options[name];
  return Array.isArray(given) ? given.map(String) : [];
}

function shown(id: string): string {
  return JSON.stringify(id.slice(0, 64));
}
