import { loadIdentityPages } from '../../../domain/people/sign-in/identities.ts';
import { unlinkIdentity } from '../../../domain/people/sign-in/unlink.ts';
import type { PageRequest } from '../../../entities/ground/page.ts';
import type { Identity } from '../../../entities/people/identity.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { UserRef } from '../../ground/refs.ts';

const IdentityType = builder.objectRef<Identity>('SignInIdentity').implement({
  access: { scope: 'API_KEYS:READ' },
  description: 'A person at a provider of single sign-on, who signs in as the user.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names it for `unlinkIdentity`.' }),
    provider: t.exposeString('provider', {
      description: 'The name of the provider in the settings OIDC_<NAME>_…, in lower case.',
    }),
    issuer: t.exposeString('issuer', { description: 'The address of the provider.' }),
    email: t.exposeString('email', { nullable: true, description: 'The e-mail as the provider gave it at the last sign-in.' }),
    orgId: t.exposeID('orgId', { description: 'The organization that it signs in to.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the person first signed in so.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', description: 'When the person last signed in so.' }),
    isAdminByGroup: t.exposeBoolean('isAdminByGroup', {
      description: 'Whether the role ADMIN came with a group of the provider, and goes with it.',
    }),
  }),
});

const IdentityConnection = makeConnection(IdentityType, 'SignInIdentity', 'Identities');

const identitiesOf = batched((ids: readonly string[], { deps, caller }, page: PageRequest) =>
  loadIdentityPages(deps, caller, ids, page),
);

builder.objectField(UserRef, 'identities', (t) =>
  t.field({
    type: IdentityConnection,
    nullable: true,
    description:
      'How the user signs in by providers, newest first: for the user, and for administrators with ADMIN:READ. Null for everybody else.',
    args: { ...pageArgs(t.arg) },
    resolve: ({ id }, args, context) => identitiesOf(context, id, pageRequest(context, args)),
  }),
);

builder.mutationField('unlinkIdentity', (t) =>
  t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: UserRef,
    description:
      'Takes a person at a provider from the user: the sessions that it began end within a second, groups and the role ADMIN that came by the provider go, and the next sign-in by it is a first one again. Answers the user.',
    args: { id: t.arg.id({ description: 'The id of the identity.' }) },
    resolve: (_root, { id }, { deps, caller }) => unlinkIdentity(deps, caller, id),
  }),
);
