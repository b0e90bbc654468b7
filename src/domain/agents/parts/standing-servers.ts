import { serverNameIn } from '../../../engine/tools/mcp/request-secrets.ts';
import type { AgentOfParts } from '../../../entities/agents/agent.ts';
import type { JsonObject } from '../../../entities/agents/part.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import type { FaultNotes } from '../../../entities/ground/fault-notes.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { hasMembers } from '../../../lib/json/json.ts';
import type { Deps } from '../../deps.ts';

type Agent = Pick<AgentOfParts, 'orgId' | 'userId'>;

/**
 * Notes an MCP server that only the owner of an agent may name. A standing server is opened with the connection of the owner, so an editor who named
 * it would open what is the owner's. Servers that stood before are kept.
 */
export function noteServerOfTool(
  deps: Pick<Deps, 'mcp'>,
  caller: Caller,
  agent: Agent,
  data: { readonly given: unknown; readonly before: JsonObject | undefined },
  faults: FaultNotes,
): void {
  const server = (data.given as { readonly server?: unknown } | null | undefined)?.server;
  if (typeof server !== 'string' || server === data.before?.server) return;
  if (!mayNameServer(deps, caller, agent, server)) faults.add('data.server', refusal('data.server'), 'FORBIDDEN');
}

/** The same for the tools of the service that an agent has. */
export function noteServersOfTools(
  deps: Pick<Deps, 'mcp'>,
  caller: Caller,
  agent: Agent,
  tools: { readonly given: readonly EnabledTool[]; readonly before: readonly EnabledTool[] },
  faults: FaultNotes,
): void {
  const standing = new Set(tools.before.flatMap(namesIn));
  for (const [index, tool] of tools.given.entries()) {
    const at = `enabledTools[${index}].server`;
    const isRefused = namesIn(tool).some((name) => !standing.has(name) && !mayNameServer(deps, caller, agent, name));
    if (isRefused) faults.add(at, refusal(at), 'FORBIDDEN');
  }
}

/** The servers that the configuration of an agent names. */
export function serverNamesIn(agent: { readonly enabledTools: unknown; readonly parts: readonly unknown[] }): readonly string[] {
  const tools = Array.isArray(agent.enabledTools) ? (agent.enabledTools as readonly EnabledTool[]) : [];
  const ofParts = agent.parts.flatMap((data) => (hasMembers(data) && typeof data.server === 'string' ? [data.server] : []));
  return [...tools.flatMap(namesIn), ...ofParts];
}

function namesIn({ type, options }: EnabledTool): readonly string[] {
  return type === 'mcp_server' ? [serverNameIn(options)] : [];
}

/** Whether somebody may have an agent use an MCP server. */
export function mayNameServer({ mcp }: Pick<Deps, 'mcp'>, { userId }: Caller, agent: Agent, server: string): boolean {
  return userId === agent.userId || mcp.findOperators(server, agent) !== undefined;
}

function refusal(param: string): string {
  return `${param}: only the owner of an AI may name a connection, because its runs use that of the owner; others may name servers of this installation`;
}
