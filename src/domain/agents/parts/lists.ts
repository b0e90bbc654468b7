import type { AgentView } from '../../../entities/agents/agent.ts';
import type {
  AgentPart,
  AgentPartKind,
  AgentParts,
  AgentSecret,
  AgentUserInput,
  PartView,
} from '../../../entities/agents/part.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent } from '../../ground/access/access.ts';
import { flowOperations } from '../flows.ts';
import { skillOperations } from '../skills.ts';
import { toolOperations } from '../tools.ts';
import { userInputOperations } from '../user-inputs.ts';
import { findPublishedParts, partsOfContent } from '../versions/published-view.ts';

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
 * Cost: one statement; one more where the draft of an agent differs that the caller may not edit.
 */
export async function partsOfAgents(
  deps: Deps,
  caller: Caller,
  partRequests: readonly WantedParts[],
): Promise<readonly AgentPartLists[]> {
  const readable = partRequests.filter(({ agent, kind }) => kind !== 'secrets' || canEditAgent(caller, agent));
  const agentIds = Object.entries(Object.groupBy(readable, ({ kind }) => kind)).map(
    ([kind, things]) => [kind, [...new Set(things.map(({ agent }) => agent.id))]] as const,
  );
  const parts = await deps.storage.agents.parts.ofAgents(Object.fromEntries(agentIds));
  const published = await findPublishedParts(
    deps,
    caller,
    readable.filter(({ kind }) => kind !== 'secrets').map(({ agent }) => agent),
  );
  const read = <Kind extends 'tools' | 'userInputs' | 'skills' | 'flows'>(kind: Kind) => {
    const drafts = byAgent<AgentParts[Kind][number]>(parts[kind]);
    const isWanted = new Set(readable.filter((one) => one.kind === kind).map(({ agent }) => agent.id));
    return (agent: AgentView): readonly AgentParts[Kind][number][] =>
      (isWanted.has(agent.id) ? published.get(agent.id)?.[kind] : undefined) ?? drafts(agent);
  };
  const [tools, userInputs, skills, flows] = [read('tools'), read('userInputs'), read('skills'), read('flows')];
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

/** The user inputs of agents that their chats ask for, also where the caller may edit a draft that differs. Cost: two statements. */
export async function publishedUserInputs(
  deps: Deps,
  caller: Caller,
  agents: readonly AgentView[],
): Promise<readonly (readonly PartView<AgentUserInput>[])[]> {
  const drafts = await partsOfAgents(
    deps,
    caller,
    agents.map((agent) => ({ agent, kind: 'userInputs' })),
  );
  const changedIds = agents.filter(({ isDraftChanged }) => isDraftChanged).map(({ id }) => id);
  const published = changedIds.length === 0 ? undefined : await deps.storage.agents.versions.findPublished(changedIds);
  return agents.map((agent, index) => {
    const held = published?.get(agent.id);
    if (held === undefined) return drafts[index]?.userInputs ?? [];
    return partsOfContent(agent.id, held.content).userInputs.map((input) => userInputOperations.show(caller, agent, input));
  });
}

function byAgent<Part extends AgentPart>(parts: readonly Part[]): (agent: AgentView) => readonly Part[] {
  const lists = Map.groupBy(parts, ({ agentId }) => agentId);
  return ({ id }) => lists.get(id) ?? [];
}
