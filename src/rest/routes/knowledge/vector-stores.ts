import { getFileContent } from '../../../domain/knowledge/vector-stores/content.ts';
import {
  deletedStoreReply,
  detachedFileReply,
  fileBatchReply,
  storeFileContentReply,
  storeFileListReply,
  storeFileReply,
  storeListReply,
  storeReply,
  storeSearchReply,
} from '../../../wire/vector-stores/vector-stores.ts';
import type { DeclaredRoute } from '../../route.ts';

const stores = '/api/v1/vector_stores';
const store = `${stores}/{vectorStoreId}`;
const files = `${store}/files`;
const file = `${files}/{fileId}`;
const batches = `${store}/file_batches`;
/** Stock clients that wait for an index ask again after so many milliseconds; without it, after five seconds. */
const pollAgain = { 'openai-poll-after-ms': '500' };
const batch = `${batches}/{batchId}`;

const page = {
  after: 'The id of the one before the page.',
  before: 'The id of the one behind the page.',
  limit: 'From 1 to 100; default 20.',
  order: 'By time: asc or desc (default).',
};
/** The store that a file or a batch must be of. */
const inStore = { vectorStoreId: 'ID' } as const;
const body = { body: 'input', bodyCase: 'snake' } as const;

const listing = `query ($vectorStoreId: ID!, $filter: VectorStoreFileStatus, $after: String, $before: String, $limit: Int, $order: ItemOrder) {
  vectorStoreFiles(vectorStoreId: $vectorStoreId, status: $filter, after: $after, before: $before, first: $limit, order: $order) { nodes { id } }
}`;

const rows: readonly Omit<DeclaredRoute, 'tag' | 'forClients'>[] = [
  {
    operationId: 'createVectorStore',
    method: 'post',
    path: stores,
    summary: 'Create a vector store',
    description:
      'A data source of type FILE_UPLOAD that belongs to no agent and holds any number of files. It can be attached to agents.',
    document: 'mutation ($input: CreateVectorStoreInput) { createVectorStore(input: $input) { id } }',
    reply: storeReply,
    ...body,
    example: { name: 'Handbooks', metadata: { team: 'support' }, expires_after: { anchor: 'last_active_at', days: 30 } },
  },
  {
    operationId: 'listVectorStores',
    method: 'get',
    path: stores,
    summary: 'List vector stores',
    description: 'Those that the caller sees, newest first unless `order` says otherwise.',
    document: `query ($after: String, $before: String, $limit: Int, $order: ItemOrder) {
      vectorStores(after: $after, before: $before, first: $limit, order: $order) { nodes { id } }
    }`,
    reply: storeListReply,
    terms: { byIds: true },
    query: page,
  },
  {
    operationId: 'getVectorStore',
    method: 'get',
    path: store,
    summary: 'Retrieve a vector store',
    description: 'Its name, when it expires, and how many of its files are indexed.',
    document: 'query ($vectorStoreId: ID!) { vectorStore(id: $vectorStoreId) { id } }',
    reply: storeReply,
  },
  {
    operationId: 'updateVectorStore',
    method: 'post',
    path: store,
    summary: 'Update a vector store',
    description: 'Absent members are kept.',
    document:
      'mutation ($vectorStoreId: ID!, $input: UpdateVectorStoreInput!) { updateVectorStore(id: $vectorStoreId, input: $input) { id } }',
    reply: storeReply,
    ...body,
    example: { name: 'Manuals', metadata: { team: 'sales' }, expires_after: null },
  },
  {
    operationId: 'deleteVectorStore',
    method: 'delete',
    path: store,
    summary: 'Delete a vector store',
    description: 'With its copies of files. The files themselves stay.',
    document: 'mutation ($vectorStoreId: ID!) { deleteVectorStore(id: $vectorStoreId) }',
    reply: deletedStoreReply,
  },
  {
    operationId: 'searchVectorStore',
    method: 'post',
    path: `${store}/search`,
    summary: 'Search a vector store',
    description: 'The best passages first. `filters` choose the files that are searched. `score` is above 0 and below 1.',
    document: `query ($vectorStoreId: ID!, $input: VectorStoreSearchInput!) {
      vectorStoreSearch(id: $vectorStoreId, input: $input) { queries }
    }`,
    reply: storeSearchReply,
    ...body,
    example: {
      query: 'When is the office open?',
      max_num_results: 5,
      filters: { type: 'eq', key: 'year', value: 2026 },
      ranking_options: { ranker: 'auto', score_threshold: 0.1 },
      rewrite_query: false,
    },
  },
  {
    operationId: 'attachVectorStoreFile',
    method: 'post',
    path: files,
    summary: 'Attach a file to a vector store',
    description: 'Copies and indexes it; `status` says how far that is. Answers at once. A file that is attached stays attached.',
    document: `mutation ($vectorStoreId: ID!, $input: AttachVectorStoreFileInput!) {
      attachVectorStoreFile(vectorStoreId: $vectorStoreId, input: $input) { id }
    }`,
    reply: storeFileReply,
    ...body,
    example: { file_id: 'file_01ke2s7d4vfzgv0b4xw2q9a1bc', attributes: { year: 2026 }, chunking_strategy: { type: 'auto' } },
  },
  {
    operationId: 'listVectorStoreFiles',
    method: 'get',
    path: files,
    summary: 'List the files of a vector store',
    description: 'Its files with their state, newest first unless `order` says otherwise.',
    document: listing,
    reply: storeFileListReply,
    terms: { byIds: true },
    query: { filter: 'Only files of this status.', ...page },
  },
  {
    operationId: 'getVectorStoreFile',
    method: 'get',
    path: file,
    summary: 'Retrieve a file of a vector store',
    description: 'How far one file is indexed, and why it failed where it did.',
    document: 'query ($fileId: ID!) { vectorStoreFile(id: $fileId) { id } }',
    terms: inStore,
    reply: storeFileReply,
    headers: pollAgain,
  },
  {
    operationId: 'updateVectorStoreFile',
    method: 'post',
    path: file,
    summary: 'Update the attributes of a file of a vector store',
    description: 'Replaces the attributes that searches filter by.',
    document: `mutation ($fileId: ID!, $input: UpdateVectorStoreFileInput!) {
      updateVectorStoreFile(id: $fileId, input: $input) { id }
    }`,
    terms: inStore,
    reply: storeFileReply,
    ...body,
    example: { attributes: { year: 2026 } },
  },
  {
    operationId: 'getVectorStoreFileContent',
    method: 'get',
    path: `${file}/content`,
    summary: 'Retrieve the text of a file of a vector store',
    description: 'As it was read, passage by passage: joined they are the text. Empty before the file is indexed.',
    document: 'query ($fileId: ID!) { vectorStoreFile(id: $fileId) { id } }',
    terms: { ...inStore, page: 'String' },
    reply: storeFileContentReply,
    read: (deps, caller, { vectorStoreId, fileId, page: nextPage }) =>
      getFileContent(deps, caller, String(vectorStoreId), String(fileId), nextPage as string | undefined),
    query: { page: 'The `next_page` of the page before.' },
  },
  {
    operationId: 'createVectorStoreFileBatch',
    method: 'post',
    path: batches,
    summary: 'Attach several files to a vector store',
    description:
      'All of them or none: `file_ids`, or `files` with attributes of their own; at most 2,000. Answers when they are copied; `status` says how far their indexing is.',
    document: `mutation ($vectorStoreId: ID!, $input: CreateVectorStoreFileBatchInput!) {
      createVectorStoreFileBatch(vectorStoreId: $vectorStoreId, input: $input) { id }
    }`,
    reply: fileBatchReply,
    ...body,
    example: {
      files: [{ file_id: 'file_01ke2s7d4vfzgv0b4xw2q9a1bc', attributes: { year: 2026 }, chunking_strategy: { type: 'auto' } }],
    },
  },
  {
    operationId: 'getVectorStoreFileBatch',
    method: 'get',
    path: batch,
    summary: 'Retrieve a batch of files of a vector store',
    description: 'How many files of the batch are indexed, failed, cancelled or waiting.',
    document: 'query ($batchId: ID!) { vectorStoreFileBatch(id: $batchId) { id } }',
    terms: inStore,
    reply: fileBatchReply,
    headers: pollAgain,
  },
  {
    operationId: 'cancelVectorStoreFileBatch',
    method: 'post',
    path: `${batch}/cancel`,
    summary: 'Cancel a batch of files of a vector store',
    description: 'Its files that are not indexed yet stay unread. A batch that is over comes back unchanged.',
    document: 'mutation ($batchId: ID!) { cancelVectorStoreFileBatch(id: $batchId) { id } }',
    terms: inStore,
    reply: fileBatchReply,
  },
  {
    operationId: 'listVectorStoreBatchFiles',
    method: 'get',
    path: `${batch}/files`,
    summary: 'List the files of a batch',
    description: 'The files of one batch with their state.',
    document: listing,
    reply: storeFileListReply,
    terms: { byIds: true, batchId: 'ID' },
    query: { filter: 'Only files of this status.', ...page },
  },
  {
    operationId: 'detachVectorStoreFile',
    method: 'delete',
    path: file,
    summary: 'Take a file out of a vector store',
    description: 'The file itself stays.',
    document: 'mutation ($fileId: ID!) { detachVectorStoreFile(id: $fileId) }',
    terms: inStore,
    reply: detachedFileReply,
  },
];

export const vectorStoreRoutes: readonly DeclaredRoute[] = rows.map((row) => ({
  ...row,
  tag: 'Vector stores',
  forClients: true,
}));
