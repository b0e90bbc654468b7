import type { AskingRun } from '../../../engine/tools/agents/agent-rights.ts';
import { type AskableAgent, askFunctionName } from '../../../engine/tools/agents/subagent/ask-tool.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { agentForRun } from '../../agents/agents.ts';
import type { Deps } from '../../deps.ts';
import { askableFor, toMember } from './agent-rights.ts';

type AgentDeps = Pick<Deps, 'storage' | 'models' | 'now'>;

/** The names of the functions by which some tools `subagent` ask agents that the caller may use. */
export async function askFunctionNames(
  deps: AgentDeps,
  caller: Caller,
  tools: readonly EnabledTool[],
): Promise<readonly string[]> {
  const ids = tools.flatMap(({ type, options: { agents } }) =>
    type === 'subagent' && Array.isArray(agents) ? agents.map(String) : [],
  );
  const agents = await Promise.all([...new Set(ids)].map((id) => findFor(deps, toMember(caller), id)));
  return agents.flatMap((agent) => (agent === undefined ? [] : [askFunctionName(agent.name)]));
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
  const member = toMember(run.charge);
  const availableAgents = (await Promise.all(agentIds.map((id) => findFor(deps, member, id)))).filter(
    (agent) => agent !== undefined,
  );
  const askable = ofAgent === undefined ? availableAgents : await askableFor(deps, run, ofAgent, availableAgents);
  return askable.map(({ id, name, description }) => ({ id, name, description }));
}

/** Undefined for an agent that is missing or not the member's. */
export async function findFor(deps: AgentDeps, member: Caller, id: string): Promise<RunnableAgent | undefined> {
  try {
    return await agentForRun(deps, member, id);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}
