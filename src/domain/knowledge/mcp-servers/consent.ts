import type { ConnectedAccount } from '../../../engine/knowledge/connections/connect.ts';
import { openSecrets, sealSecrets } from '../../../engine/knowledge/connections/secrets.ts';
import type { PendingConsent } from '../../../engine/tools/mcp/authorization/authorization.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Connection } from '../../../entities/knowledge/connection.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { getConnection, ownsConnection } from '../connections.ts';
import { type McpClientInput, readMcpClient, readMcpScopes, toConnectError } from './tokens.ts';

/** Which MCP server a person signs in to, and how. */
export interface McpConsentInput extends McpClientInput {
  readonly connectionId?: string | null | undefined;
}

/** A person who is on the way to the authorization server of an MCP server. */
export interface McpConsent {
  readonly connectionId: string;
  readonly pending: PendingConsent;
  /** Of the MCP server. */
  readonly host: string;
}

/**
 * Begins the sign-in to the MCP server of a connection of the caller: its metadata says where. A connection that nobody has signed in to yet says so
 * from now on.
 *
 * @throws DomainError MISSING_REQUIRED_PARAMETER, NOT_FOUND, FORBIDDEN; INVALID_VALUE of `connectionId` for a server that cannot be signed in to,
 * with the reason; OVERLOADED when the authorization server does not answer.
 */
export async function beginMcpConsent(
  deps: Deps,
  caller: Caller,
  { connectionId, ...clientInput }: McpConsentInput,
  { state, redirectUri }: { readonly state: string; readonly redirectUri: string },
  signal: AbortSignal,
): Promise<{ readonly url: string; readonly mcp: McpConsent }> {
  if (connectionId === undefined || connectionId === null) {
    const message = 'connectionId must name the connection with the MCP server; POST /api/v1/connections/mcp-servers stores one';
    throw new DomainError('MISSING_REQUIRED_PARAMETER', message, { param: 'connectionId' });
  }
  const faults = new Faults();
  const client = readMcpClient(clientInput, faults);
  const scopes = clientInput.scopes ?? undefined;
  if (client === undefined && scopes !== undefined) readMcpScopes(scopes, faults);
  faults.throwIfAny();
  const connection = await getConnection(deps, caller, connectionId);
  if (!ownsConnection(caller, connection)) throw new DomainError('FORBIDDEN', 'Only its owner may sign in to a connection');
  if (connection.kind !== 'MCP_SERVER' || connection.baseUrl === null) {
    throw new DomainError('INVALID_VALUE', 'connectionId is no connection with an MCP server', { param: 'connectionId' });
  }
  const secrets = (await openSecrets(deps.storage, connection)) ?? {};
  if (secrets.headers?.authorization !== undefined) {
    const message = 'The connection sends a header authorization of its own: store the server without it to sign in';
    throw new DomainError('INVALID_VALUE', message, { param: 'connectionId' });
  }
  const { mcp } = deps;
  const before = secrets.mcp;
  try {
    const { url, pending } = await mcp.authorization.begin(
      connection.baseUrl,
      caller,
      { state, redirectUri, client, scopes, before },
      signal,
    );
    if (before === undefined) await deps.storage.knowledge.connections.requireSignIn(connectionId);
    const { host } = new URL(connection.baseUrl);
    return { url, mcp: { connectionId, pending, host } };
  } catch (error) {
    throw toConnectError(error, 'connectionId');
  }
}

/** @throws DomainError UNSUPPORTED_VALUE for members that have a meaning for MCP servers only. */
export function refuseConsentMembers(input: McpConsentInput): void {
  for (const [param, value] of Object.entries(input)) {
    if (value === undefined || value === null) continue;
    throw new DomainError('UNSUPPORTED_VALUE', `${param} is for the provider MCP only`, { param });
  }
}

/** Turns the answer of the authorization server into tokens. @throws SourceError; DomainError NOT_FOUND for a connection that is gone. */
export async function finishMcpConsent(
  deps: Deps,
  caller: Caller,
  { connectionId, pending }: McpConsent,
  answer: { readonly code: string; readonly iss: string | undefined },
  signal: AbortSignal,
): Promise<ConnectedAccount> {
  const connection = await getConnection(deps, caller, connectionId);
  const tokens = await deps.mcp.authorization.finish(pending, answer, caller, signal);
  return { ...tokens, name: connection.name, installationId: null };
}

/** Stores the tokens of a consent that the person has confirmed. @throws DomainError NOT_FOUND for a connection that is gone. */
export async function storeMcpTokens(
  deps: Deps,
  caller: Caller,
  connectionId: string,
  { secrets, scopes, expiresAt }: ConnectedAccount,
): Promise<Connection> {
  const connection = await getConnection(deps, caller, connectionId);
  const { headers } = (await openSecrets(deps.storage, connection)) ?? {};
  const sealed = await sealSecrets(deps.storage, connection, { ...(headers === undefined ? {} : { headers }), ...secrets });
  return deps.audit.change(caller, () => deps.storage.knowledge.connections.update(connectionId, { sealed, scopes, expiresAt }));
}
