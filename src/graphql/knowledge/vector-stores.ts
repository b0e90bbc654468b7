import { type SearchInput, searchVectorStore } from '../../domain/knowledge/vector-stores/search.ts';
import {
  type CreateVectorStoreInput as CreateShape,
  createVectorStore,
  deleteVectorStore,
  getVectorStore,
  getVectorStores,
  listVectorStores,
  pageVectorStores,
  type UpdateVectorStoreInput as UpdateShape,
  updateVectorStore,
} from '../../domain/knowledge/vector-stores/stores.ts';
import { findLivingUsers } from '../../domain/people/accounts.ts';
import { idAs } from '../../entities/ground/ids.ts';
import type { DataSource } from '../../entities/knowledge/data-source.ts';
import {
  type StoreFileCounts,
  type StoreHit,
  type StoreSearchResults,
  statusOfStore,
  storeStatuses,
} from '../../entities/knowledge/vector-store.ts';
import { newStoreBody, storeChangesBody, storeSearchBody } from '../../wire/vector-stores/bodies.ts';
import { AttributeFilterInput } from '../agents/tools/filters.ts';
import { builder } from '../ground/builder/builder.ts';
import { flatInput } from '../ground/builder/flat-inputs.ts';
import { reading } from '../ground/builder/members.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, OrderType, pageArgs, pageRequest } from '../ground/pagination.ts';
import { DataSourceRef, UserRef, VectorStoreFileRef, VectorStoreRef } from '../ground/refs.ts';
import { asObject, MetadataEntryInput, MetadataEntryType, metadataEntries } from '../ground/types/entries.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';

export const FileCountsType = builder.objectRef<StoreFileCounts>('VectorStoreFileCounts').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'Files of a vector store or of one of its batches, by what became of them.',
  fields: (t) => ({
    inProgress: t.exposeInt('inProgress', { description: 'Waiting or at work.' }),
    completed: t.exposeInt('completed', { description: 'Found by searches.' }),
    failed: t.exposeInt('failed', { description: 'Not read, with a reason.' }),
    cancelled: t.exposeInt('cancelled', { description: 'Stopped.' }),
    total: t.int({
      description: 'All together.',
      resolve: ({ inProgress, completed: completedCount, failed: failedCount, cancelled: cancelledCount }) =>
        inProgress + completedCount + failedCount + cancelledCount,
    }),
  }),
});

const StatusType = createEnum('VectorStoreStatus', 'Whether a vector store is ready.', storeStatuses, {
  in_progress: 'Files are indexed.',
  completed: 'All files are indexed, or could not be.',
  expired: 'Its files are removed.',
});

const VectorStoreType = VectorStoreRef.implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A data source that was made for no agent and holds any number of files.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.id({
      description: 'Its own id. Where a vector store is named, the id of its data source will do too.',
      resolve: ({ id }) => idAs('vectorStore', id),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    dataSourceId: t.id({ description: 'The id of the data source.', resolve: ({ id }) => idAs('dataSource', id) }),
    source: t.field({
      type: DataSourceRef,
      nullable: true,
      description: 'The same as a data source, which can be attached to agents; null when it was deleted meanwhile.',
      resolve: ({ id }, _args, context) => loadNode(context, 'dataSource', idAs('dataSource', id)),
    }),
    ownerUserId: t.exposeID('ownerUserId', { description: 'Who made it.' }),
    owner: t.loadable({
      type: UserRef,
      nullable: true,
      description: 'Who made it; null when that user is gone.',
      load: (ids: string[], { deps }) => findLivingUsers(deps, ids),
      resolve: ({ ownerUserId }) => ownerUserId,
    }),
    name: t.string({ nullable: true, description: 'Null when none was given.', resolve: ({ name }) => blankAsNull(name) }),
    description: t.string({
      nullable: true,
      description: 'What it is for; null when nothing was said.',
      resolve: ({ description }) => blankAsNull(description),
    }),
    sizeBytes: t.field({ type: 'Count', description: 'Bytes of its files.', resolve: ({ usageBytes }) => usageBytes }),
    fileCounts: t.field({ type: FileCountsType, description: 'Its files by what became of them.', resolve: (store) => store }),
    status: t.field({
      type: StatusType,
      description: 'Whether it is ready.',
      resolve: (store, _args, { deps }) => statusOfStore(store, deps.now()),
    }),
    lastActiveAt: t.expose('lastActiveAt', {
      type: 'DateTime',
      description: 'When it was last changed or searched, to the minute.',
    }),
    expiresAfterDays: t.exposeInt('expiresAfterDays', {
      nullable: true,
      description: 'After how many days without a change or a search its files are removed; null for never.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its files are removed; null for never.',
    }),
    metadata: t.field({
      type: [MetadataEntryType],
      description: 'Texts that the caller keeps with it, at most 16.',
      resolve: ({ metadata }) => metadataEntries(metadata),
    }),
  }),
});

function blankAsNull(text: string): string | null {
  return text === '' ? null : text;
}

registerNode('vectorStore', {
  typeName: 'VectorStore',
  operation: 'Query.vectorStore',
  loadMany: async (ids, { deps, caller }) =>
    (await getVectorStores(deps, caller, ids)).map((store) => ({ ...store, id: idAs('vectorStore', store.id) })),
});

builder.objectField(DataSourceRef, 'vectorStore', (t) =>
  t.field({
    extensions: reading<DataSource>('type'),
    type: VectorStoreRef,
    nullable: true,
    description: 'The same as a vector store; null for a source that is none.',
    resolve: ({ id, type }, _args, context) =>
      type === 'FILE_UPLOAD' ? loadNode(context, 'vectorStore', idAs('vectorStore', id)) : null,
  }),
);

const VectorStoreConnection = makeConnection(VectorStoreType, 'VectorStore', 'Vector stores');

const ResultType = builder.objectRef<StoreHit>('VectorStoreSearchHit').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A passage that a search found.',
  fields: (t) => ({
    file: t.field({ type: VectorStoreFileRef, description: 'The file it stands in.', resolve: ({ file }) => file }),
    score: t.exposeFloat('score', { description: 'Above 0 and below 1, higher for a better fit.' }),
    text: t.exposeString('text', { description: 'The passage.' }),
  }),
});
const ResultsType = builder.objectRef<StoreSearchResults>('VectorStoreSearch').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'What a search found.',
  fields: (t) => ({
    queries: t.field({ type: ['String'], description: 'What was searched for.', resolve: ({ queries }) => [...queries] }),
    hits: t.field({ type: [ResultType], description: 'The best first; at most 50.', resolve: ({ hits }) => [...hits] }),
  }),
});

const text = {
  expiresAfterDays: 'After how many days without a change or a search its files are removed: 1 to 365; null for never.',
  entries: 'Texts to keep with it, at most 16.',
};
const expiry = {
  name: 'expiresAfter',
  flatten: (days: unknown) => ({ anchor: 'last_active_at', days }),
  place: () => [],
};

const CreateInput = flatInput<CreateShape>(
  builder.inputType('CreateVectorStoreInput', {
    description: 'A new vector store.',
    fields: (t) => ({
      name: t.string({ required: false, description: 'At most 200 characters.' }),
      description: t.string({ required: false, description: 'At most 2,000 characters.' }),
      fileIds: t.idList({ required: false, description: 'Files to begin with, at most 100.' }),
      expiresAfterDays: t.int({ required: false, description: text.expiresAfterDays }),
      metadata: t.field({ type: [MetadataEntryInput], required: false, description: text.entries }),
    }),
  }),
  { body: newStoreBody, members: { expiresAfterDays: expiry, metadata: asObject } },
);

const UpdateInput = flatInput<UpdateShape>(
  builder.inputType('UpdateVectorStoreInput', {
    description: 'Changes of a vector store: absent members are kept.',
    fields: (t) => ({
      name: t.string({ required: false, description: 'At most 200 characters; null keeps it.' }),
      expiresAfterDays: t.int({ required: false, description: text.expiresAfterDays }),
      metadata: t.field({ type: [MetadataEntryInput], required: false, description: `${text.entries} Null takes all away.` }),
    }),
  }),
  { body: storeChangesBody, members: { expiresAfterDays: expiry, metadata: asObject } },
);

const SearchInputType = flatInput<SearchInput>(
  builder.inputType('VectorStoreSearchInput', {
    description: 'What to search for.',
    fields: (t) => ({
      queries: t.stringList({ description: '1 to 10 texts of at most 8,000 characters.' }),
      limit: t.int({ required: false, description: 'Most passages, from 1 to 50; default 10.' }),
      filter: t.field({
        type: AttributeFilterInput,
        required: false,
        description: 'Which files are searched, by their attributes.',
      }),
      scoreThreshold: t.float({ required: false, description: 'The least score, from 0 to 1.' }),
    }),
  }),
  {
    body: storeSearchBody,
    members: {
      queries: 'query',
      limit: 'maxNumResults',
      filter: 'filters',
      scoreThreshold: { name: 'rankingOptions', flatten: (score_threshold) => ({ score_threshold }), place: () => [] },
    },
  },
);

const id = { description: 'The id of the vector store.' };
builder.queryFields((t) => ({
  vectorStore: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: VectorStoreType,
    nullable: true,
    description: 'A vector store that the caller may read, by the rules of data sources; null when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getVectorStore(deps, caller, args.id),
  }),
  vectorStores: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: VectorStoreConnection,
    description: 'The vector stores that the caller may read.',
    args: {
      order: t.arg({ type: OrderType, required: false, description: 'By time; default DESC.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { order, ...args }, context) => {
      const { deps, caller } = context;
      if (context.terms?.byIds === true) return listVectorStores(deps, caller, { ...args, order }) as never;
      return pageVectorStores(deps, caller, { ...pageRequest(context, args, ['text']), order: order ?? 'desc' });
    },
  }),
  vectorStoreSearch: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: ResultsType,
    description: 'Finds the passages of a vector store that fit a question. No model is asked.',
    args: { id: t.arg.id(id), input: t.arg({ type: SearchInputType, description: 'What to search for.' }) },
    resolve: (_root, args, { deps, caller, signal }) => searchVectorStore(deps, caller, args.id, args.input, signal),
  }),
}));

builder.mutationFields((t) => ({
  createVectorStore: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: VectorStoreType,
    description: 'Makes a data source for no agent that holds any number of files.',
    args: { input: t.arg({ type: CreateInput, required: false, description: 'What it begins with.' }) },
    resolve: (_root, { input }, { deps, caller }) => createVectorStore(deps, caller, input ?? {}),
  }),
  updateVectorStore: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: VectorStoreType,
    description: 'Changes a vector store; for its owner and administrators.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateInput, description: 'What to change.' }) },
    resolve: (_root, args, { deps, caller }) => updateVectorStore(deps, caller, args.id, args.input),
  }),
  deleteVectorStore: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: 'ID',
    description: 'Deletes a vector store with its copies of files. The files themselves stay. Returns its id.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteVectorStore(deps, caller, args.id),
  }),
}));
