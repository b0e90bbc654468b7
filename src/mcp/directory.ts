import { listAgents } from '../domain/agents/agents.ts';
import type { Deps } from '../domain/deps.ts';
import type { Caller } from '../entities/accounts/caller.ts';
import type { AgentView } from '../entities/agents/agent.ts';

/** An agent as MCP clients see it. */
export interface ListedAgent extends Pick<AgentView, 'id' | 'orgId' | 'name' | 'description'> {
  /** Of its tool and its prompt: `ask_<name>`. */
  readonly toolName: string;
}

/** Agents of one caller that MCP clients see; the newest ones. */
const agentsMax = 500;
const nameMax = 64;
const members: ReadonlySet<'id' | 'createdAt' | 'orgId' | 'name' | 'description'> = new Set([
  'id',
  'createdAt',
  'orgId',
  'name',
  'description',
]);

/**
 * The agents that the caller may use, the oldest first, so that a new agent changes no name of another. Of two agents of one name the
 * second is `ask_<name>_2`.
 *
 * Cost: one statement.
 */
export async function listedAgents(deps: Deps, caller: Caller): Promise<readonly ListedAgent[]> {
  const page = await listAgents(deps, caller, {}, { limit: agentsMax, after: undefined }, members);
  const taken = new Set<string>();
  return page.items.toReversed().map(({ id, orgId, name, description }) => {
    const toolName = freeName(`ask_${slugOf(name)}`, taken);
    taken.add(toolName);
    return { id, orgId, name, description, toolName };
  });
}

/** The agent that a client names by its id, its tool's name, or its own name. */
export function agentNamed(agents: readonly ListedAgent[], given: string): ListedAgent | undefined {
  const wanted = given.toLowerCase();
  return (
    agents.find(({ id, toolName }) => id === given || toolName === given) ??
    agents.find(({ name }) => name.toLowerCase() === wanted)
  );
}

function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const slug = plain
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return slug === '' ? 'agent' : slug;
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count += 1) {
    const ending = count === 1 ? '' : `_${count}`;
    const free = name.slice(0, nameMax - ending.length) + ending;
    if (!taken.has(free)) return free;
  }
}
