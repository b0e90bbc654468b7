import { callTool } from '../../../engine/runs/calls/call-tool.ts';
import type { CallEnd } from '../../../engine/runs/calls/open-call.ts';
import { openRunFiles } from '../../../engine/runs/calls/run-files.ts';
import { apiTool } from '../../../engine/tools/agents/agent-tools.ts';
import { openAgentServer, readAllowedTools } from '../../../engine/tools/mcp/agent-servers.ts';
import type { McpTools } from '../../../engine/tools/mcp/listing.ts';
import { isAllowed } from '../../../engine/tools/mcp/tool-filter.ts';
import type { CallPass, ServerTool } from '../../../engine/tools/server-tool.ts';
import type { McpRun } from '../../../engine/tools/tool-kind.ts';
import type { AgentView } from '../../../entities/agents/agent.ts';
import type { AgentTool } from '../../../entities/agents/part.ts';
import type { ListedTool } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { editablePart, type PartPlace } from '../../agents/parts/access.ts';
import type { Deps } from '../../deps.ts';
import { chargeTo } from '../../ground/charges.ts';
import { createRightsOfAgent } from './agent-rights.ts';

/** One call of a tool of an agent, outside a run. */
export interface ToolTrial extends CallEnd {
  readonly durationMs: number;
}

export interface TrialInput {
  readonly arguments?: unknown;
  /** Of an MCP server: the tool to call, by its name there. */
  readonly tool?: string | null | undefined;
}

/**
 * Calls a tool of an agent once, as a run of the caller would: with the agent's secrets, the same bounds and the same guard. Who tries it approves it.
 * The audit log has its entry before the call.
 *
 * @returns what the model would read; a tool that fails is no error here.
 * @throws DomainError NOT_FOUND; FORBIDDEN for who may not edit the agent; INVALID_VALUE for a function of the client, and for a tool that the
 * server does not offer.
 */
export async function tryAgentTool(
  deps: Deps,
  caller: Caller,
  place: PartPlace,
  input: TrialInput,
  signal: AbortSignal,
): Promise<ToolTrial> {
  const { agent, part } = await editablePart(deps, caller, 'tools', place);
  requireRunsHere(part);
  if (part.type === 'API_FUNCTION' && input.tool !== undefined && input.tool !== null) {
    throw new DomainError('INVALID_VALUE', 'tool names a tool of an MCP server; an API function is called by its id alone', {
      param: 'tool',
    });
  }
  const run = trialRun(deps, caller, agent, signal);
  const tool = part.type === 'API_FUNCTION' ? apiTool(deps, agent, part) : await serverTool(deps, agent, part, run, input.tool);
  const { id } = part;
  await deps.audit.change(caller, async () => ({ id, orgId: agent.orgId }));
  const { charge } = run.plan;
  const pass: CallPass = { key: `${charge.runId}:trial`, isFresh: () => true, renew: async () => undefined };
  const call = { name: part.name, tool: tool.countedFor?.(charge) ?? tool, args: JSON.stringify(input.arguments ?? {}) };
  const context = { secrets: {}, logger: deps.logger, mask: undefined, tell: () => undefined, files: run.files, pass };
  const startedAtMs = performance.now();
  const callEnd = await callTool(call, context, signal);
  return { ...callEnd, durationMs: Math.round(performance.now() - startedAtMs) };
}

/** What the server of a tool offers now. */
export interface ServerListing {
  readonly agentId: string;
  readonly tools: readonly OfferedTool[];
  /** How many more the server has than runs offer. */
  readonly leftOutCount: number;
  /** Why the server cannot be used now, for a person; null when it can. */
  readonly unavailableReason: string | null;
}
export interface OfferedTool {
  readonly tool: ListedTool;
  /** Whether runs may call it. */
  readonly isAllowed: boolean;
}

/**
 * Asks the MCP server of a tool which tools it has, with the credentials of the agent.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for who may not edit the agent; INVALID_VALUE for a tool of another type.
 */
export async function listServerTools(deps: Deps, caller: Caller, place: PartPlace, signal: AbortSignal): Promise<ServerListing> {
  const { agent, part } = await editablePart(deps, caller, 'tools', place);
  if (part.type !== 'MCP_SERVER') {
    throw new DomainError('INVALID_VALUE', `${part.name} is no MCP server, and lists no tools`, { param: 'id' });
  }
  deps.audit.read(caller, 'instructions', [agent]);
  const { found: mcpTools, error } = await openTrialServer(deps, agent, part, trialRun(deps, caller, agent, signal), true);
  const allowedTools = readAllowedTools(part.data);
  const tools = (mcpTools?.tools ?? []).map((tool) => ({ tool, isAllowed: isAllowed(tool, allowedTools) }));
  return { agentId: agent.id, tools, leftOutCount: mcpTools?.leftOut ?? 0, unavailableReason: error?.message ?? null };
}

function requireRunsHere({ type, name }: AgentTool): void {
  if (type !== 'CLIENT_FUNCTION') return;
  const message = `${name} is a function of the client: the program that talks with the agent carries it out, so it cannot be tried here`;
  throw new DomainError('INVALID_VALUE', message, { param: 'id' });
}

/** The run that a call outside a run stands for: that of the caller, without a chat. */
function trialRun(deps: Deps, caller: Caller, agent: AgentView, signal: AbortSignal): McpRun {
  const charge = chargeTo(caller, { agentId: agent.id, runId: deps.newId('completion') });
  return { plan: { charge }, secrets: {}, signal, files: openRunFiles(deps, { charge }) };
}

interface OpenedServerOf {
  readonly found: McpTools | undefined;
  readonly functions: readonly ServerTool[];
  /** Why it cannot be used now. */
  readonly error: DomainError | undefined;
}

async function openTrialServer(
  deps: Deps,
  agent: AgentView,
  part: AgentTool,
  run: McpRun,
  isAnew: boolean,
): Promise<OpenedServerOf> {
  const serverDeps = { servers: deps.mcp, storage: deps.storage, rightsOfAgent: createRightsOfAgent(deps) };
  try {
    const { found: mcpTools, functions, error } = await openAgentServer(serverDeps, agent, part, run, isAnew);
    return { found: mcpTools, functions, error: error === null ? undefined : new DomainError('MCP_UNAVAILABLE', error) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { found: undefined, functions: [], error };
  }
}

/** The tool of the part's server that is tried; of a server that cannot be used, one that says why. */
async function serverTool(
  deps: Deps,
  agent: AgentView,
  part: AgentTool,
  run: McpRun,
  name: string | null | undefined,
): Promise<Pick<ServerTool, 'run' | 'countedFor'>> {
  if (name === undefined || name === null) {
    throw new DomainError('MISSING_REQUIRED_PARAMETER', 'tool must name the tool of the server', { param: 'tool' });
  }
  const { found: mcpTools, functions, error } = await openTrialServer(deps, agent, part, run, false);
  if (error !== undefined) return { run: () => Promise.reject(error) };
  const allowedTools = readAllowedTools(part.data);
  const index = mcpTools?.tools.filter((tool) => isAllowed(tool, allowedTools)).findIndex((tool) => tool.name === name) ?? -1;
  const trialTool = functions[index];
  if (trialTool !== undefined) return trialTool;
  const message = `The server offers no tool ${JSON.stringify(name.slice(0, 100))} to this agent`;
  throw new DomainError('INVALID_VALUE', message, { param: 'tool' });
}
