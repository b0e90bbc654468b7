import { type CreatedApiKey, createApiKey, listApiKeys, revokeApiKey, seesKeyEmail } from '../../domain/accounts/api-keys.ts';
import type { ApiKey } from '../../entities/accounts/api-key.ts';
import { builder } from '../builder/builder.ts';
import { connectionOf, pageArgs, pageRequest } from '../pagination.ts';
import { ApiKeyRef } from '../refs.ts';
import { AccessLevelType } from './accounts.ts';

const ApiKeyType = ApiKeyRef.implement({
  access: { scope: 'API_KEYS:READ' },
  description: 'A key acts as one user in one organization.',
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
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When it was revoked.' }),
    orgId: t.exposeID('orgId', { description: 'The organization it acts in.' }),
    userId: t.exposeID('userId', { description: 'The user it acts as.' }),
    userEmail: t.string({
      description: 'The e-mail of that user. Empty for keys of others without the scope ADMIN:READ.',
      resolve: (key, _args, { caller }) => (seesKeyEmail(caller, key) ? key.userEmail : ''),
    }),
    name: t.exposeString('name', { description: 'What it is for.' }),
    scopes: t.stringList({
      description: 'The scopes of the key: `AGENTS:READ`, `CHATS:WRITE`, …',
      resolve: ({ scopes }) => [...scopes],
    }),
    level: t.expose('level', { type: AccessLevelType, description: 'The reach of the key.' }),
    prefix: t.exposeString('prefix', { description: 'The first characters of the secret.' }),
    createdByUserId: t.exposeID('createdByUserId', {
      nullable: true,
      description: 'Who made the key; another than `userId` can act as that user. Null for the first key and for old keys.',
    }),
    createdByKeyId: t.exposeID('createdByKeyId', { nullable: true, description: 'The key that it was made with.' }),
    key: t.string({
      nullable: true,
      description: 'The secret itself, in the reply of its creation only. It is kept nowhere.',
      resolve: (key) => ('key' in key ? key.key : null),
    }),
  }),
});

const ApiKeyConnection = connectionOf<ApiKey | CreatedApiKey>(ApiKeyType, 'ApiKey', 'Keys');

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
    scopes: t.stringList({ description: 'At least one: `AGENTS:READ`, `CHATS:WRITE`, … WRITE does not include READ.' }),
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
    type: ApiKeyType,
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
