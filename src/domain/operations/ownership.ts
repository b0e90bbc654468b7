import { DomainError } from '../../entities/ground/errors.ts';
import { kindOfId } from '../../entities/ground/ids.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { AgentConfiguration, OwnedThings, Owner } from '../../storage/operations/ownership.ts';
import { getAgent } from '../agents/agents.ts';
import { serverNamesIn } from '../agents/parts/standing-servers.ts';
import { toMember } from '../conversations/runs/agent-rights.ts';
import { getSchedule } from '../conversations/schedules/schedules.ts';
import type { Deps } from '../deps.ts';
import {
  canEditDataSource,
  canEditGroup,
  canManageAgent,
  isAdministrator,
  toViewer,
  usableAgents,
  visibleDataSources,
  visibleGroups,
} from '../ground/access/access.ts';
import { hasScope, requireScope } from '../ground/access/policy.ts';
import { missing } from '../people/administration.ts';

/** What is handed over: exactly one member is there. */
export interface TransferOwnershipInput {
  readonly agentId?: string | null | undefined;
  readonly dataSourceId?: string | null | undefined;
  readonly groupId?: string | null | undefined;
  readonly scheduleId?: string | null | undefined;
  readonly allOf?: { readonly userId: string } | null | undefined;
}

/** What was handed over, and what was not. */
export interface OwnershipTransfer {
  readonly agents: number;
  readonly dataSources: number;
  readonly groups: number;
  readonly schedules: number;
  readonly projects: number;
  /** Sentences about agents that stay with their owner, and why. */
  readonly kept: readonly string[];
  /** The person owns more: call again. */
  readonly hasMore: boolean;
}

/** Things of one call: the audit entry names them all, with the people. */
const thingsMax = 90;
const nothing: OwnedThings = { agentIds: [], dataSourceIds: [], groupIds: [], scheduleIds: [], projectIds: [] };

/**
 * Gives an agent, a source, a vector store, a group, a schedule, or all of these that a person owns in the caller's organization, to another member of the
 * organization. Connections, keys, chats and memories stay with their person.
 *
 * An agent acts with what its owner may open. One that names a server by a connection, or things that its owner may not see, would open what is the
 * new owner's, so it is not handed over.
 *
 * A schedule is paused: it would run with the rights of the new owner, who has not seen it. Its run ends.
 *
 * @throws DomainError NOT_FOUND for a thing or a member; FORBIDDEN for everyone except the owner and administrators; INSUFFICIENT_SCOPE without the
 * scope that changes the kind of thing; INVALID_VALUE for an AUDITOR; CONFLICT for one agent that cannot be handed over.
 */
export async function transferOwnership(
  deps: Deps,
  caller: Caller,
  input: TransferOwnershipInput,
  toUserId: string,
): Promise<OwnershipTransfer> {
  const { owner, things, hasMore } = await findThings(deps, caller, input);
  await requireRecipient(deps, owner, toUserId);
  const tieReasons = await findTied(deps, caller, owner, things.agentIds);
  const [reason] = tieReasons.values();
  if ((input.allOf ?? undefined) === undefined && reason !== undefined) throw new DomainError('CONFLICT', reason);
  const movable = { ...things, agentIds: things.agentIds.filter((id) => !tieReasons.has(id)) };
  const { agentIds, dataSourceIds, groupIds, scheduleIds, projectIds, activeRunIds } = await deps.audit.change(
    caller,
    async () => {
      const movedThings = await deps.storage.operations.ownership.transfer(owner, movable, toUserId);
      const ids = [
        ...movedThings.agentIds,
        ...movedThings.dataSourceIds,
        ...movedThings.groupIds,
        ...movedThings.scheduleIds,
        ...movedThings.projectIds,
      ];
      return { ...movedThings, orgId: owner.orgId, targetIds: [...ids, owner.userId, toUserId] };
    },
  );
  for (const runId of activeRunIds) await deps.runs.cancel(runId);
  const counts = { agents: agentIds.length, dataSources: dataSourceIds.length, groups: groupIds.length };
  return { ...counts, schedules: scheduleIds.length, projects: projectIds.length, kept: [...tieReasons.values()], hasMore };
}

interface Found {
  readonly owner: Owner;
  readonly things: OwnedThings;
  readonly hasMore: boolean;
}

async function findThings(deps: Deps, caller: Caller, input: TransferOwnershipInput): Promise<Found> {
  const { agentId, dataSourceId, groupId, scheduleId, allOf } = input;
  const { storage } = deps;
  if (typeof agentId === 'string') {
    const agent = await getAgent(deps, caller, agentId);
    requireOwner(canManageAgent(caller, agent));
    const owner = { orgId: agent.orgId, userId: agent.userId };
    return { owner, things: { ...nothing, agentIds: [agentId] }, hasMore: false };
  }
  if (typeof dataSourceId === 'string') {
    requireScope(caller, 'Mutation.updateDataSource');
    const source = await storage.knowledge.sources.find(dataSourceId, visibleDataSources(caller));
    if (source === undefined) throw missing('data source', 'dataSourceId');
    requireOwner(canEditDataSource(caller, source));
    const owner = { orgId: source.orgId, userId: source.ownerUserId };
    return { owner, things: { ...nothing, dataSourceIds: [dataSourceId] }, hasMore: false };
  }
  if (typeof groupId === 'string') {
    requireScope(caller, 'Mutation.updateGroup');
    const group = await storage.people.groups.find(groupId, visibleGroups(caller));
    if (group === undefined) throw missing('group', 'groupId');
    requireOwner(canEditGroup(caller, group));
    const owner = { orgId: group.orgId, userId: group.ownerUserId };
    return { owner, things: { ...nothing, groupIds: [groupId] }, hasMore: false };
  }
  if (typeof scheduleId === 'string') {
    requireScope(caller, 'Mutation.updateSchedule');
    const schedule = await getSchedule(deps, caller, scheduleId);
    const owner = { orgId: schedule.orgId, userId: schedule.userId };
    return { owner, things: { ...nothing, scheduleIds: [scheduleId] }, hasMore: false };
  }
  const owner = { orgId: caller.orgId, userId: allOf?.userId ?? '' };
  requireOwner(owner.userId === caller.userId || isAdministrator(caller, caller.orgId));
  requireScope(caller, 'Mutation.updateDataSource');
  requireScope(caller, 'Mutation.updateGroup');
  const ownedThings = await storage.operations.ownership.owned(owner, thingsMax + 1);
  // A key that could hand all over before there were schedules and projects still can.
  const handsOverChats = hasScope(caller, 'Mutation.updateSchedule');
  return { owner, ...pickFirst(handsOverChats ? ownedThings : { ...ownedThings, scheduleIds: [], projectIds: [] }) };
}

/** Groups and sources go first: agents that stay do not keep them back. */
function pickFirst({ groupIds, dataSourceIds, agentIds, scheduleIds, projectIds }: OwnedThings): Omit<Found, 'owner'> {
  const groups = groupIds.slice(0, thingsMax);
  const sources = dataSourceIds.slice(0, thingsMax - groups.length);
  const agents = agentIds.slice(0, thingsMax - groups.length - sources.length);
  const schedules = scheduleIds.slice(0, thingsMax - groups.length - sources.length - agents.length);
  const projects = projectIds.slice(0, thingsMax - groups.length - sources.length - agents.length - schedules.length);
  const count = groups.length + sources.length + agents.length + schedules.length + projects.length;
  const { length: ownedCount } = [...groupIds, ...dataSourceIds, ...agentIds, ...scheduleIds, ...projectIds];
  return {
    things: { groupIds: groups, dataSourceIds: sources, agentIds: agents, scheduleIds: schedules, projectIds: projects },
    hasMore: count < ownedCount,
  };
}

function requireOwner(isOwner: boolean): void {
  if (!isOwner) throw new DomainError('FORBIDDEN', 'Only the owner of a thing and administrators may hand it over');
}

async function requireRecipient({ storage }: Deps, owner: Owner, toUserId: string): Promise<void> {
  const role = await storage.people.accounts.findRole(owner.orgId, toUserId);
  if (role === undefined) {
    throw new DomainError('NOT_FOUND', 'There is no such member of the organization', { param: 'toUserId' });
  }
  if (role === 'AUDITOR') {
    throw new DomainError('INVALID_VALUE', 'An AUDITOR changes nothing and cannot take things over', { param: 'toUserId' });
  }
  if (toUserId === owner.userId) {
    throw new DomainError('INVALID_VALUE', 'The new owner must be another person', { param: 'toUserId' });
  }
}

/** The agents that cannot be handed over, each with the reason. */
async function findTied(
  deps: Deps,
  caller: Caller,
  owner: Owner,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (agentIds.length === 0) return new Map();
  const { storage, mcp } = deps;
  const agents = await storage.operations.ownership.configurations(agentIds);
  const visible = await visibleTo(deps, { ...caller, ...owner }, agents);
  return new Map(
    agents.flatMap((agent) => {
      const server = serverNamesIn(agent).find((name) => mcp.findOperators(name, owner) === undefined);
      const unseen = namedThings(agent).find((id) => !visible.has(id));
      const foreignThing =
        server === undefined ? unseen : `the server ${JSON.stringify(server.slice(0, 100))} by a connection of its owner`;
      if (foreignThing === undefined) return [];
      return [
        [
          agent.id,
          `The agent ${agent.id} names ${foreignThing}, which would open what is the new owner's: take it out of the agent first`,
        ],
      ];
    }),
  );
}

/** Those of the things that agents name which their owner may use or read as a plain member. */
async function visibleTo(
  { storage }: Deps,
  owner: Parameters<typeof toMember>[0],
  agents: readonly AgentConfiguration[],
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(agents.flatMap(namedThings))];
  if (ids.length === 0) return new Set();
  const member = toMember(owner);
  const seenAgents = await storage.agents.findMany(ids, usableAgents(member), toViewer(member));
  const sources = await storage.knowledge.sources.findMany(ids, visibleDataSources(member));
  return new Set([...seenAgents, ...sources].map(({ id }) => id));
}

/** Agents, sources and vector stores that the configuration of an agent names by their ids. */
function namedThings({ id: own, enabledTools, parts }: AgentConfiguration): readonly string[] {
  const ids = JSON.stringify([enabledTools, parts]).match(/\b[a-z]{2}_[0-9a-z]{26}\b/g) ?? [];
  return [...new Set(ids)].filter((id) => id !== own && ['agent', 'dataSource', 'vectorStore'].includes(kindOfId(id) ?? ''));
}
