import type { PageInput } from '../../domain/knowledge/vector-stores/input.ts';
import {
  type SearchHit,
  type SearchInput,
  type SearchResults,
  searchVectorStore,
} from '../../domain/knowledge/vector-stores/search.ts';
import {
  createVectorStore,
  deleteVectorStore,
  getVectorStore,
  isExpired,
  listVectorStores,
  updateVectorStore,
} from '../../domain/knowledge/vector-stores/stores.ts';
import type { StoreFileCounts, VectorStore } from '../../entities/knowledge/vector-store.ts';
import { builder } from '../builder/builder.ts';
import { commonListOf, commonPageArgs, deletionOf } from '../types/common-list.ts';
import { ChunkingStrategyInput, ExpiresAfterInput, RankingOptionsInput } from '../types/json-inputs.ts';

export const inSeconds = (date: Date) => Math.floor(date.getTime() / 1000);

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
      resolve: ({ inProgress, completed, failed, cancelled }) => inProgress + completed + failed + cancelled,
    }),
  }),
});

const VectorStoreType = builder.objectRef<VectorStore>('VectorStore').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A data source that was made for no agent and holds any number of files, in the form of the common format.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the data source.' }),
    object: t.string({ description: 'Always `vector_store`.', resolve: () => 'vector_store' }),
    createdAt: t.int({ description: 'Seconds since 1970.', resolve: ({ createdAt }) => inSeconds(createdAt) }),
    ownerUserId: t.exposeID('ownerUserId', { description: 'Who made it.' }),
    name: t.exposeString('name', { description: 'Empty when none was given.' }),
    description: t.exposeString('description', { description: 'What it is for; empty when nothing was said.' }),
    usageBytes: t.float({ description: 'Bytes of its files.', resolve: ({ usageBytes }) => usageBytes }),
    fileCounts: t.field({ type: FileCountsType, description: 'Its files by what became of them.', resolve: (store) => store }),
    status: t.string({
      description: 'in_progress while files are indexed, expired, else completed.',
      resolve: (store, _args, { deps }) => {
        if (isExpired(store, deps.now())) return 'expired';
        return store.inProgress > 0 ? 'in_progress' : 'completed';
      },
    }),
    lastActiveAt: t.int({
      description: 'When it was last changed or searched, to the minute; seconds since 1970.',
      resolve: ({ lastActiveAt }) => inSeconds(lastActiveAt),
    }),
    expiresAfter: t.field({
      type: 'JSON',
      nullable: true,
      description: 'When its files are removed: `{anchor: "last_active_at", days}`; null for never.',
      resolve: ({ expiresAfterDays: days }) => (days === null ? null : { anchor: 'last_active_at', days }),
    }),
    expiresAt: t.int({
      nullable: true,
      description: 'Seconds since 1970; null for never.',
      resolve: ({ expiresAt }) => (expiresAt === null ? null : inSeconds(expiresAt)),
    }),
    metadata: t.field({ type: 'JSON', description: 'Texts by name.', resolve: ({ metadata }) => metadata }),
  }),
});

const ListType = commonListOf<VectorStore>('VectorStoreList', VectorStoreType, {
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A page of vector stores.',
  idOf: ({ id }) => id,
});
const DeletedType = deletionOf(
  'DeletedVectorStore',
  'vector_store.deleted',
  { scope: 'DATA_SOURCES:READ' },
  'A vector store that was deleted.',
);

const ResultContentType = builder.objectRef<SearchHit>('VectorStoreResultContent').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A part of what was found.',
  fields: (t) => ({
    type: t.string({ description: 'Always `text`.', resolve: () => 'text' }),
    text: t.exposeString('text', { description: 'The passage.' }),
  }),
});
const ResultType = builder.objectRef<SearchHit>('VectorStoreResult').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A passage that a search found.',
  fields: (t) => ({
    fileId: t.id({ description: 'The file it stands in.', resolve: ({ file }) => file.id }),
    filename: t.string({ description: 'The name of that file.', resolve: ({ file }) => file.filename }),
    score: t.exposeFloat('score', { description: 'Above 0 and below 1, higher for a better fit.' }),
    attributes: t.field({ type: 'JSON', description: 'Those of the file.', resolve: ({ file }) => file.attributes }),
    content: t.field({ type: [ResultContentType], description: 'The passage.', resolve: (hit) => [hit] }),
  }),
});
const ResultsType = builder.objectRef<SearchResults>('VectorStoreResults').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'What a search found.',
  fields: (t) => ({
    object: t.string({
      description: 'Always `vector_store.search_results.page`.',
      resolve: () => 'vector_store.search_results.page',
    }),
    searchQuery: t.field({ type: ['String'], description: 'What was searched for.', resolve: ({ queries }) => [...queries] }),
    data: t.field({ type: [ResultType], description: 'The best first.', resolve: ({ hits }) => [...hits] }),
    hasMore: t.boolean({ description: 'Always false: one page is all.', resolve: () => false }),
    nextPage: t.string({ nullable: true, description: 'Always null.', resolve: () => null }),
  }),
});

const text = {
  expiresAfter: 'An object `{anchor: "last_active_at", days}` with 1 to 365 days; null for never.',
  metadata: 'At most 16 texts of 512 characters by names of 64.',
};
const CreateInput = builder.inputType('CreateVectorStoreInput', {
  description: 'A new vector store.',
  fields: (t) => ({
    name: t.string({ required: false, description: 'At most 200 characters.' }),
    description: t.string({ required: false, description: 'At most 2,000 characters.' }),
    fileIds: t.idList({ required: false, description: 'Files to begin with, at most 100.' }),
    expiresAfter: t.field({ type: ExpiresAfterInput, required: false, description: text.expiresAfter }),
    chunkingStrategy: t.field({ type: ChunkingStrategyInput, required: false, description: 'Only `{type: "auto"}`.' }),
    metadata: t.field({ type: 'StringMap', required: false, description: text.metadata }),
  }),
});
const UpdateInput = builder.inputType('UpdateVectorStoreInput', {
  description: 'Changes of a vector store: absent members are kept.',
  fields: (t) => ({
    name: t.string({ required: false, description: 'At most 200 characters; null keeps it.' }),
    expiresAfter: t.field({ type: ExpiresAfterInput, required: false, description: text.expiresAfter }),
    metadata: t.field({ type: 'StringMap', required: false, description: text.metadata }),
  }),
});
const SearchInputType = builder.inputType('VectorStoreSearchInput', {
  description: 'What to search for.',
  fields: (t) => ({
    query: t.field({
      type: 'Texts',
      required: false,
      description: 'A text of at most 8,000 characters, or up to 10 such texts.',
    }),
    maxNumResults: t.int({ required: false, description: 'From 1 to 50; default 10.' }),
    filters: t.field({
      type: 'JSON',
      required: false,
      description:
        'By attributes of files: `{type, key, value}` with eq, ne, gt, gte, lt, lte, in or nin, or `{type: "and" | "or", filters}`. At most 500 comparisons. JSON: filters nest up to 8 levels, and values are of any kind.',
    }),
    rankingOptions: t.field({
      type: RankingOptionsInput,
      required: false,
      description: 'An object: `score_threshold` from 0 to 1; `ranker` is auto or none.',
    }),
    rewriteQuery: t.boolean({ required: false, description: 'Only false.' }),
  }),
});

const id = { description: 'The id of the vector store.' };

builder.queryFields((t) => ({
  vectorStore: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: VectorStoreType,
    description: 'A vector store that the caller may read, by the rules of data sources. NOT_FOUND when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getVectorStore(deps, caller, args.id),
  }),
  vectorStores: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: ListType,
    description: 'The vector stores that the caller may read.',
    args: {
      ...commonPageArgs(t.arg, 'vector store', 'made'),
    },
    resolve: (_root, args, { deps, caller }) => listVectorStores(deps, caller, args as PageInput),
  }),
  vectorStoreSearch: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: ResultsType,
    description: 'Finds the passages of a vector store that fit a question. No model is asked.',
    args: { id: t.arg.id(id), input: t.arg({ type: SearchInputType, description: 'What to search for.' }) },
    resolve: (_root, args, { deps, caller, signal }) =>
      searchVectorStore(deps, caller, args.id, args.input as SearchInput, signal),
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
    type: DeletedType,
    description: 'Deletes a vector store with its copies of files. The files themselves stay.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteVectorStore(deps, caller, args.id),
  }),
}));
