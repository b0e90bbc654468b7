import type { Caller } from '../../entities/accounts/caller.ts';
import type { Change } from '../../entities/live.ts';
import { isAdministrator, listedAgents, ownChats, visibleChats, visibleDataSources } from '../access/access.ts';
import { getAgent } from '../agents/agents.ts';
import type { Deps } from '../deps.ts';
import { connectionsListed } from '../knowledge/connections.ts';
import { type LiveList, watchList } from './watch.ts';

/** Where to go on, and until when. */
export interface WatchOptions {
  /** The `until` of the last change that was told; see `watchList`. */
  readonly after: Date | undefined;
  readonly signal: AbortSignal;
}

type Changes = Promise<AsyncGenerator<Change, void, void>>;

const isNever = () => false;

/** The agents that lists show the caller. */
export function watchAgents(deps: Deps, caller: Caller, { after, signal }: WatchOptions): Changes {
  const list: LiveList = {
    rule: { kind: 'agent', filter: listedAgents(caller, 'ALL') },
    concerns: ({ orgId, isInOpenCatalog }) => orgId === caller.orgId || isInOpenCatalog === true,
    owns: isNever,
    isRemembered: true,
  };
  return watchList(deps, list, after, signal);
}

/** The data sources that the caller may see. */
export function watchDataSources(deps: Deps, caller: Caller, { after, signal }: WatchOptions): Changes {
  const list: LiveList = {
    rule: { kind: 'dataSource', filter: visibleDataSources(caller) },
    concerns: ({ orgId }) => orgId === caller.orgId || caller.level === 'INSTANCE',
    owns: isNever,
    isRemembered: true,
  };
  return watchList(deps, list, after, signal);
}

/**
 * The caller's own chats; with an agent those with it, and for its editors the chats of others that it shows.
 *
 * @throws DomainError NOT_FOUND for an agent that the caller may not see.
 */
export async function watchChats(
  deps: Deps,
  caller: Caller,
  agentId: string | undefined,
  { after, signal }: WatchOptions,
): Changes {
  if (agentId !== undefined) await getAgent(deps, caller, agentId);
  const isOwn = ({ userId, orgId }: { readonly userId: string; readonly orgId: string }) =>
    userId === caller.userId && orgId === caller.orgId;
  const list: LiveList = {
    rule: { kind: 'chat', filter: agentId === undefined ? ownChats(caller) : visibleChats(caller), agentId },
    concerns: (place) => (agentId === undefined ? isOwn(place) : place.agentId === agentId),
    owns: (place) => isOwn(place) && (agentId === undefined || place.agentId === agentId),
    isRemembered: false,
  };
  return watchList(deps, list, after, signal);
}

/** The runs of the caller; for administrators those of their organization. */
export function watchRuns(deps: Deps, caller: Caller, { after, signal }: WatchOptions): Changes {
  const { orgId, userId } = caller;
  const scope = isAdministrator(caller, orgId) ? { orgId } : { orgId, userId };
  const list: LiveList = {
    rule: { kind: 'run', scope },
    concerns: (place) => place.orgId === orgId && (scope.userId === undefined || place.userId === userId),
    owns: isNever,
    isRemembered: false,
  };
  return watchList(deps, list, after, signal);
}

/** The caller's memories. */
export function watchMemories(deps: Deps, caller: Caller, { after, signal }: WatchOptions): Changes {
  const { orgId, userId } = caller;
  const list: LiveList = {
    rule: { kind: 'memory', owner: { orgId, userId } },
    concerns: (place) => place.orgId === orgId && place.userId === userId,
    owns: isNever,
    isRemembered: true,
  };
  return watchList(deps, list, after, signal);
}

/**
 * The caller's connections.
 *
 * @param ofOrganization  all of the organization, for its administrators. @throws DomainError FORBIDDEN for others.
 */
export async function watchConnections(
  deps: Deps,
  caller: Caller,
  ofOrganization: boolean,
  { after, signal }: WatchOptions,
): Changes {
  const scope = connectionsListed(caller, ofOrganization);
  const list: LiveList = {
    rule: { kind: 'connection', scope },
    concerns: ({ orgId, userId }) => orgId === scope.orgId && (scope.ownerUserId === undefined || userId === scope.ownerUserId),
    owns: isNever,
    isRemembered: true,
  };
  return watchList(deps, list, after, signal);
}
