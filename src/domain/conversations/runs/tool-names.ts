import { areOnDemand } from '../../../engine/tools/skills/skills.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { skillFunction } from '../../../entities/agents/skill-offer.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { RequestTools } from '../../agents/tools/read.ts';
import type { Deps } from '../../deps.ts';
import { askFunctionNames } from './subagents.ts';

/**
 * Refuses functions of a request that are named like anything of the run which is known before it: a tool or server of the agent, a function of a
 * tool that the agent enables, an agent that may be asked, `use_skill`. What an MCP server lists is known in the run only: it gets `_2` there.
 *
 * The names of the request's own tools of the service are checked where they are read, except those of agents to ask.
 *
 * @throws DomainError TOOL_NAME_CONFLICT.
 *
 * Cost: no statement, except where agents may be asked that are not cached.
 */
export async function requireFreeNames(
  deps: Deps,
  caller: Caller,
  { places, serviceTools }: Pick<RequestTools, 'places' | 'serviceTools'>,
  agent: RunnableAgent | undefined,
): Promise<void> {
  const names = agent === undefined ? [] : listToolNames(deps, agent);
  const asked = await askFunctionNames(deps, caller, [...serviceTools, ...(agent?.enabledTools ?? [])]);
  for (const name of [...names, ...asked]) {
    const param = places.get(name);
    if (param === undefined) continue;
    throw new DomainError('TOOL_NAME_CONFLICT', `${param}: the run has a tool of the name ${name.slice(0, 100)}`, { param });
  }
}

function listToolNames({ tools: registry }: Deps, agent: RunnableAgent): readonly string[] {
  const own = agent.tools.map(({ name }) => name);
  const toolNames = agent.enabledTools.flatMap((tool) => registry.namesOf(tool));
  return [...own, ...toolNames, ...(areOnDemand(agent) ? [skillFunction] : [])];
}
