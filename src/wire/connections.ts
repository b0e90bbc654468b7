import { z } from 'zod';
import { type BrowsePage, browseKinds } from '../engine/knowledge/connections/browser.ts';
import { body } from './ground/body.ts';
import type { WireReply } from './ground/encoder.ts';
import { described, flag, list, type Sent, text } from './ground/schema.ts';
import { shapedType } from './ground/shape.ts';

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
    clientId: text(
      'A client of the authorization server that the MCP server names: tokens are asked for in its own name (client credentials). Default: none; a person signs in with `authorizeConnection` where the server wants it.',
    ).nullish(),
    clientSecret: text('The secret of `clientId`; kept sealed.').nullish(),
    scopes: list(
      'The scopes to ask for with `clientId`; at most 100. Default: those that the server names.',
      z.string(),
    ).nullish(),
  },
  { takenMembers: connectionMembers },
);

const entry = shapedType('ConnectionEntry', 'Something at another service that may be added as a source, or holds such things.', {
  id: text('What a source is added by, and what `parent` takes.'),
  name: text('Its name there.'),
  kind: text(`One of ${browseKinds.join(', ')}.`),
  hasChildren: flag('Whether it can be a `parent`; it may still be empty.'),
  canBeAdded: flag('Whether a source can be made of it.'),
  path: text('Where it lies: the names from the top down to its own.'),
});
const entries = shapedType('ConnectionEntries', 'A page of what a connection reaches.', {
  data: list('At most 100.', entry),
  nextCursor: text('Of the next page; null on the last.').nullable(),
});

/** The page as the service gave it: GraphQL has pages of its own. */
export const connectionEntriesReply: WireReply = {
  schema: 'ConnectionEntries',
  encode: ({ served }: { readonly served: BrowsePage }): Sent<typeof entries> => ({
    data: served.entries.map(({ id, name, kind, hasChildren, canBeAdded, path }) => {
      return { id, name, kind, hasChildren, canBeAdded, path };
    }),
    nextCursor: served.nextCursor,
  }),
};
