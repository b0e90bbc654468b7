import { type JsonObject, membersOf } from '../../src/lib/json/json.ts';
import { failed, misused } from './failure.ts';
import { suggestion } from './nearest.ts';
import type { Service } from './service.ts';

export interface NamedAgent extends JsonObject {
  readonly id: string;
  readonly name: string;
}

const agentsMax = 1_000;
const pageSize = 100;

/** The agents that the key sees, newest first. */
export async function listAgents(service: Service, query: Readonly<Record<string, string>> = {}): Promise<readonly NamedAgent[]> {
  const agents: NamedAgent[] = [];
  let cursor: unknown;
  do {
    const page = { ...query, limit: String(pageSize), ...(typeof cursor === 'string' ? { cursor } : {}) };
    const reply = membersOf(await service.send('GET', `/api/v1/ais?${new URLSearchParams(page)}`));
    agents.push(...((reply.data ?? []) as NamedAgent[]));
    cursor = reply.nextCursor;
  } while (typeof cursor === 'string' && agents.length < agentsMax);
  return agents;
}

/**
 * The agent of a name or an id; without either, the only one.
 *
 * @throws Failure that names what there is, or what was probably meant.
 */
export async function findAgent(service: Service, given: string | undefined): Promise<NamedAgent> {
  if (given !== undefined && /^ai_[0-9a-z]{20,}$/.test(given))
    return (await service.send('GET', `/api/v1/ais/${given}`)) as NamedAgent;
  const agents = await listAgents(service);
  if (given === undefined) return onlyAgent(agents);
  const sameName = (name: string) => name.trim().toLowerCase() === given.trim().toLowerCase();
  const exact = agents.filter(({ name }) => name === given);
  const found = exact.length > 0 ? exact : agents.filter(({ name }) => sameName(name));
  const [agent] = found;
  if (agent === undefined) {
    const names = agents.map(({ name }) => name);
    const known = agents.length === 0 ? ' This key sees no agent at all.' : ` There are: ${listed(names)}.`;
    throw failed(`There is no agent "${given}".${suggestion(given, names) || known}`);
  }
  if (found.length > 1)
    throw misused(`${found.length} agents are called "${given}". Name one by its id: ${found.map(({ id }) => id).join(', ')}.`);
  return agent;
}

function onlyAgent(agents: readonly NamedAgent[]): NamedAgent {
  const [agent, another] = agents;
  if (agent === undefined) throw failed('There is no agent yet. Make one: parley agents create --name "My agent"');
  if (another !== undefined) throw misused(`Which agent? Name one with --agent: ${listed(agents.map(({ name }) => name))}.`);
  return agent;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 8).map((name) => `"${name}"`);
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ');
}
