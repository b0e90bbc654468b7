import { agentForRun, findAgents } from '../domain/agents/agents.ts';
import type { Deps } from '../domain/deps.ts';
import type { AgentView } from '../entities/agents/agent.ts';
import type { Caller } from '../entities/people/caller.ts';
import { withPiece } from '../storage/agents/tool-names.ts';

/** An agent as MCP clients see it. */
export interface ListedAgent extends Pick<AgentView, 'id' | 'orgId' | 'name' | 'description'> {
  /** Of its tool and its prompt: `ask_<name>`. */
  readonly toolName: string;
}
type NamedAgent = Omit<ListedAgent, 'toolName'>;

/** Agents of one caller that MCP clients see; the newest ones, and those of the own organization first. */
const agentsMax = 500;
/** With `_` and a piece of the id, a name has at most 64 characters. */
const slugMax = 57;
const members: ReadonlySet<'id' | 'createdAt' | 'orgId' | 'name' | 'description'> = new Set([
  'id',
  'createdAt',
  'orgId',
  'name',
  'description',
]);

/**
 * The agents that the caller may use, the oldest first: those of the organization of the key, and with MCP_PUBLIC_AGENTS those of others, too.
 * The name of an agent stays: of two agents of one name the second has a piece of its id in its name, as all agents of other organizations have.
 *
 * @param only  the id of the one agent that the address names.
 * @throws DomainError NOT_FOUND for an `only` that the caller may not use.
 *
 * Cost: two statements; one more for agents of other organizations, four more when an agent is new or renamed.
 */
export async function listedAgents(deps: Deps, caller: Caller, only?: string): Promise<readonly ListedAgent[]> {
  const agents = only === undefined ? await loadAgents(deps, caller) : [await agentForRun(deps, caller, only)];
  const isOwn = ({ orgId }: NamedAgent) => orgId === caller.orgId;
  const toWanted = ({ id, name }: NamedAgent) => ({ agentId: id, slug: `ask_${toSlug(name)}`.slice(0, slugMax) });
  const names = await deps.storage.agents.toolNames.assign(caller.orgId, agents.filter(isOwn).map(toWanted));
  return agents.map((agent) => {
    const { id, orgId, name, description } = agent;
    return { id, orgId, name, description, toolName: names.get(id) ?? withPiece(toWanted(agent)) };
  });
}

async function loadAgents(deps: Deps, caller: Caller): Promise<readonly NamedAgent[]> {
  const page = { limit: agentsMax, after: undefined };
  const own = await findAgents(deps, caller, { isOwnOrganization: true }, page, members);
  if (deps.settings.MCP_PUBLIC_AGENTS === 'off') return own.items.toReversed();
  const all = await findAgents(deps, caller, {}, page, members);
  const others = all.items.filter(({ orgId }) => orgId !== caller.orgId);
  return [...own.items.toReversed(), ...others.toReversed()].slice(0, agentsMax);
}

/** The agent that a client names by its id, its tool's name, or its own name. */
export function agentNamed(agents: readonly ListedAgent[], givenName: string): ListedAgent | undefined {
  const wantedName = givenName.toLowerCase();
  return (
    agents.find(({ id, toolName }) => id === givenName || toolName === givenName) ??
    agents.find(({ name }) => name.toLowerCase() === wantedName)
  );
}

function toSlug(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const slug = plain
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return slug === '' ? 'agent' : slug;
}
