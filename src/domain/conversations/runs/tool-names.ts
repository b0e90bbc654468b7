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
 * @throws DomainError TOOL_NAME_CONFLICT, thrown or rejected.
 *
 * Cost: no promise and no statement, except where agents may be asked that are not cached.
 */
export function requireFreeNames(
  deps: Deps,
  caller: Caller,
  { places, serviceTools }: Pick<RequestTools, 'places' | 'serviceTools'>,
  agent: RunnableAgent | undefined,
): undefined | Promise<undefined> {
  if (places.size === 0) return undefined;
  if (agent !== undefined) requireNone(places, namesOf(deps, agent));
  const asked = askFunctionNames(deps, caller, [...serviceTools, ...(agent?.enabledTools ?? [])]);
  if (asked instanceof Promise) return asked.then((names) => requireNone(places, names));
  return requireNone(places, asked);
}

function namesOf({ tools: registry }: Deps, agent: RunnableAgent): readonly string[] {
  const own = agent.tools.map(({ name }) => name);
  const enabled = agent.enabledTools.flatMap((tool) => registry.namesOf(tool));
  return [...own, ...enabled, ...(areOnDemand(agent) ? [skillFunction] : [])];
}

function requireNone(places: ReadonlyMap<string, string>, names: readonly string[]): undefined {
  for (const name of names) {
    const param = places.get(name);
    if (param === undefined) continue;
    throw new DomainError('TOOL_NAME_CONFLICT', `${param}: the run has a tool of the name ${name.slice(0, 100)}`, { param });
  }
}
