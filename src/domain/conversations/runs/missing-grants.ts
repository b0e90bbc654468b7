import { serverNameIn } from '../../../engine/tools/mcp/request-secrets.ts';
import { grantedConnection, ownersConnection } from '../../../engine/tools/mcp/resolve.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { agentForRun } from '../../agents/agents.ts';
import { toToolKey } from '../../agents/tools/service-tools.ts';
import type { Deps } from '../../deps.ts';
import { chargeTo } from '../../ground/charges.ts';
import { askableFor, rightsOfAgent, toMember } from './agent-rights.ts';

/**
 * What standing tools of an agent would open of the caller, and may not: each warning names the grant that would allow it. Tools that the request
 * names itself need none.
 *
 * @returns a promise only for an agent with tools that may open something.
 */
export function missingGrants(
  deps: Deps,
  caller: Caller,
  requestTools: readonly EnabledTool[],
  agent: RunnableAgent | undefined,
): readonly Warning[] | Promise<readonly Warning[]> {
  if (agent === undefined) return [];
  const standing = agent.enabledTools.filter(({ type }) => type === 'memory' || type === 'mcp_server' || type === 'subagent');
  const servers = agent.tools.flatMap(({ type, data: { server } }) =>
    type === 'MCP_SERVER' && typeof server === 'string' ? [server] : [],
  );
  if (standing.length === 0 && servers.length === 0) return [];
  const toolKeys = new Set(requestTools.map(toToolKey));
  const own = standing.filter((tool) => !toolKeys.has(toToolKey(tool)));
  const names = own.flatMap(({ type, options }) => (type === 'mcp_server' ? [serverNameIn(options)] : []));
  const agentIds = own.flatMap(({ type, options: { agents } }) => (type === 'subagent' && Array.isArray(agents) ? agents : []));
  return findMissing(deps, caller, agent, {
    hasMemory: own.some(({ type }) => type === 'memory'),
    servers: [...new Set([...names, ...servers])],
    agentIds: agentIds.filter((id) => typeof id === 'string'),
  });
}

interface Opened {
  readonly hasMemory: boolean;
  /** Names or ids of MCP servers. */
  readonly servers: readonly string[];
  readonly agentIds: readonly string[];
}

async function findMissing(
  deps: Deps,
  caller: Caller,
  agent: RunnableAgent,
  { hasMemory, servers, agentIds }: Opened,
): Promise<readonly Warning[]> {
  const askingRun = { charge: chargeTo(caller, { agentId: agent.id, runId: null }) };
  const candidates = await usable(deps, caller, agentIds);
  const rights = await rightsOfAgent(deps, askingRun, agent.id);
  const askable = (await askableFor(deps, askingRun, agent.id, candidates)).map(({ id }) => id);
  const warnings: Warning[] = [];
  if (hasMemory && rights.memories === 'none') {
    warnings.push(warning(agent, 'memories', 'The tool memory of the AI is not offered: it would open your memories', '"write"'));
  }
  for (const name of servers) {
    if (deps.mcp.findOperators(name, rights) !== undefined) continue;
    const own = { orgId: caller.orgId, ownerUserId: caller.userId };
    const isServed =
      (await grantedConnection(deps.storage, name, own, rights.connectionIds)) ??
      (await ownersConnection(deps.storage, name, rights.owner));
    if (isServed !== undefined) continue;
    const { connections } = deps.storage.knowledge;
    const asking = await (isId('mcpServer', name) ? connections.find(name, own) : connections.findMcpServer(name, own));
    if (asking === undefined) continue;
    const why = `The MCP server ${name.slice(0, 100)} of the AI is not offered: it would use your connection ${asking.id}`;
    warnings.push(warning(agent, 'connections', why, `["${asking.id}"]`));
  }
  for (const { id } of candidates) {
    if (askable.includes(id)) continue;
    const why = `The AI does not ask ${id}, which you may use and its owner may not`;
    warnings.push(warning(agent, 'agents', why, `["${id}"]`));
  }
  return warnings;
}

async function usable(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly RunnableAgent[]> {
  const member = toMember(caller);
  const candidates = await Promise.all(
    [...new Set(ids)].map(async (id) => {
      try {
        return await agentForRun(deps, member, id);
      } catch {
        return undefined;
      }
    }),
  );
  return candidates.filter((one) => one !== undefined);
}

function warning({ id }: RunnableAgent, member: 'memories' | 'connections' | 'agents', why: string, value: string): Warning {
  const message = `${why}. PUT /api/v1/ais/${id}/grants with {"${member}": ${value}} allows it; it replaces what you granted before`;
  return { code: 'grant_required', message, param: `grants.${member}` };
}
