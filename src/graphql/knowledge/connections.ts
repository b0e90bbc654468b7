import { authorizeConnection, browseConnection } from '../../domain/knowledge/connecting.ts';
import {
  deleteConnection,
  getConnection,
  getConnections,
  listConnections,
  listSourcesOfConnections,
  type StoreMcpServerInput as McpServerShape,
  ownsConnection,
  storeMcpServer,
  storeOauthToken,
  storeRepoHostInstallation,
  updateConnection,
} from '../../domain/knowledge/connections.ts';
import { findLivingUsers } from '../../domain/people/accounts.ts';
import { type BrowseEntry, type BrowsePage, browseKinds } from '../../engine/knowledge/connections/browser.ts';
import { kindDescriptions, siteProviders } from '../../engine/knowledge/connectors/registry.ts';
import type { Page } from '../../entities/ground/page.ts';
import { type Connection, connectionKinds, connectionProviders, oauthProviders } from '../../entities/knowledge/connection.ts';
import { connectionMembers, mcpServerBody } from '../../wire/connections.ts';
import { describe } from '../../wire/ground/body.ts';
import { builder } from '../ground/builder/builder.ts';
import { type GraphContext, textTerm } from '../ground/builder/context.ts';
import { byName, flatInput } from '../ground/builder/flat-inputs.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { describedOnRest, restNamed } from '../ground/builder/rest-words.ts';
import { forwardArgs, makeConnection, makeUncountedConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { IntegrationRef, OrganizationRef, UserRef } from '../ground/refs.ts';
import { createEnum, ofFormat } from '../ground/types/enums.ts';
import { strictInput } from '../ground/types/json-inputs.ts';
import { NamedTextInput } from '../ground/types/named-texts.ts';
import { NodeType } from '../ground/types/node.ts';
import { DataSourceConnection } from './sources.ts';

const KindType = createEnum(
  'IntegrationKind',
  'Kinds of connections.',
  connectionKinds,
  {
    OAUTH_TOKEN: "A user's account, by an OAuth token.",
    REPO_HOST_INSTALLATION: 'An installation of the app at a repository host.',
    MCP_SERVER: 'An MCP server.',
  },
  restNamed('LinkedServiceKind'),
);

const OauthProviderType = createEnum(
  'OauthProvider',
  'A service whose accounts are connected by a token.',
  oauthProviders,
  kindDescriptions,
);
const ProviderType = createEnum(
  'IntegrationProvider',
  'The service at the other end.',
  connectionProviders,
  {
    ...kindDescriptions,
    MCP: 'An MCP server.',
  },
  restNamed('ConnectionProvider'),
);

const IntegrationType = IntegrationRef.implement({
  access: { scope: 'CONNECTIONS:READ' },
  extensions: restNamed('LinkedService'),
  description:
    'Access of one user to a service elsewhere. Its secrets are kept sealed and shown to nobody. Administrators see whose it is and what it is called; the rest is null to them.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', {
      extensions: describedOnRest('An OAuth token, which `oauthTokenId` of a data source names.'),
      description: 'What `connectionId` of a new data source names.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was stored.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    orgId: t.exposeID('orgId', { description: 'The organization it is used in.' }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization it is used in; null when the caller may not see it.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
    ownerUserId: t.exposeID('ownerUserId', { description: 'The user it belongs to.' }),
    owner: t.loadable({
      type: UserRef,
      nullable: true,
      description: 'The user it belongs to; null when that user is gone.',
      load: (ids: string[], { deps }) => findLivingUsers(deps, ids),
      resolve: ({ ownerUserId }) => ownerUserId,
    }),
    kind: t.expose('kind', { type: KindType, description: 'The kind of connection.' }),
    provider: t.expose('provider', { type: ProviderType, description: 'The service at the other end.' }),
    accountName: t.exposeString('name', { description: 'The name of the account or the server, for people.' }),
    baseUrl: t.string({
      nullable: true,
      description: `The address of the site that ${siteProviders} read, or of an MCP server.`,
      resolve: (connection, _args, { caller }) => (ownsConnection(caller, connection) ? connection.baseUrl : null),
    }),
    installationId: t.int({
      nullable: true,
      description: 'The number of an installation at a repository host.',
      resolve: (connection, _args, { caller }) => (ownsConnection(caller, connection) ? connection.installationId : null),
    }),
    scopes: t.stringList({
      nullable: true,
      description: 'The scopes that the provider granted.',
      resolve: (connection, _args, { caller }) => (ownsConnection(caller, connection) ? [...connection.scopes] : null),
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the access token ends; null when nobody knows.',
      resolve: (connection, _args, { caller }) => (ownsConnection(caller, connection) ? connection.expiresAt : null),
    }),
    needsReauthorization: t.exposeBoolean('needsReauthorization', {
      description:
        'Whether the service refuses the token: its owner has to connect again, then its sources are read by themselves.',
    }),
    isOwn: t.boolean({
      description: 'Whether it belongs to the caller, who alone may use it.',
      resolve: (connection, _args, { caller }) => ownsConnection(caller, connection),
    }),
    sources: t.loadable({
      type: DataSourceConnection,
      description: 'The data sources that read with it, as far as the caller sees them, newest first.',
      args: pageArgs(t.arg),
      byPath: true,
      load: (connections: Connection[], context, args) =>
        listSourcesOfConnections(context.deps, context.caller, connections, pageRequest(context, args)),
      resolve: (connection) => connection,
    }),
  }),
});

for (const kind of ['oauthToken', 'repoHostInstallation', 'mcpServer'] as const) {
  registerNode(kind, {
    typeName: 'Integration',
    operation: 'Query.connection',
    loadMany: (ids, { deps, caller }) => getConnections(deps, caller, ids),
  });
}

const Integrations = makeConnection(IntegrationType, 'Integration', 'Connections');

builder.queryFields((t) => ({
  connection: t.field({
    authScopes: { key: 'CONNECTIONS:READ' },
    type: IntegrationType,
    nullable: true,
    description: 'One connection; null when there is none or the caller may not see it.',
    args: { id: t.arg.id({ description: 'The id of the connection.' }) },
    resolve: (_root, { id }, { deps, caller }) => getConnection(deps, caller, id),
  }),
  connections: t.field({
    authScopes: { key: 'CONNECTIONS:READ' },
    type: Integrations,
    description: "The caller's connections, newest first.",
    args: {
      kind: t.arg({ type: KindType, required: false, description: 'Only those of this kind.' }),
      provider: t.arg({ type: ProviderType, required: false, description: 'Only those to this service.' }),
      ofOrganization: t.arg.boolean({
        required: false,
        description: 'Those of everybody in the organization, for its administrators.',
      }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { first, after, last, before, ...query }, context) =>
      listConnections(context.deps, context.caller, query, pageRequest(context, { first, after, last, before })),
  }),
}));

const StoreOauthTokenInput = builder.inputType('StoreOauthTokenInput', {
  description: 'An OAuth token that the caller got from a service. The tokens are kept sealed and never shown again.',
  extensions: strictInput(...connectionMembers),
  fields: (t) => ({
    provider: t.field({ type: OauthProviderType, description: 'The service.' }),
    accountName: t.string({ description: 'The name of the account, for people: 1 to 200 characters.' }),
    accessToken: t.string({ description: 'At most 20,000 characters.' }),
    refreshToken: t.string({
      required: false,
      description: 'At most 20,000 characters; without one the access ends with its token.',
    }),
    expiresAt: t.field({ type: 'DateTime', required: false, description: 'When the access token ends.' }),
    scopes: t.stringList({ required: false, description: 'The scopes that the provider granted; at most 100.' }),
    baseUrl: t.string({
      required: false,
      description: `${siteProviders}: the address of the one of the account's sites that is read. Others are refused with 400.`,
    }),
  }),
});

const StoreRepoHostInstallationInput = builder.inputType('StoreRepoHostInstallationInput', {
  description: 'An installation of the app at a repository host.',
  extensions: strictInput(...connectionMembers),
  fields: (t) => ({
    installationId: t.int({ description: 'Its number, as the host tells it: from 1 to 2000000000.' }),
    accountName: t.string({ description: 'The account it is installed in, for people: 1 to 200 characters.' }),
    baseUrl: t.string({ required: false, description: 'Refused with 400: the address of the host is GITHUB_API_URL.' }),
  }),
});

const StoreMcpServerInput = flatInput<McpServerShape>(
  builder.inputType('StoreMcpServerInput', {
    description: 'An MCP server. The headers are kept sealed and never shown again.',
    fields: (t) => ({
      name: t.string({ description: describe(mcpServerBody, 'name') }),
      url: t.string({ description: describe(mcpServerBody, 'url') }),
      headers: t.field({
        type: [NamedTextInput],
        required: false,
        description: 'Headers sent with every request to it, such as authorization; at most 20.',
      }),
      clientId: t.string({ required: false, description: describe(mcpServerBody, 'clientId') }),
      clientSecret: t.string({ required: false, description: describe(mcpServerBody, 'clientSecret') }),
      scopes: t.stringList({ required: false, description: describe(mcpServerBody, 'scopes') }),
    }),
  }),
  {
    body: mcpServerBody,
    members: { headers: byName },
  },
);

const UpdateConnectionInput = builder.inputType('UpdateConnectionInput', {
  description: 'Changes of a connection: absent members are kept, null clears what can be empty.',
  extensions: strictInput(...connectionMembers),
  fields: (t) => ({
    accountName: t.string({ required: false, description: 'The name, for people: 1 to 200 characters.' }),
    accessToken: t.string({ required: false, description: 'A new access token.' }),
    refreshToken: t.string({ required: false, description: 'A new refresh token.' }),
    expiresAt: t.field({ type: 'DateTime', required: false, description: 'When the new access token ends.' }),
    scopes: t.stringList({ required: false, description: 'The scopes that the provider granted; at most 100.' }),
  }),
});

const BrowserConnectionInput = builder.inputType('AuthorizeConnectionInput', {
  description: 'An account to connect in the browser.',
  extensions: strictInput(...connectionMembers),
  fields: (t) => ({
    provider: t.field({ type: ProviderType, description: 'The service.' }),
    connectionId: t.id({
      required: false,
      description: 'MCP: the connection with the server, which has to be there; others: refused with 400.',
    }),
    clientId: t.string({
      required: false,
      description:
        'MCP: a client that was registered by hand at the authorization server, with the redirect address `<PUBLIC_URL>/oauth/callback`. Default: the metadata document of this service, or a client that it registers.',
    }),
    clientSecret: t.string({ required: false, description: 'MCP: the secret of `clientId`, if it has one; kept sealed.' }),
    scopes: t.stringList({
      required: false,
      description: 'MCP: the scopes to ask for; at most 100. Default: those that the server names.',
    }),
    returnTo: t.string({
      required: false,
      description:
        'Where the browser goes at the end: an address of this service or of an origin in CORS_ORIGINS. Default: a page that says so.',
    }),
  }),
});

const AuthorizedConnectionType = builder.objectRef<{ readonly url: string }>('AuthorizeConnectionPayload').implement({
  access: { scope: 'CONNECTIONS:WRITE' },
  description: 'Where a person allows the access.',
  fields: (t) => ({ url: t.exposeString('url', { description: 'Open it in a browser within ten minutes.' }) }),
});

const EntryKindType = createEnum(
  'IntegrationEntryKind',
  'What something at another service is.',
  browseKinds,
  {
    drive: 'A drive.',
    folder: 'A folder.',
    file: 'A file.',
    space: 'A space of a wiki.',
    page: 'A page of a wiki.',
    project: 'A project of an issue tracker.',
    repository: 'A repository.',
  },
  ofFormat,
);

const EntryType = builder.objectRef<BrowseEntry>('IntegrationEntry').implement({
  access: { scope: 'CONNECTIONS:READ' },
  description: 'Something at another service that may be added as a source, or holds such things.',
  fields: (t) => ({
    entryId: t.exposeString('id', { description: 'What a source is added by, and what `parentId` takes.' }),
    name: t.exposeString('name', { description: 'Its name there.' }),
    kind: t.expose('kind', { type: EntryKindType, description: 'What it is.' }),
    hasChildren: t.exposeBoolean('hasChildren', { description: 'Whether it can be a parent; it may still be empty.' }),
    canBeAdded: t.exposeBoolean('canBeAdded', { description: 'Whether a source can be made of it.' }),
    path: t.exposeString('path', { description: 'Where it lies: the names from the top down to its own.' }),
  }),
});

/** A page of the list, within a page of the service. */
interface EntryPage extends Omit<Page<BrowseEntry>, 'countAll'> {
  readonly served: BrowsePage;
}

const EntryConnection = makeUncountedConnection<BrowseEntry, EntryPage>(EntryType, 'IntegrationEntry', 'Entries of a connection');

builder.queryFields((t) => ({
  connectionEntries: t.field({
    authScopes: { key: 'CONNECTIONS:READ' },
    type: EntryConnection,
    description: 'What could be added as a source from a connection of the caller: the service is asked at once.',
    args: {
      connectionId: t.arg.id({ description: 'The id of the connection.' }),
      parentId: t.arg.string({ required: false, description: 'The `entryId` of an entry; absent: the top.' }),
      search: t.arg.string({
        required: false,
        description: 'Searches by name in everything that the connection reaches; `parentId` says nothing then.',
      }),
      ...forwardArgs(t.arg),
    },
    resolve: (_root, args, context) => readEntries(context, args),
  }),
}));

interface EntryArgs {
  readonly connectionId: string;
  readonly parentId?: string | null | undefined;
  readonly search?: string | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/**
 * The pages of a service have a size of their own: a cursor of the list is one of the service, and a place within its page. The format of REST has
 * the pages of the service itself, and its cursors.
 */
async function readEntries(context: GraphContext, { connectionId, first, after, ...query }: EntryArgs): Promise<EntryPage> {
  const { deps, caller, signal } = context;
  const { limit, after: key = [textTerm(context, 'cursor') ?? '', 0] } = pageRequest(context, { first, after }, [
    'text',
    'number',
  ]);
  const [cursor, from] = [String(key[0]), Math.max(0, Number(key[1]))];
  const browsePage = await browseConnection(
    deps,
    caller,
    connectionId,
    { ...query, cursor: cursor === '' ? undefined : cursor },
    signal,
  );
  const { entries, nextCursor } = browsePage;
  const places = new Map(entries.map((entry, index) => [entry, index + 1]));
  return {
    items: entries.slice(from, from + limit),
    hasNextPage: from + limit < entries.length || nextCursor !== null,
    hasPreviousPage: after !== undefined && after !== null,
    keyOf(entry) {
      const place = places.get(entry) ?? 0;
      return place === entries.length && nextCursor !== null ? [nextCursor, 0] : [cursor, place];
    },
    served: browsePage,
  };
}

builder.mutationFields((t) => ({
  authorizeConnection: t.field({
    authScopes: { key: 'CONNECTIONS:WRITE' },
    type: AuthorizedConnectionType,
    description:
      'Begins to connect an account in the browser, or to sign in to an MCP server. The connection is stored when the person has confirmed it there.',
    args: { input: t.arg({ type: BrowserConnectionInput, description: 'The service.' }) },
    resolve: (_root, { input }, { deps, caller, signal }) => authorizeConnection(deps, caller, input, signal),
  }),
  storeOauthToken: t.field({
    authScopes: { key: 'CONNECTIONS:WRITE' },
    type: IntegrationType,
    description: 'Keeps an OAuth token for the caller.',
    args: { input: t.arg({ type: StoreOauthTokenInput, description: 'The token.' }) },
    resolve: (_root, { input }, { deps, caller }) => storeOauthToken(deps, caller, input),
  }),
  storeRepoHostInstallation: t.field({
    authScopes: { key: 'CONNECTIONS:WRITE' },
    type: IntegrationType,
    description: 'Notes an installation at a repository host for the caller.',
    args: { input: t.arg({ type: StoreRepoHostInstallationInput, description: 'The installation.' }) },
    resolve: (_root, { input }, { deps, caller }) => storeRepoHostInstallation(deps, caller, input),
  }),
  storeMcpServer: t.field({
    authScopes: { key: 'CONNECTIONS:WRITE' },
    type: IntegrationType,
    description: 'Keeps the address of an MCP server for the caller.',
    args: { input: t.arg({ type: StoreMcpServerInput, description: 'The server.' }) },
    resolve: (_root, { input }, { deps, caller, signal }) => storeMcpServer(deps, caller, input, signal),
  }),
  updateConnection: t.field({
    authScopes: { key: 'CONNECTIONS:WRITE' },
    type: IntegrationType,
    description: 'Renames a connection or renews its token, for its owner.',
    args: {
      id: t.arg.id({ description: 'The id of the connection.' }),
      input: t.arg({ type: UpdateConnectionInput, description: 'The members to change.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => updateConnection(deps, caller, id, input),
  }),
  deleteConnection: t.field({
    authScopes: { key: 'CONNECTIONS:WRITE' },
    type: IntegrationType,
    description:
      'Removes a connection and its secrets, for its owner and administrators. Sources added with it stay, and are not read anew any more. Answers what it was.',
    args: { id: t.arg.id({ description: 'The id of the connection.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteConnection(deps, caller, id),
  }),
}));
