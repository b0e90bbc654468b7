import {
  cancelFileBatch,
  createFileBatch,
  type FileBatchInput,
  type FileBatchPlace,
  getFileBatch,
  getFileBatches,
  pageBatchesOfStores,
  pageFilesOfBatches,
} from '../../domain/knowledge/vector-stores/batches.ts';
import { idAs } from '../../entities/ground/ids.ts';
import { statusOfBatch } from '../../entities/knowledge/vector-store.ts';
import { batchFileBody, fileBatchBody } from '../../wire/vector-stores/bodies.ts';
import { builder } from '../ground/builder/builder.ts';
import { type GraphContext, textTerm } from '../ground/builder/context.ts';
import { flatInput } from '../ground/builder/flat-inputs.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, OrderType, pageArgs, pageRequest } from '../ground/pagination.ts';
import { VectorStoreFileBatchRef, VectorStoreRef } from '../ground/refs.ts';
import { AttributeInput, asObject } from '../ground/types/entries.ts';
import { NodeType } from '../ground/types/node.ts';
import { attributeList, FileConnection, StatusType } from './vector-store-files.ts';
import { FileCountsType } from './vector-stores.ts';

const BatchType = VectorStoreFileBatchRef.implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'Files that were attached to a vector store by one request.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    vectorStoreId: t.id({
      description: 'Its vector store.',
      resolve: ({ dataSourceId }) => idAs('vectorStore', dataSourceId),
    }),
    store: t.field({
      type: VectorStoreRef,
      nullable: true,
      description: 'Its vector store; null when it was deleted meanwhile.',
      resolve: ({ dataSourceId }, _args, context) => loadNode(context, 'vectorStore', idAs('vectorStore', dataSourceId)),
    }),
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
    files: t.loadable({
      type: FileConnection,
      description: 'Its files that are still in the vector store.',
      args: {
        status: t.arg({ type: StatusType, required: false, description: 'Only files of this status.' }),
        order: t.arg({ type: OrderType, required: false, description: 'By time; default DESC.' }),
        ...pageArgs(t.arg),
      },
      byPath: true,
      load: (ids: string[], context, { status, order, ...page }) =>
        pageFilesOfBatches(context.deps, ids, { status, order }, pageRequest(context, page, ['text'])),
      resolve: ({ id }) => id,
    }),
  }),
});

registerNode('vectorStoreFileBatch', {
  typeName: 'VectorStoreFileBatch',
  operation: 'Query.vectorStoreFileBatch',
  loadMany: (ids, { deps, caller }) => getFileBatches(deps, caller, ids),
});

const BatchConnection = makeConnection(BatchType, 'VectorStoreFileBatch', 'Batches of files');

builder.objectField(VectorStoreRef, 'batches', (t) =>
  t.loadable({
    type: BatchConnection,
    description: 'The batches of files that were attached to it, newest first.',
    args: pageArgs(t.arg),
    byPath: true,
    load: (ids: string[], context, args) => pageBatchesOfStores(context.deps, ids, pageRequest(context, args, ['text'])),
    resolve: ({ id }) => idAs('dataSource', id),
  }),
);

const BatchFileInput = flatInput(
  builder.inputType('VectorStoreBatchFileInput', {
    description: 'A file of a batch.',
    fields: (t) => ({
      fileId: t.id({ required: true, description: 'A file of the caller.' }),
      attributes: t.field({ type: [AttributeInput], required: false, description: attributeList }),
    }),
  }),
  { body: batchFileBody, members: { attributes: asObject } },
);
const CreateInput = flatInput<FileBatchInput>(
  builder.inputType('CreateVectorStoreFileBatchInput', {
    description: 'Files to attach.',
    fields: (t) => ({ files: t.field({ type: [BatchFileInput], description: '1 to 2,000 files.' }) }),
  }),
  { body: fileBatchBody },
);

const storeId = { description: 'The id of the vector store.' };
const id = { description: 'The id of the batch.' };
/** REST names the store too that the batch must be of. */
function placeIn(context: GraphContext, id: string): FileBatchPlace {
  return { id, vectorStoreId: textTerm(context, 'vectorStoreId') };
}

builder.queryFields((t) => ({
  vectorStoreFileBatch: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: BatchType,
    nullable: true,
    description: 'A batch of files of a vector store; null when there is none or the caller may not read the store.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => getFileBatch(context.deps, context.caller, placeIn(context, args.id)),
  }),
}));

builder.mutationFields((t) => ({
  createVectorStoreFileBatch: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: BatchType,
    description: 'Attaches copies of files of the caller to a vector store, and indexes them. All of them or none.',
    args: { vectorStoreId: t.arg.id(storeId), input: t.arg({ type: CreateInput, description: 'The files.' }) },
    resolve: (_root, args, { deps, caller }) => createFileBatch(deps, caller, args.vectorStoreId, args.input),
  }),
  cancelVectorStoreFileBatch: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: BatchType,
    description: 'Stops the indexing of a batch. Files that are indexed stay; a batch that is over is returned as it is.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => cancelFileBatch(context.deps, context.caller, placeIn(context, args.id)),
  }),
}));
