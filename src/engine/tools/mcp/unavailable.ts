import type { Warning } from '../../../entities/ground/warning.ts';
import type { AllowedTools } from './tool-filter.ts';

/** Whose tool names a server: what is wrong with a tool of the request is told with its member and in full. */
export type NamedBy = 'request' | 'agent';

/** That no tool of a server is offered in this run. @param reason  what a caller may read of why; absent: nothing. */
export function serverUnavailable(name: string, by: NamedBy, reason?: string): Warning {
  const why = reason === undefined ? 'the server cannot be used now' : reason;
  return {
    code: 'mcp_unavailable',
    message: `The tools of the MCP server ${name} are not offered: ${why}`,
    param: by === 'request' ? 'tools' : null,
  };
}

export function isUnavailable({ code }: Warning): boolean {
  return code === 'mcp_unavailable';
}

/** That `allowed_tools` has none of the names that a server lists. @returns none when it has one, or allows all. */
export function unknownNames(
  name: string,
  by: NamedBy,
  { names }: AllowedTools,
  listedTools: readonly { readonly name: string }[],
): readonly Warning[] {
  if (names === undefined || listedTools.some((tool) => names.includes(tool.name))) return [];
  const nameList =
    listedTools.length === 0
      ? 'none'
      : listedTools
          .slice(0, 20)
          .map((tool) => tool.name)
          .join(', ');
  const message = `No tool of the MCP server ${name} is offered: allowed_tools has none of the names that it lists (${nameList})`;
  return [{ code: 'tool_not_available', message, param: by === 'request' ? 'tools' : null }];
}
