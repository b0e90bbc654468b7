import { knowledgeItemContent } from '../../../domain/knowledge/items.ts';
import { readableFormatNames } from '../../../engine/knowledge/extract/readable-formats.ts';
import { itemShapes, sourceDetailShapes, sourceShapes } from '../../../wire/data-sources.ts';
import type { DeclaredRoute } from '../../route.ts';

/** By the contract's names. */
export const sourceFields = `id createdAt updatedAt lastIndexedAt orgId ownerUserId name type refreshPeriod
  indexStatus indexPercentage errorCode errorMessage data: settings { ... on ApiSettings { payload } } cite orgVisible warnings { code message param }
  vectors { missingCount errorCode errorMessage }`;
const itemFields = `id name uniqueId parentUniqueId type indexStatus documentCount: passageCount tokenCount
  originalContent { contentBlobUrl filename mimeType contentUrl isContentStoredExternally }
  documentsBlobUrl: id indexPercentage metadata isBlobStorageDeleted cite errorCode errorMessage isRetryable`;
/** How the members of `sourceFields` are shown. */
export const sourceForm = { terms: { asPayload: true }, shapes: sourceShapes } as const;
const detailFields = `${sourceFields} ais: agents { nodes { id name src: pictureUrl } } ownerUser: owner { id email name }`;
const detailForm = { terms: { ...sourceForm.terms, agentsByName: true }, shapes: sourceDetailShapes } as const;
const itemForm = {
  blankNull: {
    parentUniqueId: 'The uniqueId of its parent; empty without one.',
    contentBlobUrl: 'Where its bytes are served, to callers who see the source; empty when they are not kept here.',
    mimeType: 'What it is: as declared, and once it is indexed as found in its bytes.',
    contentUrl: 'Where a reader finds the original.',
  },
  shapes: itemShapes,
} as const;
/** The source that an item must be of. */
const inSource = { dataSourceId: 'ID' } as const;
const tag = 'Data sources';
const ofAgent = '/api/v1/ais/{aiId}/data-sources';
const one = '/api/v1/data-sources/{dataSourceId}';

export const dataSourceRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'listDataSourcesOfAgent',
    method: 'get',
    path: ofAgent,
    summary: 'List data sources of an AI',
    description: 'As far as the caller sees them, newest first.',
    tag,
    spec: 'List data sources of an AI',
    document: `query { dataSources { nodes { ${sourceFields} } } }`,
    ...sourceForm,
    terms: { ...sourceForm.terms, aiId: 'ID' },
    wrap: 'data',
  },
  {
    operationId: 'attachDataSource',
    method: 'post',
    path: ofAgent,
    summary: 'Attach an existing data source to an AI',
    description: 'One of your own, or one that is open to the organization.',
    tag,
    spec: 'Attach an existing data source to an AI',
    document: `mutation ($aiId: ID!, $input: AttachDataSourceInput!) {
      attachDataSource(agentId: $aiId, input: $input) { aiId: agentId dataSourceId warnings { code message param } }
    }`,
    omitNull: ['warnings'],
    body: 'input',
    example: { dataSourceId: 'ds_01jd0000000000000000000000' },
  },
  {
    operationId: 'addApiDataSource',
    method: 'post',
    path: `${ofAgent}/api`,
    summary: 'Add API data source',
    description: 'A JSON payload of your own becomes knowledge of the AI.',
    tag,
    spec: 'Add API data source',
    document: `mutation ($aiId: ID!, $input: AddApiDataSourceInput!) {
      addDataSource(agentId: $aiId, input: { api: $input }) { dataSource { ${sourceFields} } }
    }`,
    ...sourceForm,
    member: 'dataSource',
    body: 'input',
    example: { name: 'Opening hours', data: { monday: '9 to 17', sunday: 'closed' } },
  },
  {
    operationId: 'addFileDataSource',
    method: 'post',
    path: `${ofAgent}/file`,
    summary: 'Add file-upload data source',
    description: `${readableFormatNames} are read: what a file is, is found out from its content.`,
    tag,
    spec: 'Add file-upload data source',
    document: `mutation ($aiId: ID!, $file: File!) { addFileDataSource(agentId: $aiId, file: $file) { ${sourceFields} } }`,
    ...sourceForm,
    upload: { file: 'file', sizeBytesMaxSetting: 'UPLOAD_MAX_BYTES' },
  },
  {
    operationId: 'bulkDeleteDataSources',
    method: 'post',
    path: `${ofAgent}/bulk-delete`,
    summary: 'Bulk delete data sources of an AI',
    description: 'All or none: sources that other agents use are detached, the others deleted with everything behind them.',
    tag,
    spec: 'Bulk delete data sources of an AI',
    document: `mutation ($aiId: ID!, $input: BulkDeleteDataSourcesInput!) {
      bulkDeleteDataSources(agentId: $aiId, input: $input) { aiId: agentId dataSourceIds deletedCount detachedCount warnings { code message param } }
    }`,
    omitNull: ['warnings'],
    body: 'input',
    example: { dataSourceIds: ['ds_01jd0000000000000000000000'] },
  },
  {
    operationId: 'listDataSources',
    method: 'get',
    path: '/api/v1/data-sources',
    summary: 'List data sources the user can access',
    description: 'Their own, those of their organization, and those of agents they may use, newest first.',
    tag,
    spec: 'List data sources the user can access',
    schemas: { DataSource: 'DataSourceDetail', User: 'UserSummary' },
    document: `query ($search: String, $type: DataSourceType, $limit: Int = 20, $cursor: String) {
      dataSources(search: $search, type: $type, first: $limit, after: $cursor) {
        nodes { ${detailFields} }
        pageInfo { hasNextPage endCursor }
        totalCount(exact: true)
      }
    }`,
    ...detailForm,
    terms: { ...detailForm.terms, orderBy: 'String', page: 'Int' },
    query: {
      search: 'Only those whose name holds this text; at most 200 characters.',
      type: 'Only those of this type.',
      orderBy: '`+` (ascending) or `-` (descending), then createdAt, lastIndexedAt or usageCount. Default `-createdAt`.',
      page: 'The number of the page, from 1.',
      limit: 'How many to return. Default 20.',
      cursor: 'The `nextCursor` of the page before; costs less than a high `page`.',
    },
    wrap: 'data',
    page: 'total',
  },
  {
    operationId: 'getDataSource',
    method: 'get',
    path: one,
    summary: 'Get data source',
    description: 'What it was added with, how far it is indexed, and why it failed where it did.',
    tag,
    schemas: { DataSource: 'DataSourceDetail', User: 'UserSummary' },
    document: `query ($dataSourceId: ID!) { dataSource(id: $dataSourceId) { ${detailFields} } }`,
    ...detailForm,
  },
  {
    operationId: 'updateDataSource',
    method: 'patch',
    path: one,
    summary: 'Update a data source',
    description: 'For its owner and administrators.',
    tag,
    spec: 'Update a data source',
    document: `mutation ($dataSourceId: ID!, $input: UpdateDataSourceInput!) {
      updateDataSource(id: $dataSourceId, input: $input) { ${sourceFields} }
    }`,
    ...sourceForm,
    body: 'input',
    example: { refreshPeriod: 'WEEKLY', cite: true, ais: [], orgVisible: false },
  },
  {
    operationId: 'deleteDataSource',
    method: 'delete',
    path: one,
    summary: 'Delete data source',
    description: 'For its owner and administrators. Answers the source as it was; what stands behind it is removed soon after.',
    tag,
    document: `mutation ($dataSourceId: ID!) { deleteDataSource(id: $dataSourceId) { ${sourceFields} } }`,
    ...sourceForm,
  },
  {
    operationId: 'refreshDataSource',
    method: 'post',
    path: `${one}/refresh`,
    summary: 'Refresh a data source',
    description: 'What is indexed goes on answering until the new state is complete.',
    tag,
    spec: 'Refresh a data source',
    document: `mutation ($dataSourceId: ID!, $forceRefresh: Boolean) {
      refreshDataSource(id: $dataSourceId, forceRefresh: $forceRefresh) { ${sourceFields} }
    }`,
    ...sourceForm,
    query: { forceRefresh: 'Index unchanged content too.' },
  },
  {
    operationId: 'cancelDataSource',
    method: 'post',
    path: `${one}/cancel`,
    summary: 'Cancel the reading of a data source',
    description: 'What is indexed goes on answering; what was not yet is CANCELLED. Without a run, nothing changes.',
    tag,
    document: `mutation ($dataSourceId: ID!) { cancelDataSource(id: $dataSourceId) { ${sourceFields} } }`,
    ...sourceForm,
  },
  {
    operationId: 'retryDataSource',
    method: 'post',
    path: `${one}/retry`,
    summary: 'Retry the failed items of a data source',
    description: 'Items that failed or were cancelled are indexed once more, and no others.',
    tag,
    document: `mutation ($dataSourceId: ID!) { retryDataSource(id: $dataSourceId) { ${sourceFields} } }`,
    ...sourceForm,
  },
  {
    operationId: 'listDataSourceRuns',
    method: 'get',
    path: `${one}/runs`,
    summary: 'List the runs of a data source',
    description:
      'How it was read, newest first. Of a payload or uploaded files: how they were indexed; a refresh meanwhile belongs to the same run.',
    tag,
    document: `query ($dataSourceId: ID!, $limit: Int = 20, $cursor: String) {
      dataSourceRuns(dataSourceId: $dataSourceId, first: $limit, after: $cursor) {
        nodes { id trigger isForced status startedAt listedAt endedAt listedCount addedCount changedCount unchangedCount skippedCount
          removedCount heldCount failedCount isComplete bound: boundMessage errorCode errorMessage currentItem }
        pageInfo { hasNextPage endCursor }
      }
    }`,
    query: { limit: 'How many to return. Default 20.', cursor: 'The `nextCursor` of the page before.' },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'getIndexingStatistics',
    method: 'get',
    path: `${one}/indexing-statistics`,
    summary: 'Indexing statistics',
    description: 'How many items of the source are indexed, failed, skipped or waiting.',
    tag,
    spec: 'Indexing statistics',
    document: `query ($dataSourceId: ID!) {
      indexingStatistics(dataSourceId: $dataSourceId) { doneCount failedCount pendingCount indexingCount totalCount }
    }`,
  },
  {
    operationId: 'listKnowledgeItems',
    method: 'get',
    path: `${one}/knowledge`,
    summary: 'List knowledge items',
    description: 'The documents of the source, oldest first.',
    tag,
    spec: 'List knowledge items',
    document: `query ($dataSourceId: ID!, $first: Int = 20, $cursor: String) {
      knowledgeItems(dataSourceId: $dataSourceId, first: $first, after: $cursor) {
        nodes { ${itemFields} }
        pageInfo { hasNextPage endCursor }
      }
    }`,
    ...itemForm,
    terms: { page: 'Int' },
    query: {
      first: 'How many to return. Default 20.',
      cursor: 'The `nextCursor` of the page before.',
      page: 'The number of the page, from 1.',
    },
    wrap: 'data',
    page: 'pagination',
  },
  {
    operationId: 'updateKnowledgeItem',
    method: 'patch',
    path: `${one}/knowledge/{knowledgeId}`,
    summary: 'Update a knowledge item',
    description: 'Whether answers may cite it; everything else of an item follows from its source.',
    tag,
    spec: 'Update a knowledge item',
    document: `mutation ($knowledgeId: ID!, $input: UpdateKnowledgeItemInput!) {
      updateKnowledgeItem(id: $knowledgeId, input: $input) { ${itemFields} }
    }`,
    ...itemForm,
    terms: inSource,
    body: 'input',
    example: { cite: false },
  },
  {
    operationId: 'getKnowledgeItemContent',
    method: 'get',
    path: `${one}/knowledge/{knowledgeId}/content`,
    summary: 'Get the original of a knowledge item',
    description:
      'Its bytes as they were given, as an attachment that no browser shows or runs. Citations link here: `link` is what the service signed, and works for an hour without a key. It opens a page that shows the cited passage; with `download=1` it gives the bytes, and with `original=1` it shows a PDF or an image. With a key and no such link: for callers who see the source, or may use an agent that cites it.',
    tag,
    document: 'query ($knowledgeId: ID!) { citedDocument(id: $knowledgeId) { name } }',
    terms: inSource,
    download: (deps, caller, { dataSourceId, knowledgeId }) =>
      knowledgeItemContent(deps, caller, { dataSourceId: String(dataSourceId), id: String(knowledgeId) }),
  },
];
