import { type AgentGrants, type MemoryGrant, memoryGrants } from '../../entities/agents/grant.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import { type Page, type PageRequest, pageOfItems, type SortKey } from '../../entities/ground/page.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { Faults } from '../ground/faults.ts';
import { agentForRun, getAgent } from './agents.ts';

type Optional<T> = T | null | undefined;

/** Replaces what stands. Absent members grant nothing. */
export interface AgentGrantsInput {
  readonly connections?: Optional<readonly string[]>;
  readonly memories?: Optional<MemoryGrant>;
  readonly agents?: Optional<readonly string[]>;
}

/** Things of one kind that one agent is granted. */
const grantedMax = 100;
export const grantedAgentsMax = 500;

/** What the caller grants to an agent. @throws DomainError NOT_FOUND for an agent that the caller may not use and grants nothing. */
export async function getAgentGrants(deps: Deps, caller: Caller, agentId: string): Promise<AgentGrants> {
  const [agentGrants] = await deps.storage.agents.grants.find(toOwner(caller), [agentId]);
  if (agentGrants !== undefined) return agentGrants;
  await getAgent(deps, caller, agentId);
  return nothing(agentId);
}

/** The agents to which the caller grants something, with what it grants, by the ids of the agents. */
export async function listAgentGrants(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<AgentGrants>> {
  const grants = await deps.storage.agents.grants.list(toOwner(caller));
  return pageOfItems(
    grants.toSorted((a, b) => byId([a.agentId], [b.agentId])),
    page,
    ({ agentId }) => [agentId],
    byId,
  );
}

function byId([a = '']: SortKey, [b = '']: SortKey): number {
  return a < b ? -1 : Number(a > b);
}

/**
 * Says what of the caller an agent may open when the caller asks it: MCP connections, the memories, and agents. It replaces what stood before. What was
 * granted before may stay, also where the caller may not use the agent, or what was granted, any more.
 *
 * @throws DomainError NOT_FOUND for the agent; INSUFFICIENT_SCOPE for things that the key may not read; INVALID_VALUE naming each connection that is
 * not an MCP server of the caller, and each agent that the caller may not use.
 */
export async function putAgentGrants(deps: Deps, caller: Caller, agentId: string, input: AgentGrantsInput): Promise<AgentGrants> {
  const before = await getAgentGrants(deps, caller, agentId);
  requireScopes(caller, input);
  const connectionIds = [...new Set(input.connections ?? [])];
  const agentIds = [...new Set(input.agents ?? [])];
  const faults = new Faults();
  checkAgentGrants(input, faults);
  faults.throwIfAny();
  for (const [index, id] of (input.connections ?? []).entries()) {
    if (before.connectionIds.includes(id)) continue;
    if (!(await hasServer(deps, caller, id)))
      faults.add(`connections[${index}]`, `connections[${index}] is no MCP server of yours`);
  }
  for (const [index, id] of (input.agents ?? []).entries()) {
    if (before.agentIds.includes(id)) continue;
    if (id === agentId) faults.add(`agents[${index}]`, `agents[${index}] is the AI itself`);
    else if (!(await mayUse(deps, caller, id))) faults.add(`agents[${index}]`, `agents[${index}] is no AI that you may use`);
  }
  faults.throwIfAny();
  await requireRoom(deps, caller, agentId);
  const memories = input.memories ?? 'none';
  if (isMore({ connectionIds, memories, agentIds }, before)) await getAgent(deps, caller, agentId);
  const grants = { agentId, connectionIds, memories, agentIds };
  await deps.audit.change(caller, () => deps.storage.agents.grants.put(toOwner(caller), grants));
  return getAgentGrants(deps, caller, agentId);
}

/**
 * Ends what the caller grants to an agent, also to one that the caller may not use any more. Runs that begin afterwards are without it.
 *
 * @returns what was granted. @throws DomainError as `getAgentGrants`.
 */
export async function deleteAgentGrants(deps: Deps, caller: Caller, agentId: string): Promise<AgentGrants> {
  const before = await getAgentGrants(deps, caller, agentId);
  await deps.audit.change(caller, () => deps.storage.agents.grants.delete(toOwner(caller), agentId));
  return before;
}

/** Whether something is granted that was not granted before. */
function isMore(grants: Pick<AgentGrants, 'connectionIds' | 'memories' | 'agentIds'>, before: AgentGrants): boolean {
  return (
    grants.connectionIds.some((id) => !before.connectionIds.includes(id)) ||
    grants.agentIds.some((id) => !before.agentIds.includes(id)) ||
    memoryGrants.indexOf(grants.memories) > memoryGrants.indexOf(before.memories)
  );
}

/** Notes the faults that show without a look at the database. */
export function checkAgentGrants({ connections, agents }: AgentGrantsInput, faults: Faults): void {
  faults.requireCount('connections', connections ?? [], grantedMax);
  faults.requireCount('agents', agents ?? [], grantedMax);
}

/** A key grants only what it may read. */
function requireScopes({ scopes }: Caller, { connections, agents }: AgentGrantsInput): void {
  const grantRules = [
    ['connections', connections, 'CONNECTIONS:READ'],
    ['agents', agents, 'AGENTS:READ'],
  ] as const;
  for (const [param, ids, scope] of grantRules) {
    if ((ids ?? []).length === 0 || scopes.has(scope)) continue;
    throw new DomainError('INSUFFICIENT_SCOPE', `${param} needs a key with the scope ${scope}`, { param });
  }
}

async function requireRoom(deps: Deps, caller: Caller, agentId: string): Promise<void> {
  const others = (await deps.storage.agents.grants.list(toOwner(caller))).filter((one) => one.agentId !== agentId);
  if (others.length >= grantedAgentsMax) {
    throw new DomainError(
      'CONFLICT',
      `You grant things to ${grantedAgentsMax} AIs, which is the most: end what is granted to some first`,
    );
  }
}

async function hasServer(deps: Deps, { orgId, userId }: Caller, id: string): Promise<boolean> {
  return (
    isId('mcpServer', id) && (await deps.storage.knowledge.connections.find(id, { orgId, ownerUserId: userId })) !== undefined
  );
}

async function mayUse(deps: Deps, caller: Caller, id: string): Promise<boolean> {
  try {
    await agentForRun(deps, caller, id);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}

function nothing(agentId: string): AgentGrants {
  return { agentId, connectionIds: [], memories: 'none', agentIds: [], things: [] };
}

function toOwner({ orgId, userId }: Caller) {
  return { orgId, userId };
}
