import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const tag = 'Connections';
const path = '/api/v1/admin/mcp-clients';
const one = `${path}/{clientId}`;
const fields = 'id createdAt updatedAt url issuer clientId hasSecret scopes';

export const mcpOauthClientRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'listMcpOauthClients',
    method: 'get',
    path,
    summary: 'List clients of MCP servers',
    description: "The clients of MCP servers of the key's organization, newest first. For administrators.",
    tag,
    document: `query ($limit: Int = 100, $cursor: String) {
      mcpOauthClients(first: $limit, after: $cursor) { nodes { ${fields} } ${pageInfo} }
    }`,
    query: pageQuery,
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'saveMcpOauthClient',
    method: 'put',
    path,
    summary: 'Save a client of an MCP server',
    description:
      'What the service is called at the authorization server of an MCP server: all members of the organization sign in with it from then on. It replaces what was saved for that server. For administrators.',
    tag,
    document: `mutation ($input: SaveMcpOauthClientInput!) { saveMcpOauthClient(input: $input) { ${fields} } }`,
    body: 'input',
    example: { url: 'https://mcp.example.com/mcp', clientId: 'parley', clientSecret: 'secret-of-the-client' },
  },
  {
    operationId: 'getMcpOauthClient',
    method: 'get',
    path: one,
    summary: 'Get a client of an MCP server',
    description: 'For administrators.',
    tag,
    document: `query ($clientId: ID!) { mcpOauthClient(id: $clientId) { ${fields} } }`,
  },
  {
    operationId: 'deleteMcpOauthClient',
    method: 'delete',
    path: one,
    summary: 'Delete a client of an MCP server',
    description: 'Who signed in with it has to sign in again when the token ends. Answers what it was.',
    tag,
    document: `mutation ($clientId: ID!) { deleteMcpOauthClient(id: $clientId) { ${fields} } }`,
  },
];
