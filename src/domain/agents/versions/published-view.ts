import type { AgentView } from '../../../entities/agents/agent.ts';
import type { AgentPart, AgentPartKind, AgentParts } from '../../../entities/agents/part.ts';
import { type AgentContent, contentMembers } from '../../../entities/agents/version.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent } from '../../ground/access/access.ts';

type ViewDeps = Pick<Deps, 'storage'>;

/**
 * Agents as the caller sees them: who may not edit an agent sees what people get, not its draft.
 *
 * Cost: nothing while no draft differs, else one statement.
 */
export async function withPublished(
  { storage }: ViewDeps,
  caller: Caller,
  agents: readonly AgentView[],
): Promise<readonly AgentView[]> {
  const ids = agents.filter(({ isDraftChanged }) => isDraftChanged).map(({ id }) => id);
  if (ids.length === 0) return agents;
  const published = await storage.agents.versions.findPublished(ids);
  return agents.map((agent) => {
    const held = published.get(agent.id);
    if (held === undefined || canEditAgent(caller, { ...agent, editorIds: held.editorIds })) return agent;
    return withContent(agent, held.content);
  });
}

/** An agent with the texts, model and options of a version. */
export function withContent(agent: AgentView, content: AgentContent): AgentView {
  return { ...agent, ...Object.fromEntries(contentMembers.map((member) => [member, content[member]])) };
}

/** The kinds of parts that versions hold. */
type HeldKind = Exclude<AgentPartKind, 'secrets'>;
const heldKinds: ReadonlySet<string> = new Set<HeldKind>(['tools', 'userInputs', 'skills', 'flows']);

/**
 * The parts of agents as people get them, of those agents whose draft differs and that the caller may not edit, by the ids of the agents. Others are
 * missing: their parts are read from the draft.
 *
 * Cost: nothing while no draft differs, else one statement.
 */
export async function findPublishedParts(
  { storage }: ViewDeps,
  caller: Caller,
  agents: readonly AgentView[],
): Promise<ReadonlyMap<string, Omit<AgentParts, 'secrets'>>> {
  const ids = agents.filter((agent) => agent.isDraftChanged && !canEditAgent(caller, agent)).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const published = await storage.agents.versions.findPublished([...new Set(ids)]);
  return new Map([...published].map(([id, { content }]) => [id, partsOfContent(id, content)]));
}

/** The parts of an agent that the caller may not edit and whose draft differs; undefined where the draft counts. */
export async function findPublishedKind<Kind extends AgentPartKind>(
  deps: ViewDeps,
  caller: Caller,
  agent: AgentView,
  kind: Kind,
): Promise<readonly AgentParts[Kind][number][] | undefined> {
  if (!heldKinds.has(kind)) return undefined;
  const parts = (await findPublishedParts(deps, caller, [agent])).get(agent.id);
  return parts?.[kind as HeldKind] as readonly AgentParts[Kind][number][] | undefined;
}

export function partsOfContent(agentId: string, { tools, userInputs, skills, flows }: AgentContent): Omit<AgentParts, 'secrets'> {
  const toPart = <Part extends { readonly createdAt: string }>(
    part: Part,
  ): Omit<Part, 'createdAt'> & Pick<AgentPart, 'agentId' | 'createdAt' | 'updatedAt'> => {
    const createdAt = new Date(part.createdAt);
    return { ...part, agentId, createdAt, updatedAt: createdAt };
  };
  return {
    tools: tools.map(toPart),
    userInputs: userInputs.map(toPart),
    skills: skills.map(toPart),
    flows: flows.map(toPart),
  };
}
