import type { SourceKind } from '../../../engine/knowledge/connectors/kind.ts';
import { connectedKinds } from '../../../engine/knowledge/connectors/registry.ts';
import { choiceName, inputName, operationName } from '../../../wire/data-sources.ts';
import type { DeclaredRoute } from '../../route.ts';
import { sourceFields, sourceForm } from './sources.ts';

const tag = 'Data sources';
const ofAgent = '/api/v1/ais/{aiId}/data-sources';

/** What adds a source of a kind, or one for each item of a list. */
function toRoute(kind: SourceKind): DeclaredRoute {
  const { path, summary, description, isInContract, example } = kind.route;
  const member = kind.each === undefined ? 'dataSource' : 'dataSources';
  return {
    operationId: operationName(kind),
    method: 'post',
    path: `${ofAgent}/${path}`,
    ...{ summary, description, tag },
    ...(isInContract === true ? { spec: summary } : {}),
    document: `mutation ($aiId: ID!, $input: ${inputName(kind)}!) {
      addDataSource(agentId: $aiId, input: { ${choiceName(kind)}: $input }) { ${member} { ${sourceFields} } }
    }`,
    ...sourceForm,
    member,
    body: 'input',
    ...(kind.each === undefined ? {} : { wrap: 'data' }),
    example,
  };
}

/** The kinds that a connector reads, and files sent to a signed link. */
export const dataSourceKindRoutes: readonly DeclaredRoute[] = [
  ...connectedKinds.map(toRoute),
  {
    operationId: 'createUploadToken',
    method: 'post',
    path: `${ofAgent}/upload-token`,
    summary: 'Create signed upload token for blob storage',
    description: 'Send the file to `url` with PUT, once, within an hour, without a key; the data source is made then.',
    tag,
    spec: 'Create signed upload token for blob storage; the data source is created after the upload',
    document: `mutation ($aiId: ID!, $input: CreateUploadTokenInput!) {
      createUploadToken(agentId: $aiId, input: $input) { url pathname contentType: mimeType size: sizeBytes expiresAt }
    }`,
    body: 'input',
    example: { filename: 'handbook.md', contentType: 'text/markdown', size: 1_234 },
  },
  {
    operationId: 'uploadDataSource',
    method: 'put',
    path: `${ofAgent}/uploads/{uploadId}`,
    summary: 'Send the file of a signed link',
    description: 'The bytes of the file, with exactly the size and type that were announced. The link stands for a key.',
    tag,
    document: `mutation ($aiId: ID!, $uploadId: ID!, $ticket: String!, $file: File!) {
      uploadDataSource(agentId: $aiId, uploadId: $uploadId, ticket: $ticket, file: $file) { ${sourceFields} }
    }`,
    ...sourceForm,
    query: { ticket: 'What the service signed.' },
    ticket: 'ticket',
    upload: { file: 'file', sizeBytesMaxSetting: 'UPLOAD_MAX_BYTES', isRaw: true },
  },
];
