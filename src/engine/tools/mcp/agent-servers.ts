import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { JsonObject, RunnableTool } from '../../../entities/agents/part.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { McpRun, OpenedTool, ToolRun } from '../tool-kind.ts';
import { type OpenedServer, openServer } from './open-server.ts';
import { type ResolveDeps, resolveAgentServer, serverFault } from './resolve.ts';
import { type AllowedTools, readAllowed } from './tool-filter.ts';
import { serverUnavailable } from './unavailable.ts';

/** Opens the MCP servers of an agent for a run that offers the agent's tools; a plain value when it has none. */
export type AgentServers = (
  agentId: string,
  run: ToolRun,
  version?: number | null,
) => readonly OpenedTool[] | Promise<readonly OpenedTool[]>;

export interface AgentServersDeps extends ResolveDeps {
  readonly storage: ResolveDeps['storage'] & Pick<Storage, 'agents'>;
  now(): Date;
}

/** Finds the agent and opens its servers. */
export function createAgentServers(deps: AgentServersDeps): AgentServers {
  const open = (agent: RunnableAgent | undefined, run: ToolRun) =>
    agent?.tools.some(({ type }) => type === 'MCP_SERVER') === true ? openAgentServers(deps, agent, run) : [];
  return (agentId, run, version) => {
    const agent = deps.storage.agents.findRunnable(agentId, deps.now().getTime(), version);
    return agent instanceof Promise ? agent.then((loadedAgent) => open(loadedAgent, run)) : open(agent, run);
  };
}

/**
 * Opens the MCP servers that an agent has as tools, all at once. One that cannot be used gives no functions, and the model reads why.
 *
 * @throws the reason of the run's signal.
 */
async function openAgentServers(
  deps: ResolveDeps,
  agent: Pick<RunnableAgent, 'id' | 'orgId' | 'tools'>,
  run: ToolRun,
): Promise<readonly OpenedTool[]> {
  const servers = agent.tools.filter(({ type }) => type === 'MCP_SERVER');
  return Promise.all(
    servers.map(async (tool): Promise<OpenedTool> => {
      try {
        return await openAgentServer(deps, agent, tool, run);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        const instructions = `The tools of ${tool.name} are not available in this run: ${error.message}`;
        // Of data that names no server, the caller is told before the run.
        const isTold = serverFault(tool.data) !== undefined;
        return { functions: [], instructions, warnings: isTold ? [] : [serverUnavailable(tool.name, 'agent', error.message)] };
      }
    }),
  );
}

/**
 * Opens one MCP server that an agent has as a tool.
 *
 * @param isAnew  asks the server for its tools, also when they are known.
 * @throws DomainError when its data names no server that can be used; the reason of the run's signal.
 */
export async function openAgentServer(
  deps: ResolveDeps,
  agent: Pick<RunnableAgent, 'id' | 'orgId'>,
  tool: Pick<RunnableTool, 'name' | 'data'>,
  run: McpRun,
  isAnew = false,
): Promise<OpenedServer> {
  return openServer({
    servers: deps.servers,
    endpoint: await resolveAgentServer(deps, agent, tool, run),
    run,
    isAnew,
    namedBy: 'agent',
    allowed: readAllowedTools(tool.data),
    requiresApproval: () => tool.data.requireApproval === true,
  });
}

/** The tools of its server that a tool of type MCP_SERVER allows. */
export function readAllowedTools({ allowedTools, allowed_tools }: JsonObject): AllowedTools {
  return readAllowed(allowedTools ?? allowed_tools);
}
