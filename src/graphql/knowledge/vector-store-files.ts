import type { z } from 'zod';
import { listBatchFiles } from '../../domain/knowledge/vector-stores/batches.ts';
import {
  attachFile,
  detachFile,
  getStoreFile,
  getStoreFiles,
  listStoreFiles,
  pageFilesOfStores,
  pageStoreFiles,
  type StoreFilePlace,
  updateStoreFile,
} from '../../domain/knowledge/vector-stores/files.ts';
import { idAs } from '../../entities/ground/ids.ts';
import { knowledgeErrorCode } from '../../entities/knowledge/failure.ts';
import { storeFileStatuses } from '../../entities/knowledge/vector-store.ts';
import { newStoreFileBody, storeFileChangesBody } from '../../wire/vector-stores/bodies.ts';
import { builder } from '../ground/builder/builder.ts';
import { type GraphContext, textTerm } from '../ground/builder/context.ts';
import { flatInput } from '../ground/builder/flat-inputs.ts';
import { loadNode, registerNode, seenNode } from '../ground/builder/nodes.ts';
import { makeConnection, OrderType, pageArgs, pageRequest } from '../ground/pagination.ts';
import { KnowledgeItemRef, VectorStoreFileRef, VectorStoreRef } from '../ground/refs.ts';
import { AttributeInput, AttributeType, asObject, attributeEntries } from '../ground/types/entries.ts';
import { createEnum, ofFormat } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';
import { KnowledgeErrorCodeType } from './failures.ts';

export const StatusType = createEnum(
  'VectorStoreFileStatus',
  'What became of a file of a vector store.',
  storeFileStatuses,
  {
    in_progress: 'It waits or is read.',
    completed: 'Searches find it.',
    failed: 'It could not be read; `errorMessage` says why.',
    cancelled: 'Somebody stopped it.',
  },
  ofFormat,
);

const VectorStoreFileType = VectorStoreFileRef.implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A file of a vector store: a copy that is searched.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was attached.' }),
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
    fileId: t.exposeID('fileId', { description: 'The id of the file that it was made of.' }),
    file: t.field({
      type: NodeType,
      nullable: true,
      description:
        "The file that it was made of: a StoredFile, a ChatFile, or the KnowledgeItem of a data source; null when it is gone or not the caller's.",
      resolve: ({ fileId }, _args, context) => seenNode(context, fileId),
    }),
    item: t.field({
      type: KnowledgeItemRef,
      nullable: true,
      description: 'The same as a document of the data source, with its passages; null when it was taken out meanwhile.',
      resolve: ({ itemId }, _args, context) => loadNode(context, 'knowledgeItem', itemId),
    }),
    filename: t.exposeString('filename', { description: 'Its name, without any path.' }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'Its size.' }),
    status: t.expose('status', { type: StatusType, description: 'What became of it.' }),
    errorCode: t.field({
      type: KnowledgeErrorCodeType,
      nullable: true,
      description: 'Why it could not be read, for programs; null unless it failed.',
      resolve: ({ status, errorCode }) => (status === 'failed' ? knowledgeErrorCode(errorCode) : null),
    }),
    errorMessage: t.string({
      nullable: true,
      description: 'Why it could not be read, and what may help; null unless it failed.',
      resolve: ({ status, errorMessage }) => (status === 'failed' ? errorMessage : null),
    }),
    attributes: t.field({
      type: [AttributeType],
      description: 'What searches may filter by, at most 16.',
      resolve: ({ attributes }) => attributeEntries(attributes),
    }),
  }),
});

registerNode('vectorStoreFile', {
  typeName: 'VectorStoreFile',
  operation: 'Query.vectorStoreFile',
  loadMany: (ids, { deps, caller }) => getStoreFiles(deps, caller, ids),
});

export const FileConnection = makeConnection(VectorStoreFileType, 'VectorStoreFile', 'Files of a vector store');

builder.objectField(VectorStoreRef, 'files', (t) =>
  t.loadable({
    type: FileConnection,
    description: 'Its files, in the order in which they were attached.',
    args: {
      status: t.arg({ type: StatusType, required: false, description: 'Only files of this status.' }),
      order: t.arg({ type: OrderType, required: false, description: 'By time; default DESC.' }),
      ...pageArgs(t.arg),
    },
    byPath: true,
    load: (ids: string[], context, { status, order, ...page }) =>
      pageFilesOfStores(context.deps, ids, { status, order }, pageRequest(context, page, ['text'])),
    resolve: ({ id }) => idAs('dataSource', id),
  }),
);

export const attributeList = 'What searches may filter by, at most 16.';
const AttachInput = flatInput<z.output<typeof newStoreFileBody>>(
  builder.inputType('AttachVectorStoreFileInput', {
    description: 'A file to attach.',
    fields: (t) => ({
      fileId: t.id({ required: true, description: 'A file of the caller.' }),
      attributes: t.field({ type: [AttributeInput], required: false, description: attributeList }),
    }),
  }),
  { body: newStoreFileBody, members: { attributes: asObject } },
);
const UpdateInput = flatInput<z.output<typeof storeFileChangesBody>>(
  builder.inputType('UpdateVectorStoreFileInput', {
    description: 'Changes of a file of a vector store.',
    fields: (t) => ({
      attributes: t.field({
        type: [AttributeInput],
        required: false,
        description: `${attributeList} They replace the former ones; null takes all away.`,
      }),
    }),
  }),
  { body: storeFileChangesBody, members: { attributes: asObject } },
);

const storeId = { description: 'The id of the vector store.' };
const id = { description: 'The id of the file of the vector store.' };
/** REST names a file of a store by its store and the file it was made of. */
function placeIn(context: GraphContext, id: string): StoreFilePlace {
  return { id, vectorStoreId: textTerm(context, 'vectorStoreId') };
}

builder.queryFields((t) => ({
  vectorStoreFile: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: VectorStoreFileType,
    nullable: true,
    description: 'One file of a vector store; null when there is none or the caller may not read the store.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => getStoreFile(context.deps, context.caller, placeIn(context, args.id)),
  }),
  vectorStoreFiles: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: FileConnection,
    description: 'The files of a vector store that the caller may read.',
    args: {
      vectorStoreId: t.arg.id(storeId),
      status: t.arg({ type: StatusType, required: false, description: 'Only files of this status.' }),
      order: t.arg({ type: OrderType, required: false, description: 'By time; default DESC.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { vectorStoreId, status, order, ...args }, context) => {
      const { deps, caller } = context;
      if (context.terms?.byIds === true) {
        const batchId = textTerm(context, 'batchId');
        const query = { ...args, order, filter: status };
        return (
          batchId === undefined
            ? listStoreFiles(deps, caller, vectorStoreId, query)
            : listBatchFiles(deps, caller, { id: batchId, vectorStoreId }, query)
        ) as never;
      }
      return pageStoreFiles(deps, caller, vectorStoreId, { status, order }, pageRequest(context, args, ['text']));
    },
  }),
}));

builder.mutationFields((t) => ({
  attachVectorStoreFile: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: VectorStoreFileType,
    description: 'Attaches a copy of a file of the caller to a vector store, and indexes it. An attached one stays attached.',
    args: { vectorStoreId: t.arg.id(storeId), input: t.arg({ type: AttachInput, description: 'The file.' }) },
    resolve: (_root, args, { deps, caller }) => attachFile(deps, caller, args.vectorStoreId, args.input),
  }),
  updateVectorStoreFile: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: VectorStoreFileType,
    description: 'Replaces the attributes of a file of a vector store.',
    args: {
      id: t.arg.id(id),
      input: t.arg({ type: UpdateInput, description: 'What to change.' }),
    },
    resolve: (_root, args, context) => updateStoreFile(context.deps, context.caller, placeIn(context, args.id), args.input),
  }),
  detachVectorStoreFile: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: 'ID',
    description: 'Takes a file out of a vector store. The file itself stays. Returns its id.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => detachFile(context.deps, context.caller, placeIn(context, args.id)),
  }),
}));
