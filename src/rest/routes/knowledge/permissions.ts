import type { DeclaredRoute } from '../../route.ts';
import { sourceFields, sourceForm } from './sources.ts';

const tag = 'Data sources';
const one = '/api/v1/data-sources/{dataSourceId}';

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
