import { DomainError } from '../../../entities/ground/errors.ts';
import type { Change, LivePlace } from '../../../entities/operations/live.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { RunReach } from '../../../storage/conversations/runs/history-conditions.ts';
import { getAgent } from '../../agents/agents.ts';
import { loadReach } from '../../conversations/runs/history.ts';
import type { Deps } from '../../deps.ts';
import {
  adminReach,
  isAdministrator,
  listedAgents,
  ownChats,
  visibleChats,
  visibleDataSources,
} from '../../ground/access/access.ts';
import { connectionsListed } from '../../knowledge/connections.ts';
import type { Places } from './feed.ts';
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

/** The runs that the history shows the caller: for administrators those of their organization, for others their own and those of agents that they edit. */
export function watchRuns(deps: Deps, caller: Caller, { after, signal }: WatchOptions): Changes {
  return watchList(deps, new ReachedRuns(deps, caller), after, signal);
}

/** Remembers which agents the caller edits, so that runs of other agents cost no statement. */
class ReachedRuns implements LiveList {
  readonly owns = isNever;
  readonly isRemembered = false;
  readonly #deps: Deps;
  readonly #caller: Caller;
  #reach: RunReach;
  /** Whether no rights to agents have changed since `#reach` was read. */
  #isCurrent = false;

  constructor(deps: Deps, caller: Caller) {
    this.#deps = deps;
    this.#caller = caller;
    this.#reach = { orgId: caller.orgId, userId: caller.userId, agentIds: [] };
  }

  get rule() {
    return { kind: 'run', reach: this.#reach } as const;
  }

  concerns({ orgId, userId, agentId }: LivePlace): boolean {
    const reach = this.#reach;
    if (orgId !== reach.orgId) return false;
    if (reach.userId === undefined || userId === reach.userId) return true;
    return typeof agentId === 'string' && (!this.#isCurrent || reach.agentIds.includes(agentId));
  }

  async prepare(): Promise<void> {
    if (this.#isCurrent) return;
    // Before it is read, so that a change meanwhile makes it be read again.
    this.#isCurrent = true;
    try {
      this.#reach = await loadReach(this.#deps, this.#caller);
    } catch (error) {
      this.#isCurrent = false;
      throw error;
    }
  }

  onAgents(agents: Places | undefined): void {
    const isMine = agents === undefined || [...agents.values()].some((place) => place?.orgId === this.#caller.orgId);
    if (isMine) this.#isCurrent = false;
  }
}

/**
 * The members, invitations and groups of the caller's organization, for its administrators; groups for keys that may read them.
 *
 * @throws DomainError FORBIDDEN for others.
 */
export async function watchPeople(deps: Deps, caller: Caller, { after, signal }: WatchOptions): Changes {
  const { orgId, scopes } = caller;
  adminReach(caller);
  const kinds = ['membership', 'invitation', ...(scopes.has('GROUPS:READ') ? (['group'] as const) : [])] as const;
  const list = (kind: (typeof kinds)[number]): LiveList => ({
    rule: { kind, orgId },
    concerns: (place) => place.orgId === orgId,
    owns: isNever,
    isRemembered: true,
  });
  const lists: AsyncGenerator<Change, void, void>[] = [];
  for (const kind of kinds) lists.push(await watchList(deps, list(kind), after, signal));
  return merged(lists);
}

/**
 * The caller's keys of its organization that are not revoked.
 *
 * @param ofOrganization  all of the organization, for its administrators. @throws DomainError FORBIDDEN for others.
 */
export async function watchApiKeys(
  deps: Deps,
  caller: Caller,
  ofOrganization: boolean,
  { after, signal }: WatchOptions,
): Changes {
  const { orgId } = caller;
  if (ofOrganization && !isAdministrator(caller, orgId)) {
    throw new DomainError('FORBIDDEN', 'Only administrators may list the keys of others', { param: 'ofOrganization' });
  }
  const userId = ofOrganization ? undefined : caller.userId;
  const list: LiveList = {
    rule: { kind: 'apiKey', orgId, userId },
    concerns: (place) => place.orgId === orgId && (userId === undefined || place.userId === userId),
    owns: isNever,
    isRemembered: true,
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

/** The caller's imports of chats. */
export function watchChatImports(deps: Deps, caller: Caller, { after, signal }: WatchOptions): Changes {
  const { orgId, userId } = caller;
  const list: LiveList = {
    rule: { kind: 'chatImport', owner: { orgId, userId } },
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

/**
 * Yields what several generators yield, as it comes, until all are over. An error of one ends all. A generator that waits when the reader leaves ends by
 * the signal that it was made with.
 */
async function* merged<T>(sources: readonly AsyncGenerator<T, void, void>[]): AsyncGenerator<T, void, void> {
  const waiting = new Map(sources.map((source) => [source, next(source)]));
  try {
    while (waiting.size > 0) {
      const { source, result } = await Promise.race(waiting.values());
      if (result.done === true) waiting.delete(source);
      else {
        waiting.set(source, next(source));
        yield result.value;
      }
    }
  } finally {
    // Nobody reads what still comes, nor an error that comes with it.
    for (const [source, pending] of waiting) {
      pending.catch(() => undefined);
      source.return().catch(() => undefined);
    }
  }
}

interface Next<T> {
  readonly source: AsyncGenerator<T, void, void>;
  readonly result: IteratorResult<T, void>;
}

async function next<T>(source: AsyncGenerator<T, void, void>): Promise<Next<T>> {
  return { source, result: await source.next() };
}
