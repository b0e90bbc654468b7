import { body } from './ground/body.ts';
import { described, text } from './ground/schema.ts';

/** Members of connections in replies, which clients send back with what they changed. */
export const connectionMembers = [
  ...['id', 'createdAt', 'updatedAt', 'orgId', 'ownerUserId', 'kind', 'provider', 'accountName', 'baseUrl', 'installationId'],
  ...['scopes', 'expiresAt', 'needsReauthorization', 'isOwn', 'name'],
];

export const mcpServerBody = body(
  'StoreMcpServerInput',
  'An MCP server. The headers are kept sealed and never shown again.',
  {
    name: text('For people: 1 to 200 characters.'),
    url: text('Its http or https address.'),
    headers: described({
      description:
        'Headers sent with every request to it, such as authorization: an object of at most 20 names and their values.',
    }).nullish(),
  },
  { takenMembers: connectionMembers },
);
