import { DomainError } from '../../../entities/errors.ts';
import type { EnabledTool } from '../../../entities/runs/tool.ts';
import type { OpenedTool, ToolKind, ToolRun } from '../tool-kind.ts';
import { secretsFor, serverNameIn } from './given-secrets.ts';
import { openServer } from './open-server.ts';
import { type ResolveDeps, resolveServer } from './resolve.ts';
import { readAllowed } from './tool-filter.ts';

/** The tool `mcp_server`: the tools of a server of the operator, or of a connection of the user, as `server__tool`. */
export function createMcpServerKind(deps: ResolveDeps): ToolKind {
  return {
    type: 'mcp_server',
    isReadOnly: false,
    mayHaveReaders: true,
    description: 'Calls the tools of an MCP server that this installation or a connection of yours names.',
    functionNames: () => [],
    async open({ options, requireApproval, hasSecrets }: EnabledTool, run: ToolRun): Promise<OpenedTool> {
      const name = serverNameIn(options);
      if (name === '')
        throw new DomainError('MISSING_REQUIRED_PARAMETER', 'tools: mcp_server must have server', { param: 'tools' });
      const endpoint = await resolveServer(deps, name, {
        plan: run.plan,
        secrets: hasSecrets === true ? secretsFor(name, run.secrets) : run.secrets,
      });
      return openServer({
        servers: deps.servers,
        endpoint,
        run,
        allowed: readAllowed(options.allowed_tools),
        serverDescription: options.server_description,
        requiresApproval: () => requireApproval === true,
      });
    },
  };
}
