import type { Charge } from '../../../engine/plan/plan.ts';
import type { AgentRights, AskingRun, RightsOfAgent } from '../../../engine/tools/agents/agent-rights.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { type AgentGrants, type MemoryGrant, memoryGrants } from '../../../entities/agents/grant.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { canSeeAgent, visibleDataSources } from '../../ground/access/access.ts';

type RightsDeps = Pick<Deps, 'storage' | 'now'>;

/** The one rule for what agents open of the person who asks, on every API and at every level of subagents. */
export function createRightsOfAgent(deps: RightsDeps): RightsOfAgent {
  return (run, agentId) => rightsOfAgent(deps, run, agentId);
}

/**
 * What the standing tools of an agent may open in a run. An agent opens nothing of the asking person that an agent above it may not open: else it
 * would hand it on.
 *
 * Cost: two statements while the agents are cached.
 */
export async function rightsOfAgent(deps: RightsDeps, run: AskingRun, agentId: string): Promise<AgentRights> {
  const { agent, foreign, grants } = await loadChain(deps, run, agentId);
  if (agent === undefined) throw new Error(`the agent ${agentId} of a run is gone`);
  const { orgId, userId } = agent;
  const isMember = (await deps.storage.people.accounts.findRole(orgId, userId)) !== undefined;
  return {
    orgId,
    owner: isMember ? { orgId, userId } : undefined,
    readableSources: visibleDataSources(toOwner(agent)),
    memories: findLeastGrant(
      foreign.map((one) => (isApprovedAtHome(one, run) ? 'write' : (grants.get(one.id)?.memories ?? 'none'))),
    ),
    connectionIds: common(foreign.map(({ id }) => grants.get(id)?.connectionIds ?? [])),
  };
}

/**
 * Those agents among some that an agent may ask for the asking person: its owner may use them too, or the person granted it.
 *
 * @param candidates  agents that the asking person may use.
 */
export async function askableFor(
  deps: RightsDeps,
  run: AskingRun,
  agentId: string,
  candidates: readonly RunnableAgent[],
): Promise<readonly RunnableAgent[]> {
  if (candidates.length === 0) return [];
  const { agent, foreign, grants } = await loadChain(deps, run, agentId);
  if (agent === undefined) return [];
  const grantedIds = common(foreign.map(({ id }) => grants.get(id)?.agentIds ?? []));
  return candidates.filter((one) => canSeeAgent(toOwner(agent), one) || grantedIds.includes(one.id));
}

/** A user with the rights of a plain member of the organization: whoever asked, a run never administers. */
export function toMember({ keyId, userId, orgId, tenantId }: Pick<Charge, 'keyId' | 'userId' | 'orgId' | 'tenantId'>): Caller {
  return { keyId: keyId ?? '', userId, orgId, tenantId, level: 'ORGANIZATION', role: 'MEMBER', scopes: new Set() };
}

/** The agent and those above it. `foreign`: those that are not the asking person's own, in the organization that is charged. */
async function loadChain({ storage, now }: RightsDeps, { charge, askedBy = [] }: AskingRun, agentId: string) {
  const ids = [...new Set([...askedBy, agentId])];
  // Of the agent of the run, the version that runs: an approval is not one of all its versions.
  const versionOf = (id: string) => (id === charge.agentId ? charge.agentVersion : undefined);
  const chainAgents = await Promise.all(ids.map((id) => storage.agents.findRunnable(id, now().getTime(), versionOf(id))));
  const chain = chainAgents.filter((one) => one !== undefined);
  const foreign = chain.filter(({ orgId, userId }) => orgId !== charge.orgId || userId !== charge.userId);
  const chainGrants = foreign.length === 0 ? [] : await storage.agents.grants.find(charge, ids);
  const grants: ReadonlyMap<string, AgentGrants> = new Map(chainGrants.map((one) => [one.agentId, one]));
  return { agent: chain.find(({ id }) => id === agentId), foreign, grants };
}

function isApprovedAtHome({ orgId, isApprovedByOrg }: RunnableAgent, { charge }: AskingRun): boolean {
  return isApprovedByOrg && orgId === charge.orgId;
}

function toOwner({ userId, orgId, tenantId }: RunnableAgent) {
  return toMember({ userId, orgId, tenantId, keyId: null });
}

function findLeastGrant(grants: readonly MemoryGrant[]): MemoryGrant {
  return memoryGrants.find((one) => grants.includes(one)) ?? 'write';
}

function common([first = [], ...others]: readonly (readonly string[])[]): readonly string[] {
  return first.filter((id) => others.every((ids) => ids.includes(id)));
}
