import { canEditAgent } from '../domain/access/access.ts';
import { requireScope } from '../domain/access/policy.ts';
import { getAgent } from '../domain/agents/agents.ts';
import type { CallContext } from '../http/context.ts';

const prefix = 'parley://agents/';

export function resourceUri(agentId: string): string {
  return prefix + agentId;
}

/**
 * An agent as a document: its name, description and introduction, and its instructions for those who may edit it.
 *
 * @returns undefined for another address. @throws DomainError NOT_FOUND, INSUFFICIENT_SCOPE.
 */
export async function readResource({ deps, caller }: CallContext, uri: string): Promise<object | undefined> {
  if (!uri.startsWith(prefix)) return undefined;
  requireScope(caller, 'Query.agent');
  const agent = await getAgent(deps, caller, uri.slice(prefix.length));
  const { id, name, description, introduction, instructions } = agent;
  return { id, name, description, introduction, ...(canEditAgent(caller, agent) ? { instructions } : {}) };
}
