import type { DeclaredRoute } from '../../route.ts';
import { sourceFields } from './sources.ts';

const tag = 'Data sources';
const ofAgent = '/api/v1/ais/{aiId}/data-sources';
/** The kinds that a connector reads, and files sent to a signed link. */
export const dataSourceKindRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'addWebUrlDataSource',
    method: 'post',
    path: `${ofAgent}/web-url`,
    summary: 'Add web URL source',
    description: 'A web site, read from one address on.',
    tag,
    spec: 'Add web URL source',
    document: `mutation ($aiId: ID!, $input: AddWebUrlDataSourceInput!) {
      addDataSource(agentId: $aiId, input: { webUrl: $input }) { dataSource { ${sourceFields} } }
    }`,
    member: 'dataSource',
    body: 'input',
    example: {
      url: 'https://example.com/docs',
      dataRefreshPeriod: 'WEEKLY',
      includeFiles: true,
      includedFileTypes: ['PDF', 'MARKDOWN'],
      includeUrlGlobs: ['https://example.com/docs/**'],
      excludeUrlGlobs: ['**/old/**'],
      maxPages: 200,
      maxMemory: 1_024,
      timeout: 3_600,
    },
  },
  {
    operationId: 'addDriveADataSources',
    method: 'post',
    path: `${ofAgent}/drive-a`,
    summary: 'Add drive-A sources',
    description: 'One source for each file or folder, all or none. A folder brings all that is in it.',
    tag,
    spec: 'Add drive-A sources',
    document: `mutation ($aiId: ID!, $input: AddDriveADataSourcesInput!) {
      addDataSource(agentId: $aiId, input: { driveA: $input }) { dataSources { ${sourceFields} } }
    }`,
    member: 'dataSources',
    body: 'input',
    wrap: 'data',
    example: {
      oauthTokenId: 'oat_01jd0000000000000000000000',
      files: [{ id: '1AbC', name: 'Handbook' }],
      dataRefreshPeriod: 'DAILY',
    },
  },
  {
    operationId: 'addDriveBDataSource',
    method: 'post',
    path: `${ofAgent}/drive-b`,
    summary: 'Add drive-B source',
    description: 'A file, a folder with all that is in it, or a whole drive or library (its root).',
    tag,
    spec: 'Add drive-B source',
    document: `mutation ($aiId: ID!, $input: AddDriveBDataSourceInput!) {
      addDataSource(agentId: $aiId, input: { driveB: $input }) { dataSource { ${sourceFields} } }
    }`,
    member: 'dataSource',
    body: 'input',
    example: {
      oauthTokenId: 'oat_01jd0000000000000000000000',
      fileId: '01ABC',
      filename: 'Handbook.docx',
      dataRefreshPeriod: 'DAILY',
    },
  },
  {
    operationId: 'addWikiDataSource',
    method: 'post',
    path: `${ofAgent}/wiki`,
    summary: 'Add wiki source',
    description:
      'A wiki: one page, a page with those below it, a space, or all spaces. `errorCode` and `errorMessage` say why one cannot be read.',
    tag,
    spec: 'Add wiki source',
    document: `mutation ($aiId: ID!, $input: AddWikiDataSourceInput!) {
      addDataSource(agentId: $aiId, input: { wiki: $input }) { dataSource { ${sourceFields} } }
    }`,
    member: 'dataSource',
    body: 'input',
    example: {
      oauthTokenId: 'oat_01jd0000000000000000000000',
      pageName: 'Handbook',
      pageId: '4711',
      contentType: 'page',
      spaceId: '17',
      dataRefreshPeriod: 'DAILY',
      indexChildPages: true,
      indexAttachments: false,
    },
  },
  {
    operationId: 'addTrackerDataSource',
    method: 'post',
    path: `${ofAgent}/tracker`,
    summary: 'Add tracker source',
    description: 'The issues of a project, with their comments. `errorCode` and `errorMessage` say why it cannot be read.',
    tag,
    spec: 'Add tracker source',
    document: `mutation ($aiId: ID!, $input: AddTrackerDataSourceInput!) {
      addDataSource(agentId: $aiId, input: { tracker: $input }) { dataSource { ${sourceFields} } }
    }`,
    member: 'dataSource',
    body: 'input',
    example: {
      oauthTokenId: 'oat_01jd0000000000000000000000',
      projectName: 'Help desk',
      projectKey: 'HELP',
      dataRefreshPeriod: 'DAILY',
    },
  },
  {
    operationId: 'addRepoHostDataSource',
    method: 'post',
    path: `${ofAgent}/repo-host`,
    summary: 'Add repository-host source',
    description: 'Repositories of an installation of the GitHub App: those that are named, or all that it sees.',
    tag,
    spec: 'Add repository-host source',
    document: `mutation ($aiId: ID!, $input: AddRepoHostDataSourceInput!) {
      addDataSource(agentId: $aiId, input: { repoHost: $input }) { dataSource { ${sourceFields} } }
    }`,
    member: 'dataSource',
    body: 'input',
    example: { mode: 'repos', repoHostAppInstallationId: 4_711, repos: ['example/handbook'], dataRefreshPeriod: 'DAILY' },
  },
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
    query: { ticket: 'What the service signed.' },
    ticket: 'ticket',
    upload: { file: 'file', sizeBytesMaxSetting: 'UPLOAD_MAX_BYTES', isRaw: true },
  },
];
