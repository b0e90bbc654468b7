import type { Logger } from 'pino';
import type { Settings } from '../../../settings.ts';
import type { Egress, EgressOptions } from '../../egress/egress.ts';
import { createEgress } from '../../egress/egress.ts';
import type { Pools } from '../../sharing/pools.ts';
import { McpServers } from './servers.ts';
import { readServersFile } from './servers-file.ts';

export interface McpDeps {
  readonly settings: Settings;
  readonly pools: Pools;
  readonly egress: Egress;
  /** With which `egress` was made. */
  readonly egressOptions: EgressOptions;
  readonly logger: Logger;
  readonly version: string;
  /** `PATH` for programs. */
  readonly path: string | undefined;
  now(): Date;
}

/** Every address, with the names of this machine's own hosts: for addresses of the operator. */
const everywhere = '0.0.0.0/0,::/0';

/**
 * Makes the MCP servers of this process. No session is opened and no program is started before a run needs it.
 *
 * @throws Error when MCP_SERVERS_FILE is wrong, naming every fault.
 */
export function createMcpServers({ settings, pools, egressOptions, ...deps }: McpDeps): McpServers {
  const file = settings.MCP_SERVERS_FILE === undefined ? [] : readServersFile(settings.MCP_SERVERS_FILE);
  const hosts = file.flatMap((server) => ('url' in server ? [new URL(server.url).hostname] : []));
  const allow = [everywhere, ...hosts.filter((host) => !/[:[]/.test(host))].join(',');
  return new McpServers({
    ...deps,
    file,
    operatorEgress: createEgress({ ...egressOptions, allow }),
    places: pools.admission('mcp-sessions', {
      max: settings.MCP_SESSIONS_MAX,
      what: 'sessions with MCP servers',
      organizationMax: Math.ceil(settings.MCP_SESSIONS_MAX / 4),
    }),
    startTimeoutMs: settings.MCP_START_TIMEOUT_MS,
    callTimeoutMs: settings.MCP_CALL_TIMEOUT_MS,
    replyBytesMax: settings.MCP_REPLY_MAX_BYTES,
    idleTimeoutMs: settings.MCP_IDLE_TIMEOUT_MS,
    toolsTtlMs: settings.MCP_TOOLS_TTL_MS,
    resultCharsMax: settings.TOOL_RESULT_MAX_CHARS,
  });
}
