import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { draftVersion } from '../../../entities/agents/version.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { canAttachDataSource, visibleDataSources } from '../../ground/access/access.ts';
import { serverNamesIn } from '../parts/standing-servers.ts';

/**
 * An old version as an editor may ask it: what was taken from the agent since is not open through it again. Sources that the agent has not any more are
 * left out, unless the caller may attach them.
 *
 * @param published  what people get. @throws DomainError FORBIDDEN for a version that names a connection of the owner, where somebody else asks.
 *
 * Cost: nothing where the version has no other sources, else one statement.
 */
export function narrowVersion(
  { storage }: Pick<Deps, 'storage'>,
  caller: Caller,
  published: RunnableAgent,
  agent: RunnableAgent,
): RunnableAgent | Promise<RunnableAgent> {
  if (agent.version === draftVersion || agent.version === published.version) return agent;
  const standing = new Set(listServers(published));
  const isTaken = listServers(agent).some((name) => isId('mcpServer', name) && !standing.has(name));
  if (isTaken && caller.userId !== agent.userId) {
    const message = 'The version names a connection that the agent has not any more: only its owner may ask it';
    throw new DomainError('FORBIDDEN', message, { param: 'version' });
  }
  const further = agent.dataSourceIds.filter((id) => !published.dataSourceIds.includes(id));
  return further.length === 0 ? agent : withoutSources(storage, caller, agent, further);
}

async function withoutSources(
  storage: Deps['storage'],
  caller: Caller,
  agent: RunnableAgent,
  further: readonly string[],
): Promise<RunnableAgent> {
  const sources = await storage.knowledge.sources.findMany(further, visibleDataSources(caller));
  const open = new Set(sources.filter((source) => canAttachDataSource(caller, source)).map(({ id }) => id));
  if (further.every((id) => open.has(id))) return agent;
  const taken = new Set(further.filter((id) => !open.has(id)));
  return { ...agent, dataSourceIds: agent.dataSourceIds.filter((id) => !taken.has(id)) };
}

function listServers({ enabledTools, tools }: RunnableAgent): readonly string[] {
  return serverNamesIn({ enabledTools, parts: tools.map(({ data }) => data) });
}
