import { getAgent, readInstructions } from '../domain/agents/agents.ts';
import { performOperation } from '../domain/ground/audit/operation.ts';
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
  const { deps } = context;
  const agentId = uri.slice(prefix.length);
  return performOperation(context, 'Query.agent', [agentId], async (caller) => {
    const agent = await getAgent(deps, caller, agentId);
    const { id, name, description, introduction } = agent;
    const instructions = readInstructions(deps, caller, agent);
    return { id, name, description, introduction, ...(instructions === null ? {} : { instructions }) };
  });
}
