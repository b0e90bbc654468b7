import type { DeclaredRoute } from '../../route.ts';
import { sourceFields, sourceForm } from './sources.ts';

const tag = 'Data sources';
const one = '/api/v1/data-sources/{dataSourceId}';
const page = { limit: 'How many to return. Default 20.', cursor: 'The `nextCursor` of the page before.' };

/** Sources whose documents each person finds as far as that person may open them at the source. */
export const permissionRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'getSourcePermissions',
    method: 'get',
    path: `${one}/permissions`,
    summary: 'Get the permissions of a data source',
    description: 'Whose rights decide what is found in it, and for its owner and administrators what is known of them.',
    tag,
    document: `query ($dataSourceId: ID!) {
      dataSource(id: $dataSourceId) {
        id access linkShared recheck
        permissions {
          knownCount unknownCount reasons { code message count } readAt fullAt missingRights errorMessage
          unreadableGroups { key name message } unidentifiedCount
        }
      }
    }`,
    schemas: { DataSource: 'DataSourcePermissions' },
  },
  {
    operationId: 'getPermissionReading',
    method: 'get',
    path: `${one}/permissions/reading`,
    summary: 'Get the reading of permissions',
    description:
      'How far the reading of its permissions is, and how late it is, for its owner and administrators of a source with `"access": "MIRRORED"`.',
    tag,
    document: `query ($dataSourceId: ID!) {
      dataSource(id: $dataSourceId) {
        id access
        permissionReading { isRunning startedAt itemCount readAt failedAt latenessMs closesAt }
      }
    }`,
    schemas: { DataSource: 'DataSourcePermissionReading' },
  },
  {
    operationId: 'listOpenDocuments',
    method: 'get',
    path: `${one}/permissions/documents`,
    summary: 'List what a person can see',
    description:
      'The documents of a source with `"access": "MIRRORED"` that a person may open, oldest first, and why, without their texts: for administrators of its organization. Each asking is in the audit log.',
    tag,
    document: `query ($dataSourceId: ID!, $userId: ID!, $search: String, $limit: Int = 20, $cursor: String) {
      openDocuments(dataSourceId: $dataSourceId, userId: $userId, search: $search, first: $limit, after: $cursor) {
        nodes { id: itemId name indexStatus lists { principals { form key name isByLink } } }
        pageInfo { hasNextPage endCursor }
      }
    }`,
    query: {
      userId: 'The person: a member of the organization of the source.',
      search: 'Only those whose name holds this text; at most 200 characters.',
      ...page,
    },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'listUnidentifiedPeople',
    method: 'get',
    path: `${one}/permissions/unidentified-people`,
    summary: 'List people without an identity at a data source',
    description:
      'Persons of the organization whom a source with `"access": "MIRRORED"` knows neither by an account nor, where e-mails count there, by a verified one: for administrators. They find what is open to all.',
    tag,
    document: `query ($dataSourceId: ID!, $limit: Int = 20, $cursor: String) {
      unidentifiedPeople(dataSourceId: $dataSourceId, first: $limit, after: $cursor) {
        nodes { id name email }
        pageInfo { hasNextPage endCursor }
      }
    }`,
    schemas: { User: 'UnidentifiedPerson' },
    query: page,
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'listSourceIdentities',
    method: 'get',
    path: '/api/v1/connections/identities',
    summary: 'List your identities at sources',
    description:
      'By what sources with `"access": "MIRRORED"` know you, and what vouches for it: the e-mail first, then at most 500 accounts, the last proven first.',
    tag: 'Connections',
    document: '{ sourceIdentities { service accountId email proof provenAt connection { id provider accountName } } }',
    schemas: { Integration: 'ProvingConnection' },
    wrap: 'data',
  },
  {
    operationId: 'pushItems',
    method: 'put',
    path: `${one}/items`,
    summary: 'Push documents',
    description:
      'Adds, changes and removes documents of an API source with `"access": "MIRRORED"`, with those who may open each: all or none.',
    tag,
    document: `mutation ($dataSourceId: ID!, $input: PushItemsInput!) {
      pushItems(dataSourceId: $dataSourceId, input: $input) { addedCount changedCount removedCount permissionsChangedCount }
    }`,
    body: 'input',
    example: {
      items: [{ uniqueId: 'handbook/1', name: 'Handbook', text: '# Holidays\n\nThirty days.', acl: ['anyone_in_organization'] }],
    },
  },
  {
    operationId: 'putPrincipals',
    method: 'put',
    path: `${one}/principals`,
    summary: 'Put the members of groups',
    description: 'Says who is in groups of an API source with `"access": "MIRRORED"`, in place of who was.',
    tag,
    document: `mutation ($dataSourceId: ID!, $input: PutPrincipalsInput!) {
      putPrincipals(dataSourceId: $dataSourceId, input: $input) { ${sourceFields} }
    }`,
    ...sourceForm,
    body: 'input',
    example: { groups: [{ key: 'staff', name: 'Staff', members: ['user:ann@example.org'] }] },
  },
];
