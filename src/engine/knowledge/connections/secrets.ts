import type { Connection, ConnectionSecrets } from '../../../entities/knowledge/connection.ts';
import type { McpOauthClient } from '../../../entities/knowledge/mcp-oauth-client.ts';
import { attemptPlace, type ConnectionAttempt } from '../../../storage/knowledge/connections/attempts.ts';
import { connectionPlace } from '../../../storage/knowledge/connections/connections.ts';
import { mcpOauthClientPlace } from '../../../storage/knowledge/connections/mcp-oauth-clients.ts';
import type { Storage } from '../../../storage/storage.ts';

/** The secrets of a connection; undefined when it was deleted. Never given to an API. */
export async function openSecrets(
  { vault, knowledge: { connections } }: Pick<Storage, 'knowledge' | 'vault'>,
  connection: Pick<Connection, 'id' | 'orgId'>,
): Promise<ConnectionSecrets | undefined> {
  const sealedText = await connections.findSealed(connection.id);
  if (sealedText === undefined) return undefined;
  return JSON.parse(await vault.open(connectionPlace(connection), sealedText)) as ConnectionSecrets;
}

export function sealSecrets(
  { vault }: Pick<Storage, 'vault'>,
  connection: Pick<Connection, 'id' | 'orgId'>,
  secrets: ConnectionSecrets,
): Promise<string> {
  return vault.seal(connectionPlace(connection), JSON.stringify(secrets));
}

/** What is kept of a person who is on the way to another service. */
export async function openAttempt({ vault }: Pick<Storage, 'vault'>, attempt: ConnectionAttempt): Promise<unknown> {
  return JSON.parse(await vault.open(attemptPlace(attempt), attempt.sealed));
}

export function sealAttempt(
  { vault }: Pick<Storage, 'vault'>,
  attempt: Pick<ConnectionAttempt, 'id' | 'orgId'>,
  content: object,
): Promise<string> {
  return vault.seal(attemptPlace(attempt), JSON.stringify(content));
}

type OpenedClient = Pick<McpOauthClient, 'id' | 'issuer' | 'clientId' | 'scopes'> & { readonly clientSecret?: string };

/** The client that an organization has at the authorization server of an MCP server, with its secret. Cost: one statement. */
export async function openOrganizationClient(
  { vault, knowledge: { mcpOauthClients } }: Pick<Storage, 'knowledge' | 'vault'>,
  orgId: string,
  by: { readonly id: string } | { readonly url: string },
): Promise<OpenedClient | undefined> {
  const client = await mcpOauthClients.findSealed(orgId, by);
  if (client === undefined) return undefined;
  const { id, issuer, clientId, scopes, sealed } = client;
  const secret = await vault.open(mcpOauthClientPlace(client), sealed);
  return { id, issuer, clientId, scopes, ...(secret === '' ? {} : { clientSecret: secret }) };
}
