import {
  deleteMcpOauthClient,
  getMcpOauthClient,
  getMcpOauthClients,
  listMcpOauthClients,
  saveMcpOauthClient,
} from '../../domain/knowledge/mcp-servers/clients.ts';
import type { McpOauthClient } from '../../entities/knowledge/mcp-oauth-client.ts';
import { builder } from '../ground/builder/builder.ts';
import { registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { strictInput } from '../ground/types/json-inputs.ts';
import { NodeType } from '../ground/types/node.ts';

const McpOauthClientType = builder.objectRef<McpOauthClient>('McpOauthClient').implement({
  access: { scope: 'ADMIN:READ' },
  description:
    'What the service is called at the authorization server of an MCP server, for all members of the organization: an administrator registered it there by hand.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the client.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first saved.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last saved.' }),
    url: t.exposeString('url', { description: 'The address of the MCP server.' }),
    issuer: t.exposeString('issuer', {
      description:
        'The authorization server that the MCP server named when the client was saved. The secret goes to no other: where the server names another one, nobody can sign in until the client is saved again.',
    }),
    clientId: t.exposeString('clientId', { description: 'Its id at the authorization server.' }),
    hasSecret: t.exposeBoolean('hasSecret', { description: 'Whether it has a secret, which is shown to nobody.' }),
    scopes: t.stringList({
      description: 'What people are asked for; empty: what the server names.',
      resolve: ({ scopes }) => [...scopes],
    }),
  }),
});
const McpOauthClientConnection = makeConnection(McpOauthClientType, 'McpOauthClient', 'Clients of MCP servers');

registerNode('mcpOauthClient', {
  typeName: 'McpOauthClient',
  operation: 'Query.mcpOauthClient',
  loadMany: (ids, { deps, caller }) => getMcpOauthClients(deps, caller, ids),
});

const id = { description: 'The id of the client.' };

builder.queryFields((t) => ({
  mcpOauthClient: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: McpOauthClientType,
    nullable: true,
    description: "One client of an MCP server of the caller's organization, for administrators; null when there is none.",
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getMcpOauthClient(deps, caller, args.id),
  }),
  mcpOauthClients: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: McpOauthClientConnection,
    description: "The clients of MCP servers of the caller's organization, for administrators, newest first.",
    args: pageArgs(t.arg),
    resolve: (_root, args, context) => listMcpOauthClients(context.deps, context.caller, pageRequest(context, args)),
  }),
}));

const SaveMcpOauthClientInput = builder.inputType('SaveMcpOauthClientInput', {
  extensions: strictInput('id', 'createdAt', 'updatedAt', 'issuer', 'hasSecret'),
  description:
    'A client of an MCP server for all members of the organization. The one that was saved for that server is replaced.',
  fields: (t) => ({
    url: t.string({ description: 'The http or https address of the MCP server, as connections with it have it.' }),
    clientId: t.string({
      description:
        'The id of a client that was registered by hand at the authorization server, with the redirect address `<PUBLIC_URL>/oauth/callback`.',
    }),
    clientSecret: t.string({ required: false, description: 'Its secret, if it has one; kept sealed, and shown to nobody.' }),
    scopes: t.stringList({
      required: false,
      description: 'The scopes to ask for; at most 100. Default: those that the server names.',
    }),
  }),
});

builder.mutationFields((t) => ({
  saveMcpOauthClient: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: McpOauthClientType,
    description:
      'Saves what the service is called at the authorization server of an MCP server: members sign in with it from then on, without a client of their own. For administrators.',
    args: { input: t.arg({ type: SaveMcpOauthClientInput, description: 'The client.' }) },
    resolve: (_root, { input }, { deps, caller, signal }) => saveMcpOauthClient(deps, caller, input, signal),
  }),
  deleteMcpOauthClient: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: McpOauthClientType,
    description:
      'Deletes a client of an MCP server. Who signed in with it has to sign in again when the token ends. Answers what it was.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteMcpOauthClient(deps, caller, args.id),
  }),
}));
