import { areOnDemand } from '../../../engine/tools/skills/skills.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { skillFunction } from '../../../entities/agents/skill-offer.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { askFunctionNames } from './subagents.ts';

/** A function of a request, with the place of its name there. */
export type NamedFunction = readonly [name: string, param: string];

/**
 * Refuses functions of a request that are named like anything of the run which is known before it: a tool or server of the agent, a function of a
 * tool that the agent enables, an agent that may be asked, `use_skill`. What an MCP server lists is known in the run only: it gets `_2` there.
 *
 * @param serviceTools  of the request; their own names are checked where they are read, except those of agents to ask.
 * @throws DomainError TOOL_NAME_CONFLICT, thrown or rejected.
 *
 * Cost: no promise and no statement, except where agents may be asked that are not cached.
 */
export function requireFreeNames(
  deps: Deps,
  caller: Caller,
  functions: readonly NamedFunction[],
  agent: RunnableAgent | undefined,
  serviceTools: readonly EnabledTool[],
): undefined | Promise<undefined> {
  if (functions.length === 0) return undefined;
  requireNone(functions, agent === undefined ? [] : namesOf(deps, agent));
  const asked = askFunctionNames(deps, caller, [...serviceTools, ...(agent?.enabledTools ?? [])]);
  if (asked instanceof Promise) return asked.then((names) => requireNone(functions, names));
  return requireNone(functions, asked);
}

/** The functions among the tools of a chat or a completion. */
export function functionsAmong(
  tools: readonly { readonly function?: { readonly name: string } | null | undefined }[],
): readonly NamedFunction[] {
  return tools.flatMap(({ function: own }, index): readonly NamedFunction[] =>
    own === undefined || own === null ? [] : [[own.name, `tools[${index}].function.name`]],
  );
}

function namesOf({ tools: registry }: Deps, agent: RunnableAgent): readonly string[] {
  const own = agent.tools.map(({ name }) => name);
  const enabled = agent.enabledTools.flatMap((tool) => registry.namesOf(tool));
  return [...own, ...enabled, ...(areOnDemand(agent) ? [skillFunction] : [])];
}

function requireNone(functions: readonly NamedFunction[], names: readonly string[]): undefined {
  const taken = new Set(names);
  const clash = functions.find(([name]) => taken.has(name));
  if (clash === undefined) return undefined;
  const [name, param] = clash;
  throw new DomainError('TOOL_NAME_CONFLICT', `${param}: the run has a tool of the name ${name.slice(0, 100)}`, { param });
}
