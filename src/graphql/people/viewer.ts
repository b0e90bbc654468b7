import { callerOrganization } from '../../domain/people/accounts.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { type Caller, scopes } from '../../entities/people/caller.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNode } from '../ground/builder/nodes.ts';
import { ApiKeyRef } from '../ground/refs.ts';
import { AccessLevelType, MemberRoleType, OrganizationType, ScopeType, UserType } from './accounts.ts';

export const ViewerType = builder.objectRef<Caller>('Viewer').implement({
  access: { scope: null },
  description: 'Who is calling: one key or one session, acting as one user in one organization. A front end begins here.',
  fields: (t) => ({
    keyId: t.exposeID('keyId', { description: 'The id of the key of this call, or of the session.' }),
    key: t.field({
      type: ApiKeyRef,
      nullable: true,
      description: 'The key of this call; null in a session, and for a key without the scope API_KEYS:READ.',
      resolve: ({ keyId }, _args, context) => loadNode(context, 'apiKey', keyId),
    }),
    user: t.field({
      type: UserType,
      description: 'The user that the key or the session acts as.',
      resolve: async ({ userId }, _args, context) => {
        const user = await loadNode(context, 'user', userId);
        if (user === null) throw new DomainError('NOT_FOUND', 'The user of this key is gone');
        return user;
      },
    }),
    organization: t.field({
      type: OrganizationType,
      description: 'The organization that the key or the session acts in.',
      resolve: (_caller, _args, { deps, caller }) => callerOrganization(deps, caller),
    }),
    scopes: t.field({
      type: [ScopeType],
      description: 'What the key or the session may do.',
      resolve: (caller) => scopes.filter((scope) => caller.scopes.has(scope)),
    }),
    level: t.expose('level', {
      type: AccessLevelType,
      description:
        'The reach of the key; of a session its organization, or INSTANCE for an operator who signed in with that reach.',
    }),
    costCurrency: t.string({
      description: 'The currency of every `cost`, by ISO 4217 (COST_CURRENCY).',
      resolve: (_caller, _args, { deps }) => deps.settings.COST_CURRENCY,
    }),
    role: t.expose('role', { type: MemberRoleType, description: "The user's role in the organization." }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    authScopes: { anyKey: true },
    type: ViewerType,
    description: 'Who is calling.',
    resolve: (_root, _args, { caller }) => caller,
  }),
);
