import { connectionProviders } from '../../../entities/knowledge/connection.ts';
import { connectionEntriesReply } from '../../../wire/connections.ts';
import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const connectionFields =
  'id createdAt updatedAt orgId ownerUserId kind provider accountName baseUrl installationId scopes expiresAt needsReauthorization isOwn';
const tag = 'Connections';

export const connectionRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'storeOauthToken',
    method: 'post',
    path: '/api/v1/connections',
    summary: 'Store an OAuth token',
    description: 'Its `id` is what `oauthTokenId` of a data source names. The tokens are kept sealed and never shown again.',
    tag,
    document: `mutation ($input: StoreOauthTokenInput!) { storeOauthToken(input: $input) { ${connectionFields} } }`,
    body: 'input',
    example: {
      provider: 'WIKI',
      accountName: 'ann@example.com',
      accessToken: 'token-of-the-wiki',
      refreshToken: 'refresh-token-of-the-wiki',
      expiresAt: '2027-01-31T09:30:00.000Z',
      scopes: ['read:page'],
    },
  },
  {
    operationId: 'browseConnection',
    method: 'get',
    path: '/api/v1/connections/{connectionId}/browse',
    summary: 'Browse what a connection reaches',
    description:
      'For pickers: drives with folders and files, spaces and pages, projects, repositories. The service is asked at once.',
    tag,
    document: `query ($connectionId: ID!, $parent: String, $search: String) {
      connectionEntries(connectionId: $connectionId, parentId: $parent, search: $search) { nodes { entryId } }
    }`,
    terms: { cursor: 'String' },
    reply: connectionEntriesReply,
    query: {
      parent: 'The `id` of an entry. Default: the top.',
      search: 'Searches by name in everything that the connection reaches.',
      cursor: 'The `nextCursor` of the page before.',
    },
  },
  {
    operationId: 'authorizeConnection',
    method: 'post',
    path: '/api/v1/connections/authorize',
    summary: 'Connect an account in the browser',
    description:
      'Answers the address where a person allows the access. The connection is stored when the person has confirmed it there. 400 names the settings of the operator that are missing. With `provider` MCP and `connectionId` a person signs in to an MCP server; 400 then says why that cannot be done.',
    tag,
    document: `mutation ($input: AuthorizeConnectionInput!) { authorizeConnection(input: $input) { url } }`,
    body: 'input',
    example: { provider: 'DRIVE_A', returnTo: 'https://app.example.com/settings' },
  },
  {
    operationId: 'storeRepoHostInstallation',
    method: 'post',
    path: '/api/v1/connections/repo-host-installations',
    summary: 'Store an installation at a repository host',
    description: 'Its number is what `repoHostAppInstallationId` of a data source names.',
    tag,
    document: `mutation ($input: StoreRepoHostInstallationInput!) {
      storeRepoHostInstallation(input: $input) { ${connectionFields} }
    }`,
    body: 'input',
    example: { installationId: 4_711, accountName: 'example' },
  },
  {
    operationId: 'storeMcpServer',
    method: 'post',
    path: '/api/v1/connections/mcp-servers',
    summary: 'Store an MCP server',
    description:
      'The headers are kept sealed and never shown again. Where the server wants a sign-in, `authorizeConnection` begins it, or `clientId` and `clientSecret` get tokens at once.',
    tag,
    document: `mutation ($input: StoreMcpServerInput!) { storeMcpServer(input: $input) { ${connectionFields} } }`,
    body: 'input',
    example: { name: 'Weather', url: 'https://mcp.example.com/mcp', headers: { authorization: 'Bearer of-the-server' } },
  },
  {
    operationId: 'listConnections',
    method: 'get',
    path: '/api/v1/connections',
    summary: 'List connections',
    description: "The caller's own, newest first. Administrators may list everybody's, with what they are called and no more.",
    tag,
    document: `query ($kind: IntegrationKind, $provider: IntegrationProvider, $ofOrganization: Boolean, $limit: Int = 100, $cursor: String) {
      connections(kind: $kind, provider: $provider, ofOrganization: $ofOrganization, first: $limit, after: $cursor) {
        nodes { ${connectionFields} }
        ${pageInfo}
      }
    }`,
    query: {
      kind: 'Only OAUTH_TOKEN, REPO_HOST_INSTALLATION or MCP_SERVER.',
      provider: `Only ${connectionProviders.slice(0, -1).join(', ')} or ${connectionProviders.at(-1)}.`,
      ofOrganization: 'Those of everybody in the organization, for its administrators.',
      ...pageQuery,
    },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'getConnection',
    method: 'get',
    path: '/api/v1/connections/{connectionId}',
    summary: 'Get connection',
    description: 'What it is for and whether it works; never its secrets.',
    tag,
    document: `query ($connectionId: ID!) { connection(id: $connectionId) { ${connectionFields} } }`,
  },
  {
    operationId: 'updateConnection',
    method: 'patch',
    path: '/api/v1/connections/{connectionId}',
    summary: 'Update connection',
    description: 'Renames it or renews its token, so that the sources that name it go on. For its owner.',
    tag,
    document: `mutation ($connectionId: ID!, $input: UpdateConnectionInput!) {
      updateConnection(id: $connectionId, input: $input) { ${connectionFields} }
    }`,
    body: 'input',
    example: { accessToken: 'another-token-of-the-wiki' },
  },
  {
    operationId: 'deleteConnection',
    method: 'delete',
    path: '/api/v1/connections/{connectionId}',
    summary: 'Remove connection',
    description: 'With its secrets; for its owner and administrators. Answers the connection as it was.',
    tag,
    document: `mutation ($connectionId: ID!) { deleteConnection(id: $connectionId) { ${connectionFields} } }`,
  },
];
