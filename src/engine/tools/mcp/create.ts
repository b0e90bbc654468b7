import type { Logger } from 'pino';
import type { Settings } from '../../../settings.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Egress, EgressOptions } from '../../egress/egress.ts';
import { createEgress } from '../../egress/egress.ts';
import { openOrganizationClient } from '../../knowledge/connections/secrets.ts';
import type { Pools } from '../../sharing/pools.ts';
import { McpAuthorization } from './authorization/authorization.ts';
import { TokenSources } from './authorization/token-sources.ts';
import { McpServers } from './servers.ts';
import { readServersFile } from './servers-file.ts';

/** Time to connect to an MCP server and list its tools, the start of its program included. */
const startTimeoutMs = 30_000;
/** Time for one call of a tool of an MCP server. */
const callTimeoutMs = 60_000;
/** Largest answer of an MCP server that is read. */
const replyBytesMax = 8 * 1024 * 1024;
/** A session with an MCP server, or its program, ends after so long without a call. */
const idleTimeoutMs = 300_000;
/** Age at which an MCP server's list of tools is fetched again. */
const toolsTtlMs = 300_000;

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
  readonly storage: Storage;
  /** Of links to this service, without a slash at the end. */
  publicUrl(): string;
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
  const authorization = new McpAuthorization({
    ...deps,
    findClient: (orgId, by) => openOrganizationClient(deps.storage, orgId, by),
  });
  const allow = [everywhere, ...hosts.filter((host) => !/[:[]/.test(host))].join(',');
  const servers = new McpServers({
    ...deps,
    file,
    authorization,
    tokens: new TokenSources({ ...deps, authorization }),
    operatorEgress: createEgress({ ...egressOptions, allow }),
    places: pools.admission('mcp-sessions', {
      max: settings.MCP_SESSIONS_MAX,
      what: 'sessions with MCP servers',
      organizationMax: Math.ceil(settings.MCP_SESSIONS_MAX / 4),
    }),
    startTimeoutMs,
    callTimeoutMs,
    replyBytesMax,
    idleTimeoutMs,
    toolsTtlMs,
    resultCharsMax: settings.TOOL_RESULT_MAX_CHARS,
  });
  const { logger, storage } = deps;
  storage.signals.subscribe('connection-changed', (connectionId) => {
    servers
      .connectionChanged(connectionId)
      .catch((error: unknown) => logger.warn({ err: error, connectionId }, 'sessions of a connection were not looked at'));
  });
  return servers;
}
