import { createdSecret } from '../../../wire/people.ts';
import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const keyFields =
  'id createdAt updatedAt lastUsedAt expiresAt revokedAt orgId userId: ownerUserId userEmail: ownerEmail name scopes level prefix createdByUserId createdByKeyId';
const blankNull = { userEmail: 'The e-mail of that user. Empty for keys of others without the scope ADMIN:READ.' };

export const apiKeyRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'createApiKey',
    method: 'post',
    path: '/api/v1/api-keys',
    summary: 'Create API key',
    description:
      'For the caller, or for a given user and organization within its reach; for another user with the scope ADMIN:WRITE. `key` is the secret: it is shown once.',
    tag: 'API keys',
    spec: 'Create API key for the caller or a given user and organization',
    schemas: { ApiKey: 'CreatedApiKey' },
    document: `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { ${keyFields} } key: secret } }`,
    member: 'apiKey',
    blankNull,
    shapes: { key: createdSecret },
    body: 'input',
    example: { name: 'Nightly report', scopes: ['AGENTS:READ', 'CHATS:WRITE'], level: 'ORGANIZATION' },
  },
  {
    operationId: 'listApiKeys',
    method: 'get',
    path: '/api/v1/api-keys',
    summary: 'List API keys',
    description: "The caller's own, newest first; administrators name an organization or a user for those of others.",
    tag: 'API keys',
    document: `query ($orgId: ID, $userId: ID, $limit: Int = 100, $cursor: String) {
      apiKeys(orgId: $orgId, userId: $userId, first: $limit, after: $cursor) {
        nodes { ${keyFields} }
        ${pageInfo}
      }
    }`,
    blankNull,
    query: {
      orgId: 'The organization; naming one shows administrators the keys of everybody in it.',
      userId: 'Only the keys of this user.',
      ...pageQuery,
    },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'revokeApiKey',
    method: 'delete',
    path: '/api/v1/api-keys/{keyId}',
    summary: 'Revoke API key',
    description: 'Everywhere within a second; its open streams end within five.',
    tag: 'API keys',
    document: `mutation ($keyId: ID!) { revokeApiKey(id: $keyId) { ${keyFields} } }`,
    blankNull,
  },
];
