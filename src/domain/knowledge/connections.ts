import type { z } from 'zod';
import type { ConnectedAccount } from '../../engine/knowledge/connections/connect.ts';
import { openSecrets, sealSecrets } from '../../engine/knowledge/connections/secrets.ts';
import { siteProviders, sourceKinds } from '../../engine/knowledge/connectors/registry.ts';
import { sourceJobs } from '../../engine/knowledge/queue.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import { emptyPage, type Page, type PageRequest } from '../../entities/ground/page.ts';
import {
  type Connection,
  type ConnectionKind,
  type ConnectionProvider,
  type ConnectionSecrets,
  installationIdMax,
  type OauthProvider,
} from '../../entities/knowledge/connection.ts';
import type { DataSource } from '../../entities/knowledge/data-source.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { ConnectionScope, InstallationName } from '../../storage/knowledge/connections/connections.ts';
import type { mcpServerBody } from '../../wire/connections.ts';
import type { Deps } from '../deps.ts';
import { isAdministrator, visibleDataSources } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';
import { revokeMcpTokens } from '../ground/given-back-tokens.ts';
import { readHeaders, readName, readScopes, readSecret, readServiceUrl } from './connection-input.ts';
import { readMcpClient, requestMcpTokens } from './mcp-servers/tokens.ts';

type Optional<T> = T | null | undefined;

const connectionsMax = 500;
const idKinds = { OAUTH_TOKEN: 'oauthToken', REPO_HOST_INSTALLATION: 'repoHostInstallation', MCP_SERVER: 'mcpServer' } as const;

export interface StoreOauthTokenInput {
  readonly provider: OauthProvider;
  readonly accountName: string;
  readonly accessToken: string;
  readonly refreshToken?: Optional<string>;
  readonly expiresAt?: Optional<Date>;
  readonly scopes?: Optional<readonly string[]>;
  readonly baseUrl?: Optional<string>;
}

/**
 * Stores an OAuth token of the caller. Tokens are kept in the vault and never shown again; only connectors open them.
 *
 * @throws DomainError with every fault of the input; CONFLICT beyond 500 connections.
 */
export async function storeOauthToken(deps: Deps, caller: Caller, input: StoreOauthTokenInput): Promise<Connection> {
  const faults = new Faults();
  const name = readName('accountName', input.accountName, faults);
  const accessToken = readSecret('accessToken', input.accessToken, faults);
  const refreshToken = readSecret('refreshToken', input.refreshToken ?? undefined, faults);
  const scopes = readScopes(input.scopes ?? [], faults);
  const baseUrl = readServiceUrl('baseUrl', input.baseUrl ?? undefined, faults);
  if (input.baseUrl !== undefined && input.baseUrl !== null && sourceKinds[input.provider].site === undefined) {
    const message = `baseUrl chooses a site of ${siteProviders}; the address of ${input.provider} is a setting of the operator`;
    faults.add('baseUrl', message, 'UNSUPPORTED_VALUE');
  }
  faults.throwIfAny();
  return store(deps, caller, 'OAUTH_TOKEN', input.provider, {
    name,
    baseUrl,
    scopes,
    expiresAt: input.expiresAt ?? null,
    secrets: { ...(accessToken === undefined ? {} : { accessToken }), ...(refreshToken === undefined ? {} : { refreshToken }) },
  });
}

export interface StoreRepoHostInstallationInput {
  readonly installationId: number;
  readonly accountName: string;
  readonly baseUrl?: Optional<string>;
}

/**
 * Stores an installation of the app at a repository host, by its id, for the operator. Others connect it in the browser: an id alone does not prove
 * whose installation it is.
 *
 * @throws DomainError FORBIDDEN without an INSTANCE key; with every fault of the input; CONFLICT.
 */
export async function storeRepoHostInstallation(
  deps: Deps,
  caller: Caller,
  input: StoreRepoHostInstallationInput,
): Promise<Connection> {
  const faults = new Faults();
  const name = readName('accountName', input.accountName, faults);
  const { installationId } = input;
  faults.requireRange('installationId', installationId, { min: 1, max: installationIdMax, isWhole: true });
  if (input.baseUrl !== undefined && input.baseUrl !== null) {
    faults.add(
      'baseUrl',
      'baseUrl has no effect here: the address of the repository host is GITHUB_API_URL',
      'UNSUPPORTED_VALUE',
    );
  }
  faults.throwIfAny();
  if (caller.level !== 'INSTANCE') {
    const message =
      'An installation is stored by its id with an INSTANCE key only; connect it in the browser: POST /api/v1/connections/authorize';
    throw new DomainError('FORBIDDEN', message);
  }
  return store(deps, caller, 'REPO_HOST_INSTALLATION', 'REPO_HOST', { name, baseUrl: null, installationId, secrets: {} });
}

export type StoreMcpServerInput = z.output<typeof mcpServerBody>;

/**
 * Stores the address of an MCP server with its headers. With a client, the server's authorization server is asked for the first token at once.
 *
 * @throws DomainError with every fault of the input, CONFLICT; INVALID_VALUE naming `clientId` with the reason for what the authorization server
 * refuses, OVERLOADED when it does not answer.
 */
export async function storeMcpServer(
  deps: Deps,
  caller: Caller,
  { name: givenName, url, headers: givenHeaders, ...client }: StoreMcpServerInput,
  signal: AbortSignal,
): Promise<Connection> {
  const faults = new Faults();
  const name = readName('name', givenName, faults);
  const baseUrl = readServiceUrl('url', url, faults);
  const headers = readHeaders('headers', givenHeaders ?? undefined, faults);
  const readClient = readMcpClient(client, faults);
  if (readClient === undefined && client.scopes !== undefined && client.scopes !== null) {
    faults.add('scopes', 'scopes must come with clientId: they are asked for with it');
  }
  if (readClient !== undefined && readClient.clientSecret === undefined) {
    faults.add(
      'clientSecret',
      'clientSecret must be there with clientId: a client without a secret gets no tokens in its own name',
    );
  }
  if (readClient !== undefined && headers?.authorization !== undefined) {
    faults.add('headers.authorization', 'headers.authorization and clientId exclude each other');
  }
  faults.throwIfAny();
  const tokens =
    readClient === undefined || baseUrl === null ? undefined : await requestMcpTokens(deps, caller, baseUrl, readClient, signal);
  const secrets = { ...(headers === undefined ? {} : { headers }), ...tokens?.secrets };
  const { scopes = [], expiresAt = null } = tokens ?? {};
  return store(deps, caller, 'MCP_SERVER', 'MCP', { name, baseUrl, scopes, expiresAt, secrets });
}

/**
 * Stores an account that was connected in the browser. One that was connected before gets the new token, and its sources are read again.
 *
 * @throws DomainError CONFLICT beyond 500 connections.
 */
export async function storeAccount(
  deps: Deps,
  caller: Caller,
  { orgId, ownerUserId, provider }: Pick<Connection, 'orgId' | 'ownerUserId' | 'provider'>,
  { secrets, identity, ...account }: ConnectedAccount,
): Promise<Connection> {
  const { storage } = deps;
  const { installationId, name, scopes, expiresAt } = account;
  const existingConnection = await storage.knowledge.connections.findAccount(
    { orgId, ownerUserId },
    { provider, name, installationId },
  );
  if (existingConnection === undefined) {
    const kind = provider === 'REPO_HOST' ? 'REPO_HOST_INSTALLATION' : 'OAUTH_TOKEN';
    const newConnection = await store(deps, { ...caller, orgId, userId: ownerUserId }, kind, provider, {
      ...{ ...account, baseUrl: null, secrets },
    });
    await storage.knowledge.permissions.proveAccount(newConnection, identity);
    return newConnection;
  }
  const sealedSecrets = await sealSecrets(storage, existingConnection, secrets);
  const updatedConnection = await deps.audit.change(caller, () =>
    storage.knowledge.connections.update(existingConnection.id, { sealed: sealedSecrets, scopes, expiresAt }),
  );
  await storage.knowledge.permissions.proveAccount(updatedConnection, identity);
  await readAgain(deps, updatedConnection);
  return updatedConnection;
}

type Given = Pick<Connection, 'name' | 'baseUrl'> &
  Partial<Pick<Connection, 'installationId' | 'scopes' | 'expiresAt'>> & { readonly secrets: ConnectionSecrets };

async function store(
  deps: Deps,
  caller: Caller,
  kind: ConnectionKind,
  provider: ConnectionProvider,
  { secrets, ...connectionInput }: Given,
): Promise<Connection> {
  const { connections } = deps.storage.knowledge;
  const owner = { orgId: caller.orgId, ownerUserId: caller.userId };
  if ((await connections.count(owner)) >= connectionsMax) {
    throw new DomainError('CONFLICT', `A user may have at most ${connectionsMax} connections`);
  }
  const id = deps.newId(idKinds[kind]);
  const sealedSecrets = await sealSecrets(deps.storage, { id, orgId: caller.orgId }, secrets);
  const row = {
    ...{ installationId: null, scopes: [], expiresAt: null },
    ...connectionInput,
    ...owner,
    id,
    createdAt: deps.now(),
    kind,
    provider,
    sealed: sealedSecrets,
  };
  return deps.audit.change(caller, () => connections.create(row));
}

/** The connections that the caller sees: its own; administrators see all of their organization. */
function visibleConnections(caller: Caller): ConnectionScope {
  if (caller.level === 'INSTANCE') return {};
  return isAdministrator(caller, caller.orgId) ? { orgId: caller.orgId } : ownConnections(caller);
}

/** The connections that the caller may use for reading knowledge: its own only. */
function ownConnections(caller: Caller): Required<ConnectionScope> {
  return { orgId: caller.orgId, ownerUserId: caller.userId };
}

/** Whether the caller owns the connection. Administrators see only its existence, owner and name. */
export function ownsConnection(caller: Caller, connection: Pick<Connection, 'orgId' | 'ownerUserId'>): boolean {
  return connection.orgId === caller.orgId && connection.ownerUserId === caller.userId;
}

/** @throws DomainError NOT_FOUND, also for a connection that the caller may not see. */
export async function getConnection(deps: Deps, caller: Caller, id: string): Promise<Connection> {
  const isOne = Object.values(idKinds).some((kind) => isId(kind, id));
  const connection = isOne ? await deps.storage.knowledge.connections.find(id, visibleConnections(caller)) : undefined;
  if (connection === undefined) throw missingConnection();
  return connection;
}

/** The connections among `ids` that the caller may see, in any order. */
export function getConnections(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Connection[]> {
  return deps.storage.knowledge.connections.findMany({ ids }, visibleConnections(caller));
}

/** What the connection of a source is found by. */
export type SourceWithConnection = Pick<DataSource, 'orgId' | 'ownerUserId' | 'data'>;

/**
 * The connection that each source reads with, in the order of the sources; undefined without one, where it is gone, and where the caller may not see
 * it. Cost: one statement.
 */
export async function findConnectionsOfSources(
  deps: Deps,
  caller: Caller,
  sources: readonly SourceWithConnection[],
): Promise<readonly (Connection | undefined)[]> {
  const ids = sources.flatMap(({ data }) => findTokenId(data) ?? []);
  const installations = sources.flatMap((source) => readInstallation(source) ?? []);
  if (ids.length === 0 && installations.length === 0) return sources.map(() => undefined);
  const sourceConnections = await deps.storage.knowledge.connections.findMany({ ids, installations }, visibleConnections(caller));
  return sources.map((source) => {
    const [id, installation] = [findTokenId(source.data), readInstallation(source)];
    return sourceConnections.find(
      (connection) => connection.id === id || (installation !== undefined && isThat(connection, installation)),
    );
  });
}

function findTokenId({ oauthTokenId }: DataSource['data']): string | undefined {
  return typeof oauthTokenId === 'string' ? oauthTokenId : undefined;
}

function readInstallation({ orgId, ownerUserId, data }: SourceWithConnection): InstallationName | undefined {
  const { repoHostAppInstallationId: installationId } = data;
  return typeof installationId === 'number' ? { orgId, ownerUserId, installationId } : undefined;
}

function isThat(connection: Connection, { orgId, ownerUserId, installationId }: InstallationName): boolean {
  return connection.installationId === installationId && connection.orgId === orgId && connection.ownerUserId === ownerUserId;
}

/** The sources that the caller sees and that read with each of the connections, in the order of the connections, newest first. */
export async function listSourcesOfConnections(
  deps: Deps,
  caller: Caller,
  connections: readonly Connection[],
  page: PageRequest,
): Promise<readonly Page<DataSource>[]> {
  const pages = await deps.storage.knowledge.sourceLinks.pagesOfConnections(connections, visibleDataSources(caller), page);
  for (const { items } of pages.values()) deps.audit.read(caller, 'dataSource', items);
  return connections.map(({ id }) => pages.get(id) ?? emptyPage(page));
}

export interface ConnectionListQuery {
  readonly kind?: Optional<ConnectionKind>;
  readonly provider?: Optional<ConnectionProvider>;
  /** All connections of the organization, for its administrators. */
  readonly ofOrganization?: Optional<boolean>;
}

/** The caller's connections, newest first. @throws DomainError FORBIDDEN for `ofOrganization` without being an administrator. */
export async function listConnections(
  deps: Deps,
  caller: Caller,
  { kind, provider, ofOrganization }: ConnectionListQuery,
  page: PageRequest,
): Promise<Page<Connection>> {
  const query = {
    ...(kind === undefined || kind === null ? {} : { kind }),
    ...(provider === undefined || provider === null ? {} : { provider }),
  };
  return deps.storage.knowledge.connections.list(connectionsListed(caller, ofOrganization === true), query, page);
}

/** The connections that a list has. @throws DomainError FORBIDDEN for those of an organization that the caller does not administer. */
export function connectionsListed(caller: Caller, ofOrganization: boolean): ConnectionScope & { readonly orgId: string } {
  if (!ofOrganization) return ownConnections(caller);
  if (isAdministrator(caller, caller.orgId)) return { orgId: caller.orgId };
  throw new DomainError('FORBIDDEN', 'Only administrators may list the connections of others', { param: 'ofOrganization' });
}

/** Absent members are kept; null clears members that may be empty. */
export interface UpdateConnectionInput {
  readonly accountName?: Optional<string>;
  readonly accessToken?: Optional<string>;
  readonly refreshToken?: Optional<string>;
  readonly expiresAt?: Optional<Date>;
  readonly scopes?: Optional<readonly string[]>;
}

/**
 * Renames a connection or renews its token, so that its sources can be read again. For its owner.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for administrators; INVALID_VALUE naming the member, also for a token of a connection without one.
 */
export async function updateConnection(
  deps: Deps,
  caller: Caller,
  id: string,
  input: UpdateConnectionInput,
): Promise<Connection> {
  const connection = await getConnection(deps, caller, id);
  if (!ownsConnection(caller, connection)) throw new DomainError('FORBIDDEN', 'Only its owner may change a connection');
  const faults = new Faults();
  if (connection.kind !== 'OAUTH_TOKEN') {
    for (const name of ['accessToken', 'refreshToken', 'expiresAt', 'scopes'] as const) {
      if (input[name] !== undefined) faults.add(name, `${name} belongs to an OAuth token, which this connection is not`);
    }
  }
  for (const name of ['accountName', 'accessToken'] as const) {
    if (input[name] === null) faults.add(name, `${name} cannot be null`);
  }
  const { accountName, accessToken, refreshToken, expiresAt, scopes } = input;
  const changes = {
    ...(accountName === undefined || accountName === null ? {} : { name: readName('accountName', accountName, faults) }),
    ...(scopes === undefined ? {} : { scopes: readScopes(scopes ?? [], faults) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  readSecret('accessToken', accessToken ?? undefined, faults);
  readSecret('refreshToken', refreshToken ?? undefined, faults);
  faults.throwIfAny();
  const isRenewed = accessToken !== undefined || refreshToken !== undefined;
  const secretsChange = isRenewed ? { sealed: await renewedSecrets(deps, connection, { accessToken, refreshToken }) } : {};
  const updatedConnection = await deps.audit.change(caller, () =>
    deps.storage.knowledge.connections.update(id, { ...changes, ...secretsChange }),
  );
  if (isRenewed) await readAgain(deps, updatedConnection);
  return updatedConnection;
}

/** Has the sources read that could not be read with the connection as it was. */
async function readAgain({ storage, jobs }: Deps, connection: Connection): Promise<void> {
  await storage.knowledge.syncing.reconnected(connection, sourceJobs(jobs, 'RECONNECTED'));
}

async function renewedSecrets(
  deps: Deps,
  connection: Connection,
  { accessToken, refreshToken }: Pick<UpdateConnectionInput, 'accessToken' | 'refreshToken'>,
): Promise<string> {
  const oldSecrets = await openSecrets(deps.storage, connection);
  if (oldSecrets === undefined) throw missingConnection();
  const { refreshToken: oldRefreshToken, ...otherSecrets } = oldSecrets;
  const refresh = refreshToken === undefined ? oldRefreshToken : (refreshToken ?? undefined);
  const secrets: ConnectionSecrets = {
    ...otherSecrets,
    ...(accessToken === undefined || accessToken === null ? {} : { accessToken }),
    ...(refresh === undefined ? {} : { refreshToken: refresh }),
  };
  return sealSecrets(deps.storage, connection, secrets);
}

/**
 * Deletes a connection and its secrets. Its sources stay, but can no longer be refreshed. Tokens of an MCP server are given back to its authorization
 * server, as far as that answers.
 *
 * @returns the former connection.
 * @throws DomainError NOT_FOUND for everyone except its owner and administrators.
 */
export async function deleteConnection(deps: Deps, caller: Caller, id: string): Promise<Connection> {
  const connection = await getConnection(deps, caller, id);
  const secrets = connection.kind === 'MCP_SERVER' ? await openSecrets(deps.storage, connection) : undefined;
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.knowledge.connections.delete(id))) throw missingConnection();
    return connection;
  });
  if (secrets !== undefined) await revokeMcpTokens(deps, caller, connection, secrets);
  return connection;
}

/** The caller's own token of that provider; adds a fault of `param` when there is none. */
export async function requireOwnToken(
  deps: Deps,
  caller: Caller,
  id: string,
  provider: OauthProvider,
  param: string,
  faults: Faults,
): Promise<void> {
  const connection = isId('oauthToken', id)
    ? await deps.storage.knowledge.connections.find(id, ownConnections(caller))
    : undefined;
  if (connection?.provider !== provider) {
    faults.add(param, `${param} is not a connection of yours of the kind ${provider}; GET /api/v1/connections lists them`);
  }
}

/** The caller's own installation at a repository host; adds a fault of `param` when there is none. */
export async function requireOwnInstallation(
  deps: Deps,
  caller: Caller,
  installationId: number,
  param: string,
  faults: Faults,
): Promise<void> {
  const connection = await deps.storage.knowledge.connections.findInstallation(installationId, ownConnections(caller));
  if (connection === undefined) {
    faults.add(param, `${param} is not an installation of yours; GET /api/v1/connections lists them`);
  }
}

/** The number of an installation that is a connection of the caller; adds a fault of `param` when there is none. */
export async function findOwnInstallation(
  deps: Deps,
  caller: Caller,
  id: string,
  param: string,
  faults: Faults,
): Promise<number | undefined> {
  const connection = isId('repoHostInstallation', id)
    ? await deps.storage.knowledge.connections.find(id, ownConnections(caller))
    : undefined;
  if (connection !== undefined && connection.installationId !== null) return connection.installationId;
  faults.add(param, `${param} is not an installation of yours; GET /api/v1/connections lists them`);
  return undefined;
}

function missingConnection(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such connection', { param: 'connectionId' });
}
