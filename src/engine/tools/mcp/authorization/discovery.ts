import type { AuthorizationServerMetadata, FetchLike } from '@modelcontextprotocol/client';
import { SourceError } from '../../../knowledge/connectors/error.ts';

/** Where an MCP server has its tokens from. */
export interface Discovery {
  readonly server: AuthorizationServerMetadata;
  /** As the metadata of the resource names it; null for a server without such metadata. */
  readonly resource: string | null;
  /** The scopes to ask for, as far as the server says, separated by spaces. */
  readonly scope: string | undefined;
}

/** Requests without a token: the refusal says where tokens come from. Some servers let anybody begin, so the first one is not `initialize`. */
const probes = [
  { jsonrpc: '2.0', id: 0, method: 'tools/list', params: {} },
  {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'Parley', version: '1' } },
  },
];
const probeHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/**
 * Finds the authorization server of an MCP server: by the resource metadata (RFC 9728) that its refusal names, or at the well-known address; else the
 * server's own origin, as in the revision of 2025-03-26. Its metadata (RFC 8414, OpenID Connect) must name itself as the issuer, and PKCE with S256.
 *
 * @throws SourceError BAD_REPLY for metadata that is missing or names another resource; and what the SDK throws.
 */
export async function discover(serverUrl: string, fetch: FetchLike): Promise<Discovery> {
  const sdk = await import('@modelcontextprotocol/client');
  const challenge = await findChallenge(serverUrl, fetch);
  const resource = await findResource(serverUrl, challenge.resourceMetadataUrl, fetch);
  const [issuer = new URL('/', serverUrl).href] = resource?.authorization_servers ?? [];
  const server = await sdk.discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  if (server === undefined) {
    const message = 'This MCP server names no authorization server that can be found: there is nothing to sign in to.';
    throw new SourceError('BAD_REPLY', message);
  }
  requireSafe(server, sdk.assertSecureTokenEndpoint);
  const scope = challenge.scope ?? resource?.scopes_supported?.join(' ');
  return { server, resource: resource?.resource ?? null, scope: scope === '' ? undefined : scope };
}

/** What the refusal of a request without a token says; nothing where none is refused. */
async function findChallenge(serverUrl: string, fetch: FetchLike) {
  const sdk = await import('@modelcontextprotocol/client');
  for (const probe of probes) {
    const reply = await fetch(serverUrl, { method: 'POST', headers: probeHeaders, body: JSON.stringify(probe) });
    await reply.body?.cancel();
    if (reply.status === 401) return sdk.extractWWWAuthenticateParams(reply);
  }
  return {};
}

async function findResource(serverUrl: string, resourceMetadataUrl: URL | undefined, fetch: FetchLike) {
  const sdk = await import('@modelcontextprotocol/client');
  const options = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
  const resource = await sdk.discoverOAuthProtectedResourceMetadata(serverUrl, options, fetch).catch((error: unknown) => {
    // The SDK has no class of its own for metadata that is not there. Where the server named its address, it must be there.
    const isMissing = error instanceof Error && /does not implement|^HTTP 4\d\d /.test(error.message);
    if (isMissing && resourceMetadataUrl === undefined) return undefined;
    throw error;
  });
  if (resource === undefined) return undefined;
  const requestedResource = sdk.resourceUrlFromServerUrl(serverUrl);
  if (!sdk.checkResourceAllowed({ requestedResource, configuredResource: resource.resource })) {
    const message = `The metadata of the MCP server is for another resource (${resource.resource.slice(0, 200)}): no token is asked for.`;
    throw new SourceError('BAD_REPLY', message);
  }
  return resource;
}

/** Codes and secrets go only to addresses that are safe, and codes only where PKCE binds them to us. */
function requireSafe(server: AuthorizationServerMetadata, assertSecure: (url: string) => URL): void {
  const addresses = [server.authorization_endpoint, server.token_endpoint, server.registration_endpoint];
  for (const address of addresses) {
    if (typeof address !== 'string') continue;
    try {
      assertSecure(address);
    } catch {
      throw new SourceError('BAD_REPLY', `The authorization server has an address without https: ${new URL(address).host}.`);
    }
  }
  if (server.code_challenge_methods_supported?.includes('S256') !== true) {
    throw new SourceError(
      'BAD_REPLY',
      'The authorization server does not say that it supports PKCE with S256, without which no code is safe.',
    );
  }
}
