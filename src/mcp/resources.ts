import { canEditAgent } from '../domain/access/access.ts';
import { getAgent } from '../domain/agents/agents.ts';
import { noteReads, performOperation } from '../domain/audit/operation.ts';
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
export async function readResource(context: CallContext, uri: string): Promise<object | undefined> {
  if (!uri.startsWith(prefix)) return undefined;
  const { deps, caller } = context;
  const agent = await performOperation(context, 'Query.agent', [uri.slice(prefix.length)], () =>
    getAgent(deps, caller, uri.slice(prefix.length)),
  );
  const { id, name, description, introduction, instructions } = agent;
  noteReads(context, 'Query.agent', 'agent', [id]);
  if (!canEditAgent(caller, agent)) return { id, name, description, introduction };
  noteReads(context, 'Query.agent', 'instructions', [id]);
  return { id, name, description, introduction, instructions };
}
