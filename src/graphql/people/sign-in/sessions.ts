import { hasPassword, setPassword } from '../../../domain/people/sign-in/passwords.ts';
import { endOtherSessions, endSession, getSessions, listSessions } from '../../../domain/people/sign-in/sessions.ts';
import { createSignInLink, type SignInLink } from '../../../domain/people/sign-in/sign-in.ts';
import { isSession, type SignInMethod, signInMethods } from '../../../entities/people/session.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode, registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { OrganizationRef, SessionRef, UserRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';
import { ViewerType } from '../viewer.ts';

const SignInMethodType = createEnum('SignInMethod', 'How a person has signed in.', signInMethods, {
  LINK: 'By a link that works once.',
  PASSWORD: 'By e-mail and password.',
  OIDC: 'By a provider of single sign-on.',
  INVITATION: 'By an invitation.',
  PASSKEY: 'By a passkey.',
  PROXY: 'By a proxy that the operator trusts; perhaps through a key that acts for the person.',
} satisfies Record<SignInMethod, string>);

const SessionType = SessionRef.implement({
  access: { scope: 'API_KEYS:READ' },
  description:
    'A browser in which the caller has signed in. It may what the role of its user allows, in one organization; of an operator, also what a key of level INSTANCE may.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the session; not the secret.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the person signed in.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', description: 'When it was last used, give or take an hour.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends unless it is used before.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it was ended.' }),
    method: t.expose('method', { type: SignInMethodType, description: 'How the person signed in.' }),
    userAgent: t.exposeString('userAgent', { nullable: true, description: 'What the browser calls itself.' }),
    network: t.exposeString('network', {
      nullable: true,
      description: 'Where the person signed in: an IPv4 address, or the first half of an IPv6 one.',
    }),
    orgId: t.exposeID('orgId', { description: 'The organization it acts in.' }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization it acts in; null for one that the caller may not see.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
    isCurrent: t.boolean({
      description: 'Whether this call is made in it.',
      resolve: ({ id }, _args, { caller }) => id === caller.keyId,
    }),
  }),
});

registerNode('session', {
  typeName: 'Session',
  operation: 'Query.apiKeys',
  loadMany: (ids, { deps, caller }) => getSessions(deps, caller, ids),
});

const SessionConnection = makeConnection(SessionType, 'Session', 'Sessions');

builder.objectFields(ViewerType, (t) => ({
  session: t.field({
    type: SessionType,
    nullable: true,
    description: 'The session of this call; null for a call with a key.',
    resolve: (caller, _args, context) => (isSession(caller) ? loadNode(context, 'session', caller.keyId) : null),
  }),
  sessions: t.field({
    type: SessionConnection,
    description: 'Browsers in which the user is signed in, in any organization, newest first.',
    args: { ...pageArgs(t.arg) },
    resolve: (_caller, args, context) => listSessions(context.deps, context.caller, pageRequest(context, args)),
  }),
  hasPassword: t.boolean({
    description: 'Whether the user can sign in by a password.',
    resolve: (_caller, _args, { deps, caller }) => hasPassword(deps, caller),
  }),
}));

const EndOtherSessionsPayload = builder.objectRef<{ readonly count: number }>('EndOtherSessionsPayload').implement({
  access: { scope: 'API_KEYS:READ' },
  description: 'What was ended.',
  fields: (t) => ({ count: t.exposeInt('count', { description: 'How many sessions were ended.' }) }),
});

const SignInLinkPayload = builder.objectRef<SignInLink>('SignInLinkPayload').implement({
  access: { scope: 'ADMIN:WRITE' },
  description: 'A link that signs one person in, once.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The link, with its secret. It is shown once and kept nowhere.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends, used or not.' }),
    userId: t.exposeID('userId', { description: 'Whom it signs in.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'Whom it signs in; null for one that the caller may not see.',
      resolve: ({ userId }, _args, context) => loadNode(context, 'user', userId),
    }),
    orgId: t.exposeID('orgId', { description: 'The organization that the session acts in.' }),
  }),
});

const CreateSignInLinkInput = builder.inputType('CreateSignInLinkInput', {
  description: 'Whom a link signs in.',
  fields: (t) => ({
    email: t.string({ required: false, description: "The e-mail of a member. Default: the caller's user." }),
    orgId: t.id({ required: false, description: "Default: the caller's organization. Others need a TENANT or INSTANCE key." }),
  }),
});

const SetPasswordInput = builder.inputType('SetPasswordInput', {
  description: 'A new password.',
  fields: (t) => ({
    current: t.string({
      required: false,
      description: 'The password until now, where there is one. Not needed within an hour after a sign-in by a link.',
    }),
    new: t.string({ description: '12 to 200 characters.' }),
  }),
});

builder.mutationFields((t) => ({
  setPassword: t.field({
    authScopes: { key: 'API_KEYS:WRITE' },
    type: ViewerType,
    description: "Sets the password of the session's user, and ends all other sessions of the user. Keys set none.",
    args: { input: t.arg({ type: SetPasswordInput, description: 'The new password.' }) },
    resolve: async (_root, { input }, { deps, caller }) => {
      await setPassword(deps, caller, input);
      return caller;
    },
  }),
  endSession: t.field({
    authScopes: { key: 'API_KEYS:WRITE' },
    type: SessionType,
    description: "Ends one of the user's own sessions: everywhere within a second, its open streams and its runs within five.",
    args: { id: t.arg.id({ description: 'The id of the session.' }) },
    resolve: (_root, { id }, { deps, caller }) => endSession(deps, caller, id),
  }),
  endOtherSessions: t.field({
    authScopes: { key: 'API_KEYS:WRITE' },
    type: EndOtherSessionsPayload,
    description: "Ends all of the user's sessions but the one of this call; all of them for a call with a key.",
    resolve: async (_root, _args, { deps, caller }) => ({ count: await endOtherSessions(deps, caller) }),
  }),
  createSignInLink: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: SignInLinkPayload,
    description:
      'Makes a link that signs a member in, once and within an hour, for who has no other way in. Needs a key with all scopes of the role; give it to that person only.',
    args: { input: t.arg({ type: CreateSignInLinkInput, description: 'Whom it signs in.' }) },
    resolve: (_root, { input }, { deps, caller }) => createSignInLink(deps, caller, input),
  }),
}));
