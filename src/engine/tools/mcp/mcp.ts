import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { OpenedTool, ToolKind, ToolRun } from '../tool-kind.ts';
import type { HttpEndpoint } from './endpoint.ts';
import { digestTools } from './listing-digest.ts';
import { openServer } from './open-server.ts';
import { toRequestHeaders } from './request-secrets.ts';
import { isHeaderText } from './secret-headers.ts';
import type { McpServers } from './servers.ts';
import { isAllowed, readAllowed, readApproval } from './tool-filter.ts';

/** The tool `mcp` of the common format: a server that the request names by its address. */
export function createMcpKind({ servers }: { readonly servers: McpServers }): ToolKind {
  return {
    type: 'mcp',
    isReadOnly: false,
    description: 'Calls the tools of an MCP server at an address that the request names.',
    functionNames: () => [],
    async open(
      { options, requireApproval, listed: listedTools, shownListing, hasSecrets }: EnabledTool,
      run: ToolRun,
    ): Promise<OpenedTool> {
      const endpoint = toEndpoint(options, hasSecrets === true ? run.secrets : {});
      const allowedTools = readAllowed(options.allowed_tools);
      const asks = readApproval(options.require_approval);
      const {
        found: mcpTools,
        error,
        ...openedTools
      } = await openServer({
        servers,
        endpoint,
        run,
        namedBy: 'request',
        allowed: allowedTools,
        serverDescription: options.server_description,
        ...(listedTools === undefined ? {} : { listed: listedTools }),
        requiresApproval: (tool) => requireApproval === true || asks(tool),
        form: (tool) => ({ type: 'mcp', serverLabel: endpoint.name, tool: tool.name }),
      });
      // The caller has this listing already.
      if (listedTools !== undefined) return openedTools;
      const tools = mcpTools?.tools.filter((tool) => isAllowed(tool, allowedTools)) ?? [];
      if (mcpTools !== undefined && shownListing === digestTools(tools)) return openedTools;
      return { ...openedTools, listings: [{ serverLabel: endpoint.name, tools, error }] };
    },
  };
}

/** @throws DomainError naming the member that is missing or wrong. */
function toEndpoint({ server_label, server_url, connector_id }: WireObject, secrets: ToolRun['secrets']): HttpEndpoint {
  const label = typeof server_label === 'string' ? server_label : '';
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(label)) {
    throw wrong('INVALID_VALUE', 'server_label must be a letter, then at most 63 letters, digits, _ or -');
  }
  if (connector_id !== undefined)
    throw wrong('UNSUPPORTED_VALUE', 'connector_id is not served here; name the server by server_url');
  const url = typeof server_url === 'string' ? URL.parse(server_url) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw wrong('INVALID_VALUE', 'server_url must be an http or https address without a user name or password');
  }
  const headers = toRequestHeaders(label, secrets);
  const bad = Object.entries(headers).find(
    ([name, value]) => !/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/i.test(name) || !isHeaderText(value),
  );
  if (bad !== undefined) throw wrong('INVALID_VALUE', `headers: ${bad[0].slice(0, 100)} is no header that can be sent`);
  return { kind: 'http', name: label, url: url.href, headers, isTrusted: false };
}

function wrong(code: 'INVALID_VALUE' | 'UNSUPPORTED_VALUE', message: string): DomainError {
  return new DomainError(code, `tools: mcp: ${message}`, { param: 'tools' });
}
