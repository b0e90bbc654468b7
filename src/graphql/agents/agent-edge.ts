import type { GraphQLResolveInfo } from 'graphql';
import { getAgents } from '../../domain/agents/agents.ts';
import type { AgentView } from '../../entities/agents/agent.ts';
import { kindOfId } from '../../entities/ground/ids.ts';
import type { Members } from '../../entities/ground/members.ts';
import { batched } from '../ground/builder/batched.ts';
import type { GraphContext } from '../ground/builder/context.ts';
import { membersRead } from '../ground/builder/members.ts';

const agentWith = batched(async (ids: readonly string[], { deps, caller }, members: readonly string[] | null) => {
  const read = (members === null ? undefined : new Set(members)) as Members<AgentView>;
  const agents = new Map((await getAgents(deps, caller, ids, read)).map((agent) => [agent.id, agent]));
  return ids.map((id) => agents.get(id) ?? null);
});

/**
 * Follows an edge to an agent, like `nodeOf`, and reads no more of it than the selection needs: agents of which a list shows names take one
 * statement in place of four.
 *
 *     resolve: ({ agentId }, _args, context, info) => agentOf(context, agentId, info),
 */
export function loadAgent(context: GraphContext, id: string | null | undefined, info: GraphQLResolveInfo): Promise<never> | null {
  if (id === null || id === undefined || kindOfId(id) !== 'agent') return null;
  const members = membersRead<AgentView>(info, 'Agent');
  return agentWith(context, id, members === undefined ? null : [...members]) as Promise<never>;
}
