import type { RunnableTool } from '../../../entities/agents/part.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Connection } from '../../../entities/knowledge/connection.ts';
import { isObject, readStringMembers } from '../../../lib/json/json.ts';
import type { ConnectionScope } from '../../../storage/knowledge/connections/connections.ts';
import type { Storage } from '../../../storage/storage.ts';
import { openSecrets as openConnection } from '../../knowledge/connections/secrets.ts';
import type { AgentRights, RightsOfAgent } from '../agents/agent-rights.ts';
import { splitAddress } from '../api-function/address.ts';
import { openSecrets as openAgentSecrets } from '../secrets/bound-secrets.ts';
import type { McpRun } from '../tool-kind.ts';
import type { HttpEndpoint, McpEndpoint } from './endpoint.ts';
import { fillAddress, fillHeaders } from './secret-headers.ts';
import type { McpServers } from './servers.ts';
import type { OperatorServer } from './servers-file.ts';

export interface ResolveDeps {
  readonly servers: McpServers;
  readonly storage: Pick<Storage, 'agents' | 'knowledge' | 'vault'>;
  readonly rightsOfAgent: RightsOfAgent;
}

/** Who asks, and the secrets that may fill `{{secret:KEY}}` of the server that is looked for. */
type Asking = Pick<McpRun, 'plan' | 'secrets'>;

/**
 * Finds the server that a run names: one of the operator's by its name, else a connection of the run's user by its id or name. Another
 * user's connection is missing: its secrets are that user's.
 *
 * @throws DomainError INVALID_VALUE for a server that is missing, or a secret without a value.
 */
export async function resolveServer({ servers, storage }: ResolveDeps, name: string, run: Asking): Promise<McpEndpoint> {
  const { charge } = run.plan;
  const { secrets } = run;
  const operators = servers.findOperators(name, charge);
  if (operators !== undefined) return operatorsEndpoint(operators, secrets);
  const scope = { orgId: charge.orgId, ownerUserId: charge.userId };
  const connection = isId('mcpServer', name)
    ? await storage.knowledge.connections.find(name, scope)
    : await storage.knowledge.connections.findMcpServer(name, scope);
  if (connection?.kind !== 'MCP_SERVER' || connection.baseUrl === null) throw missingServer(name, servers.operatorNames(charge));
  return connectionEndpoint({ servers, storage }, { ...connection, baseUrl: connection.baseUrl }, run);
}

async function operatorsEndpoint(server: OperatorServer, secrets: Readonly<Record<string, string>>): Promise<McpEndpoint> {
  if (!('command' in server)) {
    const { name, url } = server;
    return { kind: 'http', name, url, headers: await fillHeaders(server.headers, () => valuesIn(secrets)), isTrusted: true };
  }
  const { name, command, args, env, cwd } = server;
  return { kind: 'program', name, command, args, env, cwd, isTrusted: true };
}

async function connectionEndpoint(
  { servers, storage }: Pick<ResolveDeps, 'servers' | 'storage'>,
  connection: Connection & { readonly baseUrl: string },
  { plan, secrets }: Asking,
): Promise<HttpEndpoint> {
  const { name, baseUrl: url } = connection;
  const connectionSecrets = (await openConnection(storage, connection)) ?? {};
  const headers = await fillHeaders(connectionSecrets.headers ?? {}, () => valuesIn(secrets));
  const isGiven = Object.keys(headers).some((header) => header.toLowerCase() === 'authorization');
  const token = isGiven ? {} : { token: servers.tokens.open(connection, connectionSecrets, plan.charge) };
  return { kind: 'http', name, url, headers, isTrusted: false, ...token };
}

/**
 * Finds the server that an agent names as its standing configuration: one of the operator's, a connection that the user of the run granted to the
 * agent, else a connection of the agent's owner. Any other connection of the user is missing.
 *
 * @throws DomainError INVALID_VALUE for a server that is missing, or a secret without a value.
 */
export async function resolveStandingServer(deps: ResolveDeps, name: string, run: Asking, agentId: string): Promise<McpEndpoint> {
  const { servers, storage } = deps;
  const rights = await deps.rightsOfAgent(run.plan, agentId);
  const operators = servers.findOperators(name, rights);
  if (operators !== undefined) return operatorsEndpoint(operators, run.secrets);
  const { orgId, userId } = run.plan.charge;
  const standingConnection = await grantedConnection(storage, name, { orgId, ownerUserId: userId }, rights.connectionIds);
  const connection = standingConnection ?? (await ownersConnection(storage, name, rights.owner));
  if (connection?.kind !== 'MCP_SERVER' || connection.baseUrl === null) {
    throw new DomainError('INVALID_VALUE', `There is no MCP server ${JSON.stringify(name.slice(0, 100))} for this agent`);
  }
  return connectionEndpoint(deps, { ...connection, baseUrl: connection.baseUrl }, run);
}

/** The granted connection that a name or an id means; of two with one name, the one that was granted first. */
export async function grantedConnection(
  { knowledge: { connections } }: Pick<ResolveDeps['storage'], 'knowledge'>,
  name: string,
  scope: Required<ConnectionScope>,
  connectionIds: readonly string[],
): Promise<Connection | undefined> {
  const candidates = await Promise.all(connectionIds.map((id) => connections.find(id, scope)));
  return candidates.find((one) => one !== undefined && (one.id === name || one.name === name));
}

/** The connection of an agent's owner that a name or an id means. */
export async function ownersConnection(
  { knowledge: { connections } }: Pick<ResolveDeps['storage'], 'knowledge'>,
  name: string,
  owner: AgentRights['owner'],
): Promise<Connection | undefined> {
  if (owner === undefined) return undefined;
  const scope = { orgId: owner.orgId, ownerUserId: owner.userId };
  return isId('mcpServer', name) ? connections.find(name, scope) : connections.findMcpServer(name, scope);
}

/**
 * The server of an agent's tool of type MCP_SERVER. Its `data` has a `url` with `headers`, or a `server` to find as standing configuration.
 * Secrets that the request gives with a server of its own are not for this one, also when the names are equal.
 *
 * @throws DomainError INVALID_VALUE for data that names no server, and like `resolveStandingServer`.
 */
export async function resolveAgentServer(
  deps: ResolveDeps,
  agent: { readonly id: string; readonly orgId: string },
  { name, data }: Pick<RunnableTool, 'name' | 'data'>,
  run: Asking,
): Promise<McpEndpoint> {
  if (typeof data.server === 'string') return { ...(await resolveStandingServer(deps, data.server, run, agent.id)), name };
  const address = typeof data.url === 'string' ? splitAddress(data.url) : undefined;
  if (typeof data.url !== 'string' || address === undefined) {
    throw new DomainError('INVALID_VALUE', `The MCP server ${name} cannot be used: ${serverFault(data) ?? ''}`);
  }
  const { origin } = address;
  const { secrets: own } = run;
  const loadValues = async (keys: readonly string[]) => {
    const missing = keys.filter((key) => !Object.hasOwn(own, key));
    const storedSecrets = missing.length === 0 ? [] : await openAgentSecrets(deps.storage, agent, missing, origin);
    return new Map([...storedSecrets, ...valuesIn(own)]);
  };
  const headers = await fillHeaders({ ...readStringMembers(data.headers), ...authHeader(data.auth) }, loadValues);
  const url = await fillAddress(data.url.trim(), loadValues);
  return { kind: 'http', name, url, headers, isTrusted: false };
}

/** Why the data of a tool of type MCP_SERVER names no server, as the end of a sentence; undefined when it names one. */
export function serverFault({ server, url, command }: RunnableTool['data']): string | undefined {
  if (typeof server === 'string' || (typeof url === 'string' && splitAddress(url) !== undefined)) return undefined;
  return command === undefined || command === null
    ? 'its data has neither url (an http or https address) nor server (a name, or the id of a connection)'
    : 'it is a program; only the operator of the service can configure those (MCP_SERVERS_FILE)';
}

/** `auth` as API functions have it; a query cannot hold it. */
function authHeader(auth: unknown): Readonly<Record<string, string>> {
  if (!isObject(auth)) return {};
  const { type, name, secretKey, value, token } = auth;
  const authText = [value, token].find((one) => typeof one === 'string') as string | undefined;
  const credential = typeof secretKey === 'string' ? `{{secret:${secretKey}}}` : authText;
  if (credential === undefined) return {};
  if (type === 'bearerToken') return { authorization: `Bearer ${credential}` };
  return type === 'apiKey' || type === 'header' ? { [typeof name === 'string' ? name : 'x-api-key']: credential } : {};
}

function valuesIn(secrets: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(secrets));
}

function missingServer(name: string, serverNames: readonly string[]): DomainError {
  const others = serverNames.length === 0 ? '' : `; servers of this installation: ${serverNames.slice(0, 20).join(', ')}`;
  const message = `There is no MCP server ${JSON.stringify(name.slice(0, 100))} for you: it must be the name of one of this installation, or the name or id of a connection of yours${others}`;
  return new DomainError('INVALID_VALUE', message, { param: 'tools' });
}
