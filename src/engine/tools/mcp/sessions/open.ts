import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Logger } from 'pino';
import type { Egress } from '../../../egress/egress.ts';
import { masker } from '../../secrets/masking.ts';
import {
  type HttpEndpoint,
  listEndpointSecrets,
  type McpEndpoint,
  type ProgramEndpoint,
  type SessionOwner,
} from '../endpoint.ts';
import { authorizedFetch } from './authorized-fetch.ts';
import { createEgressFetch } from './egress-fetch.ts';
import { ProgramTransport } from './program-transport.ts';
import { McpSession, type SessionOptions } from './session.ts';

export interface OpenContext {
  /** For addresses that others influence. */
  readonly egress: Egress;
  /** For the operator's addresses: the same bounds, without the guard. */
  readonly operatorEgress: Egress;
  readonly logger: Logger;
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly replyBytesMax: number;
  /** `PATH` for programs. */
  readonly path: string | undefined;
}

/** Longest life of the stream of a server's own messages; a further one is opened then. */
const streamTimeoutMs = 3_600_000;

/** Opens a session. The only way into the SDK, which is loaded with the first session. @throws McpFailure */
export async function openSession(
  endpoint: McpEndpoint,
  owner: SessionOwner,
  context: OpenContext,
  options: SessionOptions,
): Promise<McpSession> {
  if (endpoint.kind === 'http') return McpSession.open(httpTransport(endpoint, owner, context), 'auto', options);
  try {
    return await McpSession.open(programTransport(endpoint, context), 'auto', options);
  } catch {
    // A program of the era of sessions may end at a request before `initialize`, so it is started again for it.
    return McpSession.open(programTransport(endpoint, context), 'legacy', options);
  }
}

function httpTransport(endpoint: HttpEndpoint, owner: SessionOwner, context: OpenContext) {
  const { url, headers, isTrusted } = endpoint;
  const { egress, operatorEgress, startTimeoutMs, callTimeoutMs, replyBytesMax } = context;
  const egressFetch = createEgressFetch({
    egress: isTrusted ? operatorEgress : egress,
    owner,
    origin: new URL(url).origin,
    bytesMax: replyBytesMax,
    timeoutMs: Math.max(startTimeoutMs, callTimeoutMs),
    streamTimeoutMs,
  });
  const fetch = authorizedFetch(egressFetch, endpoint);
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } }, fetch });
}

function programTransport(endpoint: ProgramEndpoint, { logger, path, replyBytesMax }: OpenContext): ProgramTransport {
  const mask = masker(listEndpointSecrets(endpoint));
  const onLog = (line: string) => logger.info({ mcpServer: endpoint.name, line: mask(line) }, 'an MCP server wrote');
  return new ProgramTransport(endpoint, { path, lineBytesMax: replyBytesMax, onLog });
}
