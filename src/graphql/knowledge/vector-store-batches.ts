import {
  cancelFileBatch,
  createFileBatch,
  type FileBatchInput,
  getFileBatch,
  listBatchFiles,
} from '../../domain/knowledge/vector-stores/batches.ts';
import { statusOfBatch } from '../../entities/knowledge/vector-store.ts';
import { builder } from '../builder/builder.ts';
import { beforeArg, listArgs } from '../pagination.ts';
import { VectorStoreFileBatchRef } from '../refs.ts';
import { ChunkingStrategyInput } from '../types/json-inputs.ts';
import { attributes, FileConnection, StatusType } from './vector-store-files.ts';
import { FileCountsType } from './vector-stores.ts';

const BatchType = VectorStoreFileBatchRef.implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'Files that were attached to a vector store by one request.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the batch.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    vectorStoreId: t.exposeID('dataSourceId', { description: 'Its vector store.' }),
    status: t.field({
      type: StatusType,
      description: 'IN_PROGRESS while files are indexed, CANCELLED, FAILED when no file could be read, else COMPLETED.',
      resolve: statusOfBatch,
    }),
    fileCounts: t.field({
      type: FileCountsType,
      description: 'Its files by what became of them; files that were taken out of the store are not counted.',
      resolve: (batch) => batch,
    }),
  }),
});

const BatchFileInput = builder.inputType('VectorStoreBatchFileInput', {
  description: 'A file of a batch.',
  fields: (t) => ({
    fileId: t.id({ required: true, description: 'A file of the caller.' }),
    attributes: t.field({ type: 'ValueMap', required: false, description: attributes }),
    chunkingStrategy: t.field({ type: ChunkingStrategyInput, required: false, description: 'Only `{type: "auto"}`.' }),
  }),
});
const CreateInput = builder.inputType('CreateVectorStoreFileBatchInput', {
  description: 'Files to attach: `fileIds` or `files`.',
  fields: (t) => ({
    fileIds: t.idList({ required: false, description: 'Files of the caller, at most 2,000.' }),
    files: t.field({
      type: [BatchFileInput],
      required: false,
      description: 'Files with attributes of their own, at most 2,000.',
    }),
    attributes: t.field({ type: 'ValueMap', required: false, description: `Of all \`fileIds\`. ${attributes}` }),
    chunkingStrategy: t.field({ type: ChunkingStrategyInput, required: false, description: 'Only `{type: "auto"}`.' }),
  }),
});

const id = { description: 'The id of the vector store.' };
const batchId = { description: 'The id of the batch.' };

builder.queryFields((t) => ({
  vectorStoreFileBatch: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: BatchType,
    description: 'A batch of files of a vector store that the caller may read.',
    args: { id: t.arg.id(id), batchId: t.arg.id(batchId) },
    resolve: (_root, args, { deps, caller }) => getFileBatch(deps, caller, args.id, args.batchId),
  }),
  vectorStoreBatchFiles: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: FileConnection,
    description: 'The files of a batch that are still in the vector store.',
    args: {
      id: t.arg.id(id),
      batchId: t.arg.id(batchId),
      filter: t.arg({ type: StatusType, required: false, description: 'Only files of this status.' }),
      ...listArgs(t.arg),
      ...beforeArg(t.arg),
    },
    resolve: (_root, { id: storeId, batchId: ofBatch, ...page }, { deps, caller }) =>
      listBatchFiles(deps, caller, storeId, ofBatch, page),
  }),
}));

builder.mutationFields((t) => ({
  createVectorStoreFileBatch: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: BatchType,
    description: 'Attaches copies of files of the caller to a vector store, and indexes them. All of them or none.',
    args: { id: t.arg.id(id), input: t.arg({ type: CreateInput, description: 'The files.' }) },
    resolve: (_root, args, { deps, caller }) => createFileBatch(deps, caller, args.id, args.input as FileBatchInput),
  }),
  cancelVectorStoreFileBatch: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: BatchType,
    description: 'Stops the indexing of a batch. Files that are indexed stay; a batch that is over is returned as it is.',
    args: { id: t.arg.id(id), batchId: t.arg.id(batchId) },
    resolve: (_root, args, { deps, caller }) => cancelFileBatch(deps, caller, args.id, args.batchId),
  }),
}));
