import type { AgentView } from '../../entities/agents/agent.ts';
import { DomainError, outOfRange } from '../../entities/ground/errors.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { getAgent } from './agents.ts';

const best = 5;

/**
 * Rates an agent that the caller may use. A user has one rating for each agent, which a later one replaces; null removes it.
 *
 * @throws DomainError NOT_FOUND; INVALID_VALUE unless it is a whole number from 1 to 5.
 */
export async function rateAgent(
  deps: Deps,
  caller: Caller,
  id: string,
  { rating }: { readonly rating?: number | null | undefined },
): Promise<AgentView> {
  await getAgent(deps, caller, id);
  if (rating === undefined) {
    throw new DomainError('MISSING_REQUIRED_PARAMETER', 'rating is required', { param: 'rating' });
  }
  if (rating !== null && (rating < 1 || rating > best)) {
    throw outOfRange('rating', 1, best);
  }
  await deps.audit.change(caller, () => deps.storage.agents.ratings.rate(id, caller.userId, rating));
  return getAgent(deps, caller, id);
}

/** The caller's own ratings, in the order of `agentIds`; null for none. One statement. */
export async function ownRatings(deps: Deps, caller: Caller, agentIds: readonly string[]): Promise<readonly (number | null)[]> {
  const ratingRows = await deps.storage.agents.ratings.ofUser(caller.userId, agentIds);
  const byAgent = new Map(ratingRows.map(({ agentId, rating }) => [agentId, rating]));
  return agentIds.map((id) => byAgent.get(id) ?? null);
}
