import { SourceError } from '../../../engine/knowledge/connectors/error.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { McpOauthClient } from '../../../entities/knowledge/mcp-oauth-client.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { mcpOauthClientPlace } from '../../../storage/knowledge/connections/mcp-oauth-clients.ts';
import type { Deps } from '../../deps.ts';
import { isAdministrator } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { readServiceUrl } from '../connection-input.ts';
import { type McpClientInput, readMcpClient } from './tokens.ts';

/** Clients of one organization. */
const clientsMax = 100;

/** The client of an MCP server, for all members of the organization. */
export interface SaveMcpOauthClientInput extends McpClientInput {
  readonly url: string;
  readonly clientId: string;
}

/** The clients of the caller's organization, newest first. @throws DomainError FORBIDDEN for who is no administrator. */
export async function listMcpOauthClients(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<McpOauthClient>> {
  requireAdministrator(caller);
  return deps.storage.knowledge.mcpOauthClients.list(caller.orgId, page);
}

/** Those of the caller's organization among `ids`; none for who is no administrator. */
export async function getMcpOauthClients(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly McpOauthClient[]> {
  return isAdministrator(caller, caller.orgId) ? deps.storage.knowledge.mcpOauthClients.findMany(ids, caller.orgId) : [];
}

/** @throws DomainError FORBIDDEN for who is no administrator; NOT_FOUND. */
export async function getMcpOauthClient(deps: Deps, caller: Caller, id: string): Promise<McpOauthClient> {
  requireAdministrator(caller);
  const [client] = await getMcpOauthClients(deps, caller, [id]);
  if (client === undefined) throw missingClient();
  return client;
}

/**
 * Saves what Parley is called at the authorization server of an MCP server, in place of what was saved for that server before. Members sign in with it from
 * then on. The server is asked which authorization server it names: the secret is sent to no other.
 *
 * @throws DomainError FORBIDDEN for who is no administrator; INVALID_VALUE naming every faulty member, also `url` of a server that does not answer, or
 * that cannot be signed in to; CONFLICT when there are as many as may be.
 */
export async function saveMcpOauthClient(
  deps: Deps,
  caller: Caller,
  { url: givenUrl, ...input }: SaveMcpOauthClientInput,
  signal: AbortSignal,
): Promise<McpOauthClient> {
  requireAdministrator(caller);
  const faults = new Faults();
  const url = readServiceUrl('url', givenUrl, faults);
  const client = readMcpClient(input, faults);
  faults.throwIfAny();
  if (url === null || client === undefined) throw new Error('a client without faults is read');
  const issuer = await deps.mcp.authorization.findIssuer(url, caller, signal).catch((error: unknown) => {
    throw error instanceof SourceError ? new DomainError('INVALID_VALUE', error.message, { param: 'url' }) : error;
  });
  const { orgId } = caller;
  const { storage } = deps;
  const { mcpOauthClients } = storage.knowledge;
  const { clientId, clientSecret = '', scopes = [] } = client;
  return deps.audit.change(caller, async () => {
    const before = await mcpOauthClients.findSealed(orgId, { url });
    if (before === undefined && (await mcpOauthClients.count(orgId)) >= clientsMax)
      throw new DomainError('CONFLICT', `An organization has at most ${clientsMax} clients of MCP servers: delete one first`);
    const id = before?.id ?? deps.newId('mcpOauthClient');
    const sealed = await storage.vault.seal(mcpOauthClientPlace({ id, orgId }), clientSecret);
    const hasSecret = clientSecret !== '';
    return mcpOauthClients.set({ id, createdAt: deps.now(), orgId, url, issuer, clientId, hasSecret, sealed, scopes });
  });
}

/**
 * Deletes a client. Who signed in with it has to sign in again when the token ends.
 *
 * @returns what it was. @throws DomainError NOT_FOUND; FORBIDDEN for who is no administrator.
 */
export async function deleteMcpOauthClient(deps: Deps, caller: Caller, id: string): Promise<McpOauthClient> {
  const client = await getMcpOauthClient(deps, caller, id);
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.knowledge.mcpOauthClients.delete(id, caller.orgId))) throw missingClient();
    return client;
  });
}

function requireAdministrator(caller: Caller): void {
  if (!isAdministrator(caller, caller.orgId))
    throw new DomainError('FORBIDDEN', 'Only administrators see and change the clients of MCP servers of their organization');
}

function missingClient(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such client of an MCP server', { param: 'id' });
}
