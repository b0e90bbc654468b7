import type { AskingRun } from '../../../engine/tools/agents/agent-rights.ts';
import { type AskableAgent, askFunctionName } from '../../../engine/tools/agents/subagent/ask-tool.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { agentForRun } from '../../agents/agents.ts';
import type { Deps } from '../../deps.ts';
import { askableFor, memberOf } from './agent-rights.ts';

type AgentDeps = Pick<Deps, 'storage' | 'models' | 'now'>;

/** The names of the functions by which some tools `subagent` ask agents that the caller may use; a plain value while the agents are cached. */
export function askFunctionNames(
  deps: AgentDeps,
  caller: Caller,
  tools: readonly EnabledTool[],
): readonly string[] | Promise<readonly string[]> {
  const ids = tools.flatMap(({ type, options: { agents } }) =>
    type === 'subagent' && Array.isArray(agents) ? agents.map(String) : [],
  );
  const found = [...new Set(ids)].map((id) => findFor(deps, memberOf(caller), id));
  const namesOf = (agents: readonly (RunnableAgent | undefined)[]) =>
    agents.flatMap((agent) => (agent === undefined ? [] : [askFunctionName(agent.name)]));
  const known = found.flatMap((one) => (one instanceof Promise ? [] : [one]));
  return known.length === found.length ? namesOf(known) : Promise.all(found).then(namesOf);
}

/**
 * The agents among some ids that the user of a run may use now, each once, in the given order.
 *
 * @param ofAgent  the agent that names them as its standing tool; undefined when the request names them.
 */
export async function askableAgents(
  deps: AgentDeps,
  run: AskingRun,
  agentIds: readonly string[],
  ofAgent: string | undefined,
): Promise<readonly AskableAgent[]> {
  const member = memberOf(run.charge);
  const found = (await Promise.all(agentIds.map((id) => findFor(deps, member, id)))).filter((agent) => agent !== undefined);
  const askable = ofAgent === undefined ? found : await askableFor(deps, run, ofAgent, found);
  return askable.map(({ id, name, description }) => ({ id, name, description }));
}

/** Undefined for an agent that is missing or not the member's. */
export function findFor(
  deps: AgentDeps,
  member: Caller,
  id: string,
): RunnableAgent | undefined | Promise<RunnableAgent | undefined> {
  const missing = (error: unknown) => {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  };
  try {
    const found = agentForRun(deps, member, id);
    return found instanceof Promise ? found.catch(missing) : found;
  } catch (error) {
    return missing(error);
  }
}
