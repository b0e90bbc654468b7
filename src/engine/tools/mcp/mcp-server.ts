import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { OpenedTool, ToolKind, ToolRun } from '../tool-kind.ts';
import type { McpEndpoint } from './endpoint.ts';
import { openServer } from './open-server.ts';
import { secretsFor, serverNameIn } from './request-secrets.ts';
import { type ResolveDeps, resolveServer, resolveStandingServer } from './resolve.ts';
import { readAllowed } from './tool-filter.ts';
import { serverUnavailable } from './unavailable.ts';

/** The tool `mcp_server`: the tools of a server of the operator, or of a connection of the user, as `server__tool`. */
export function createMcpServerKind(deps: ResolveDeps): ToolKind {
  return {
    type: 'mcp_server',
    isReadOnly: false,
    mayHaveReaders: true,
    description: 'Calls the tools of an MCP server that this installation or a connection of yours names.',
    functionNames: () => [],
    async open({ options, requireApproval, hasSecrets, ofAgent }: EnabledTool, run: ToolRun): Promise<OpenedTool> {
      const open = (endpoint: McpEndpoint) =>
        openServer({
          servers: deps.servers,
          endpoint,
          run,
          namedBy: ofAgent === undefined ? 'request' : 'agent',
          allowed: readAllowed(options.allowed_tools),
          serverDescription: options.server_description,
          requiresApproval: () => requireApproval === true,
        });
      const name = serverNameIn(options);
      if (name === '')
        throw new DomainError('MISSING_REQUIRED_PARAMETER', 'tools: mcp_server must have server', { param: 'tools' });
      const secrets = hasSecrets === true ? secretsFor(name, run.secrets) : run.secrets;
      if (ofAgent === undefined) return open(await resolveServer(deps, name, { plan: run.plan, secrets }));
      try {
        return await open(await resolveStandingServer(deps, name, run, ofAgent));
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        const instructions = `The tools of ${name} are not available in this run: ${error.message}`;
        return { functions: [], instructions, warnings: [serverUnavailable(name, 'agent', error.message)] };
      }
    },
  };
}
