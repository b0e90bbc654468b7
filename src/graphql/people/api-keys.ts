import {
  type CreatedApiKey,
  createApiKey,
  findInactiveReasons,
  getApiKeys,
  listApiKeys,
  revokeApiKey,
  seesKeyEmail,
} from '../../domain/people/api-keys.ts';
import type { ApiKey } from '../../entities/people/api-key.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { ApiKeyRef, OrganizationRef, UserRef } from '../ground/refs.ts';
import { NodeType } from '../ground/types/node.ts';
import { AccessLevelType, ScopeType } from './accounts.ts';

const inactiveReasonOf = batched((keys: readonly ApiKey[], { deps }) => findInactiveReasons(deps, keys));

const ApiKeyType = ApiKeyRef.implement({
  access: { scope: 'API_KEYS:READ' },
  description: 'A key acts as one user in one organization.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the key; not the secret.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, give or take some seconds; null before its first use.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends; null: never.' }),
    inactiveReason: t.string({
      nullable: true,
      description:
        'Why it opens nothing although nobody has revoked it: its user has left since, or its maker may not make it any more. Null for keys that work, for expired and for revoked ones.',
      resolve: (key, _args, context) => inactiveReasonOf(context, key),
    }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When it was revoked.' }),
    orgId: t.exposeID('orgId', { description: 'The organization it acts in.' }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization it acts in; null for one that the caller may not see.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
    ownerUserId: t.exposeID('userId', { description: 'The user it acts as.' }),
    owner: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user it acts as; null for one that the caller may not see.',
      resolve: ({ userId }, _args, context) => loadNode(context, 'user', userId),
    }),
    ownerEmail: t.string({
      nullable: true,
      description: 'The e-mail of that user; null for keys of others without the scope ADMIN:READ.',
      resolve: (key, _args, { caller }) => (seesKeyEmail(caller, key) ? key.userEmail : null),
    }),
    name: t.exposeString('name', { description: 'What it is for.' }),
    scopes: t.field({
      type: [ScopeType],
      description: 'The scopes of the key: `AGENTS:READ`, `CHATS:WRITE`, …',
      resolve: ({ scopes }) => [...scopes],
    }),
    level: t.expose('level', { type: AccessLevelType, description: 'The reach of the key.' }),
    prefix: t.exposeString('prefix', { description: 'The first characters of the secret.' }),
    createdByUserId: t.exposeID('createdByUserId', {
      nullable: true,
      description: 'Who made the key; another than `userId` can act as that user. Null for the first key and for old keys.',
    }),
    createdBy: t.field({
      type: UserRef,
      nullable: true,
      description: 'Who made the key; null for the first key, for old keys, and for a user that the caller may not see.',
      resolve: ({ createdByUserId }, _args, context) => loadNode(context, 'user', createdByUserId),
    }),
    createdByKeyId: t.exposeID('createdByKeyId', { nullable: true, description: 'The key that it was made with.' }),
    createdByKey: t.field({
      type: ApiKeyRef,
      nullable: true,
      description: 'The key that it was made with, also a revoked one; null for one that the caller may not see.',
      resolve: ({ createdByKeyId }, _args, context) => loadNode(context, 'apiKey', createdByKeyId),
    }),
  }),
});

registerNode('apiKey', {
  typeName: 'ApiKey',
  operation: 'Query.apiKeys',
  loadMany: (ids, { deps, caller }) => getApiKeys(deps, caller, ids),
});

const CreateApiKeyPayload = builder.objectRef<CreatedApiKey>('CreateApiKeyPayload').implement({
  access: { scope: 'API_KEYS:READ' },
  description: 'A new key and its secret.',
  fields: (t) => ({
    apiKey: t.field({ type: ApiKeyType, description: 'The new key.', resolve: (createdKey) => createdKey }),
    secret: t.exposeString('key', {
      description: 'The secret itself: callers send it as their bearer token. It is shown once and kept nowhere.',
    }),
  }),
});

const ApiKeyConnection = makeConnection<ApiKey | CreatedApiKey>(ApiKeyType, 'ApiKey', 'Keys');

builder.objectField(OrganizationRef, 'apiKeys', (t) =>
  t.field({
    type: ApiKeyConnection,
    nullable: true,
    description: 'Keys that act in it, newest first: those of everybody for its administrators, their own for others.',
    args: { ...pageArgs(t.arg) },
    resolve: ({ id }, args, context) => listApiKeys(context.deps, context.caller, { orgId: id }, pageRequest(context, args)),
  }),
);

builder.queryField('apiKeys', (t) =>
  t.field({
    authScopes: { key: 'API_KEYS:READ' },
    type: ApiKeyConnection,
    description: "Keys of one organization, newest first: the caller's own, or within its administration those of others.",
    args: {
      orgId: t.arg.id({
        required: false,
        description: "Default: the caller's organization. Naming one shows administrators the keys of everybody in it.",
      }),
      userId: t.arg.id({ required: false, description: 'Only the keys of this user. Default: the caller.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { first, after, last, before, ...filter }, context) =>
      listApiKeys(context.deps, context.caller, filter, pageRequest(context, { first, after, last, before })),
  }),
);

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'A new key. It never exceeds the key that makes it.',
  fields: (t) => ({
    name: t.string({ description: '1 to 200 characters.' }),
    scopes: t.field({
      type: [ScopeType],
      description: 'At least one: `AGENTS:READ`, `CHATS:WRITE`, … WRITE does not include READ.',
    }),
    orgId: t.id({ required: false, description: "Default: the caller's organization. Others need a TENANT or INSTANCE key." }),
    userId: t.id({
      required: false,
      description: 'Default: the caller. Others need an administrator with the scope ADMIN:WRITE.',
    }),
    level: t.field({ type: AccessLevelType, required: false, description: 'The reach of the key. Default ORGANIZATION.' }),
    expiresAt: t.field({
      type: 'DateTime',
      required: false,
      description: 'When it ends. Default: with the key that makes it, or never.',
    }),
  }),
});

builder.mutationFields((t) => ({
  createApiKey: t.field({
    authScopes: { key: 'API_KEYS:WRITE' },
    type: CreateApiKeyPayload,
    description: 'Makes a key for the caller, or for a given user and organization within its reach. The secret is shown once.',
    args: { input: t.arg({ type: CreateApiKeyInput, description: 'The members of the new key.' }) },
    resolve: (_root, { input }, { deps, caller }) => createApiKey(deps, caller, input),
  }),
  revokeApiKey: t.field({
    authScopes: { key: 'API_KEYS:WRITE' },
    type: ApiKeyType,
    description: 'Ends a key: everywhere within a second, its open streams within five.',
    args: { id: t.arg.id({ description: 'The id of the key.' }) },
    resolve: (_root, { id }, { deps, caller }) => revokeApiKey(deps, caller, id),
  }),
}));
