import type { AgentView } from '../../../entities/agents/agent.ts';
import type { AgentPart, AgentPartKind, AgentParts, AgentSecret, PartView } from '../../../entities/agents/part.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent } from '../../ground/access/access.ts';
import { flowOperations } from '../flows.ts';
import { skillOperations } from '../skills.ts';
import { toolOperations } from '../tools.ts';
import { userInputOperations } from '../user-inputs.ts';

/** An agent that the caller sees, and the kind of its parts that is read. */
export interface WantedParts {
  readonly agent: AgentView;
  readonly kind: AgentPartKind;
}

/** The parts of an agent as the caller sees them; empty lists of kinds that were not read. */
export type AgentPartLists = {
  readonly [Kind in Exclude<AgentPartKind, 'secrets'>]: readonly PartView<AgentParts[Kind][number]>[];
} & {
  /** Null when the caller may not edit the agent. */
  readonly secrets: readonly AgentSecret[] | null;
};

/**
 * Reads the parts of agents, of those kinds that are wanted. Of the agents it reads the members that decide who may edit them.
 *
 * @returns the lists of the agent of each wanted thing.
 * @throws DomainError REPLY_TOO_LARGE
 *
 * Cost: one statement.
 */
export async function partsOfAgents(
  { storage }: Deps,
  caller: Caller,
  partRequests: readonly WantedParts[],
): Promise<readonly AgentPartLists[]> {
  const readable = partRequests.filter(({ agent, kind }) => kind !== 'secrets' || canEditAgent(caller, agent));
  const agentIds = Object.entries(Object.groupBy(readable, ({ kind }) => kind)).map(
    ([kind, things]) => [kind, [...new Set(things.map(({ agent }) => agent.id))]] as const,
  );
  const parts = await storage.agents.parts.ofAgents(Object.fromEntries(agentIds));
  const tools = byAgent(parts.tools);
  const userInputs = byAgent(parts.userInputs);
  const skills = byAgent(parts.skills);
  const flows = byAgent(parts.flows);
  const secrets = byAgent(parts.secrets);
  const lists = new Map(
    [...new Set(partRequests.map(({ agent }) => agent))].map((agent) => [
      agent,
      {
        tools: tools(agent).map((tool) => toolOperations.show(caller, agent, tool)),
        userInputs: userInputs(agent).map((input) => userInputOperations.show(caller, agent, input)),
        skills: skills(agent).map((skill) => skillOperations.show(caller, agent, skill)),
        flows: flows(agent).map((flow) => flowOperations.show(caller, agent, flow)),
        secrets: canEditAgent(caller, agent) ? secrets(agent) : null,
      } satisfies AgentPartLists,
    ]),
  );
  return partRequests.map(({ agent }) => lists.get(agent) as AgentPartLists);
}

function byAgent<Part extends AgentPart>(parts: readonly Part[]): (agent: AgentView) => readonly Part[] {
  const lists = Map.groupBy(parts, ({ agentId }) => agentId);
  return ({ id }) => lists.get(id) ?? [];
}
