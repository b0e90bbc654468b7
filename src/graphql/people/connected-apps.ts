import { listApps } from '../../domain/people/apps.ts';
import type { ConnectedApp } from '../../entities/people/app.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { OrganizationRef } from '../ground/refs.ts';
import { ScopeType } from './accounts.ts';
import { ViewerType } from './viewer.ts';

const ConnectedAppType = builder.objectRef<ConnectedApp>('ConnectedApp').implement({
  access: { scope: 'API_KEYS:READ' },
  description:
    'A program that the user has connected by OAuth. It is a key of the user, whose id it has: `revokeApiKey` ends it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the key.' }),
    name: t.exposeString('name', { description: 'What the program calls itself.' }),
    clientId: t.exposeString('clientId', {
      description: 'The client: made when it registered, or the address of its metadata document.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user agreed.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, give or take some seconds; null before its first use.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends, unless the program refreshes it before.',
    }),
    scopes: t.field({
      type: [ScopeType],
      description: 'What the user has agreed to.',
      resolve: ({ scopes }) => [...scopes],
    }),
    resource: t.exposeString('resource', { description: 'The address that it opens: `/mcp`, or that of one agent.' }),
    orgId: t.exposeID('orgId', { description: 'The organization it acts in.' }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization it acts in; null for one that the caller may not see.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
  }),
});

const ConnectedAppConnection = makeConnection(ConnectedAppType, 'ConnectedApp', 'Connected programs');

builder.objectField(ViewerType, 'connectedApps', (t) =>
  t.field({
    type: ConnectedAppConnection,
    description: 'Programs that the user has connected by OAuth, in any organization, newest first.',
    args: { ...pageArgs(t.arg) },
    resolve: (_caller, args, context) => listApps(context.deps, context.caller, pageRequest(context, args)),
  }),
);
