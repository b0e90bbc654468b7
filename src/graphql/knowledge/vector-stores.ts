import { type SearchInput, searchVectorStore } from '../../domain/knowledge/vector-stores/search.ts';
import {
  createVectorStore,
  deleteVectorStore,
  getVectorStore,
  listVectorStores,
  updateVectorStore,
} from '../../domain/knowledge/vector-stores/stores.ts';
import {
  type StoreFileCounts,
  type StoreHit,
  type StoreSearchResults,
  statusOfStore,
  storeStatuses,
  type VectorStore,
} from '../../entities/knowledge/vector-store.ts';
import { builder } from '../builder/builder.ts';
import { beforeArg, listArgs, listConnectionOf } from '../pagination.ts';
import { VectorStoreRef } from '../refs.ts';
import { enumOf } from '../types/enums.ts';
import { ChunkingStrategyInput, ExpiresAfterInput, RankingOptionsInput } from '../types/json-inputs.ts';

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

const StatusType = enumOf('VectorStoreStatus', 'Whether a vector store is ready.', storeStatuses, {
  in_progress: 'Files are indexed.',
  completed: 'All files are indexed, or could not be.',
  expired: 'Its files are removed.',
});

const VectorStoreType = VectorStoreRef.implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A data source that was made for no agent and holds any number of files.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the data source.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    ownerUserId: t.exposeID('ownerUserId', { description: 'Who made it.' }),
    name: t.exposeString('name', { description: 'Empty when none was given.' }),
    description: t.exposeString('description', { description: 'What it is for; empty when nothing was said.' }),
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
    metadata: t.field({ type: 'JSON', description: 'Texts by name.', resolve: ({ metadata }) => metadata }),
  }),
});

const StoreConnection = listConnectionOf<VectorStore>(VectorStoreType, 'VectorStore', 'Vector stores', ({ id }) => id);

const ResultType = builder.objectRef<StoreHit>('VectorStoreResult').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A passage that a search found.',
  fields: (t) => ({
    fileId: t.id({ description: 'The file it stands in.', resolve: ({ file }) => file.id }),
    filename: t.string({ description: 'The name of that file.', resolve: ({ file }) => file.filename }),
    score: t.exposeFloat('score', { description: 'Above 0 and below 1, higher for a better fit.' }),
    attributes: t.field({ type: 'JSON', description: 'Those of the file.', resolve: ({ file }) => file.attributes }),
    text: t.exposeString('text', { description: 'The passage.' }),
  }),
});
const ResultsType = builder.objectRef<StoreSearchResults>('VectorStoreResults').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'What a search found.',
  fields: (t) => ({
    queries: t.field({ type: ['String'], description: 'What was searched for.', resolve: ({ queries }) => [...queries] }),
    results: t.field({ type: [ResultType], description: 'The best first.', resolve: ({ hits }) => [...hits] }),
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
    type: StoreConnection,
    description: 'The vector stores that the caller may read.',
    args: { ...listArgs(t.arg), ...beforeArg(t.arg) },
    resolve: (_root, args, { deps, caller }) => listVectorStores(deps, caller, args),
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
    type: 'ID',
    description: 'Deletes a vector store with its copies of files. The files themselves stay. Returns its id.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteVectorStore(deps, caller, args.id),
  }),
}));
