import { z } from 'zod';
import {
  type FileContent,
  type StoreFileBatch,
  type StoreFileCounts,
  type StoreFileStatus,
  type StoreSearchResults,
  statusOfBatch,
  statusOfStore,
  storeStatuses,
  type VectorStore,
  type VectorStoreFile,
} from '../../entities/knowledge/vector-store.ts';
import { storedMetadata } from '../conversations.ts';
import type { EncoderContext, WireReply } from '../ground/encoder.ts';
import { createListSchema, deletionReply, inSeconds, listOfItems, type PageOf } from '../ground/envelopes.ts';
import {
  always,
  component,
  constant,
  flag,
  integer,
  list,
  number,
  oneOfTexts,
  reference,
  type Sent,
  text,
} from '../ground/schema.ts';
import { expiry } from './bodies.ts';

/** Vector stores in the common format. */

const attribute = z.union([z.string().max(512), z.number(), z.boolean()]);
const attributes = z.record(z.string(), attribute).meta({ description: 'What searches may filter by.' });

const inProgress = 'in_progress while files are indexed,';

const counts = component('VectorStoreFileCounts', 'Files of a vector store or of one of its batches, by what became of them.', {
  in_progress: integer('Waiting or at work.'),
  completed: integer('Found by searches.'),
  failed: integer('Not read, with a reason.'),
  cancelled: integer('Stopped.'),
  total: integer('All together.'),
});

function toWireCounts({
  inProgress: waiting,
  completed: completedCount,
  failed: failedCount,
  cancelled: cancelledCount,
}: StoreFileCounts): Sent<typeof counts> {
  return {
    in_progress: waiting,
    completed: completedCount,
    failed: failedCount,
    cancelled: cancelledCount,
    total: waiting + completedCount + failedCount + cancelledCount,
  };
}

const store = component(
  'VectorStore',
  'A data source that was made for no agent and holds any number of files, in the form of the common format.',
  {
    id: text('The id of the data source.'),
    object: always('vector_store'),
    created_at: integer('Seconds since 1970.'),
    name: text('Empty when none was given.'),
    description: text('What it is for; empty when nothing was said.'),
    usage_bytes: integer('Bytes of its files.'),
    file_counts: counts.meta({ description: 'Its files by what became of them.' }),
    status: oneOfTexts(`${inProgress} expired, else completed.`, storeStatuses),
    last_active_at: integer('When it was last changed or searched, to the minute; seconds since 1970.'),
    expires_after: expiry
      .meta({ description: 'When its files are removed: `{anchor: "last_active_at", days}`; absent for never.' })
      .optional(),
    expires_at: integer('Seconds since 1970; null for never.').nullable(),
    metadata: storedMetadata,
  },
);

function toWireStore(vectorStore: VectorStore, { nowMs }: EncoderContext): Sent<typeof store> {
  const {
    id,
    createdAt,
    name,
    description,
    usageBytes,
    lastActiveAt,
    expiresAfterDays: days,
    expiresAt,
    metadata: texts,
  } = vectorStore;
  return {
    ...{ id, object: 'vector_store', created_at: inSeconds(createdAt), name, description, usage_bytes: usageBytes },
    file_counts: toWireCounts(vectorStore),
    status: statusOfStore(vectorStore, new Date(nowMs)),
    last_active_at: inSeconds(lastActiveAt),
    expires_after: days === null ? undefined : { anchor: 'last_active_at', days },
    expires_at: expiresAt === null ? null : inSeconds(expiresAt),
    metadata: texts,
  };
}

export const storeReply: WireReply = { schema: 'VectorStore', encode: toWireStore };

const storeList = createListSchema('VectorStoreList', 'A page of vector stores.', store);
export const storeListReply: WireReply = {
  schema: 'VectorStoreList',
  encode: (page: PageOf<VectorStore>, context): Sent<typeof storeList> => listOfItems(page, (item) => toWireStore(item, context)),
};

export const deletedStoreReply = deletionReply('DeletedVectorStore', 'vector_store.deleted', 'A vector store that was deleted.');

const textPart = { type: always('text') };
const result = component('VectorStoreResult', 'A passage that a search found.', {
  file_id: text('The file it stands in.'),
  filename: text('The name of that file.'),
  score: number('Above 0 and below 1, higher for a better fit.'),
  attributes,
  content: list(
    'The passage.',
    component('VectorStoreResultContent', 'A part of what was found.', { ...textPart, text: text('The passage.') }),
  ),
});
const results = component('VectorStoreResults', 'What a search found.', {
  object: always('vector_store.search_results.page'),
  search_query: list('What was searched for.', z.string()),
  data: list('The best first.', result),
  has_more: flag('Always false: one page is all.'),
  next_page: text('Always null.').nullable(),
});

export const storeSearchReply: WireReply = {
  schema: 'VectorStoreResults',
  encode: ({ queries, hits }: StoreSearchResults): Sent<typeof results> => ({
    object: 'vector_store.search_results.page',
    search_query: queries,
    data: hits.map(({ file: { fileId, filename, attributes: values }, score, text: passage }) => ({
      ...{ file_id: fileId, filename, score, attributes: values },
      content: [{ type: 'text', text: passage }],
    })),
    has_more: false,
    next_page: null,
  }),
};

const status = (description: string) =>
  reference('VectorStoreFileStatus', description) as z.ZodType<StoreFileStatus, StoreFileStatus>;

const fileError = component('VectorStoreFileError', 'Why a file could not be read.', {
  code: oneOfTexts('server_error, unsupported_file or invalid_file.', ['server_error', 'unsupported_file', 'invalid_file']),
  message: text('For a person to read.'),
});

/** Failures that are not the fault of the file. */
const ownFailures = /INTERRUPTED|TIMEOUT|STORAGE|SERVER/;

function toWireError({ errorCode, errorMessage }: VectorStoreFile): Sent<typeof fileError> {
  const code = errorCode ?? '';
  const ofFile = /UNSUPPORTED|TYPE/.test(code) ? 'unsupported_file' : 'invalid_file';
  return { code: ownFailures.test(code) ? 'server_error' : ofFile, message: errorMessage ?? '' };
}

const file = component('VectorStoreFile', 'A file of a vector store: a copy that is searched.', {
  id: text('The id of the file it was made of.'),
  object: always('vector_store.file'),
  created_at: integer('When it was attached; seconds since 1970.'),
  vector_store_id: text('Its vector store.'),
  usage_bytes: integer('Its size.'),
  status: status('What became of it.'),
  last_error: fileError.nullable().meta({ description: 'Why it could not be read; null unless it failed.' }),
  attributes,
  chunking_strategy: component('ChunkingStrategy', 'How the passages of a file were cut.', {
    type: constant('other').meta({ description: 'By the service.' }),
  }).meta({ description: '`{type: "other"}`: the service cuts passages itself.' }),
});

function toWireFile(storeFile: VectorStoreFile): Sent<typeof file> {
  return {
    ...{ id: storeFile.fileId, object: 'vector_store.file', created_at: inSeconds(storeFile.createdAt) },
    ...{ vector_store_id: storeFile.dataSourceId, usage_bytes: storeFile.sizeBytes, status: storeFile.status },
    last_error: storeFile.status === 'failed' ? toWireError(storeFile) : null,
    attributes: storeFile.attributes,
    chunking_strategy: { type: 'other' },
  };
}

export const storeFileReply: WireReply = { schema: 'VectorStoreFile', encode: toWireFile };

const fileList = createListSchema('VectorStoreFileList', 'A page of files of a vector store.', file);
export const storeFileListReply: WireReply = {
  schema: 'VectorStoreFileList',
  encode: (page: PageOf<VectorStoreFile>): Sent<typeof fileList> => listOfItems(page, toWireFile),
};

export const detachedFileReply = deletionReply(
  'DeletedVectorStoreFile',
  'vector_store.file.deleted',
  'A file that was taken out of a vector store.',
);

const content = component('VectorStoreFileContent', 'The text that was read from a file of a vector store.', {
  object: always('vector_store.file_content.page'),
  data: list(
    'In order; joined they are the text. Empty before the file is indexed.',
    component('VectorStoreFilePassage', 'A part of the text that was read from a file.', {
      ...textPart,
      text: text('With the white space before it.'),
    }),
  ),
  has_more: flag('Whether there is more behind it.'),
  next_page: text('Give it as `page`; null at the end.').nullable(),
});

export const storeFileContentReply: WireReply = {
  schema: 'VectorStoreFileContent',
  encode: ({ passages, nextPage }: FileContent): Sent<typeof content> => ({
    object: 'vector_store.file_content.page',
    data: passages.map((passage) => ({ type: 'text', text: passage.text })),
    has_more: nextPage !== null,
    next_page: nextPage,
  }),
};

const batch = component('VectorStoreFileBatch', 'Files that were attached to a vector store by one request.', {
  id: text('The id of the batch.'),
  object: always('vector_store.files_batch'),
  created_at: integer('Seconds since 1970.'),
  vector_store_id: text('Its vector store.'),
  status: status(`${inProgress} cancelled, failed when no file could be read, else completed.`),
  file_counts: counts.meta({
    description: 'Its files by what became of them; files that were taken out of the store are not counted.',
  }),
});

export const fileBatchReply: WireReply = {
  schema: 'VectorStoreFileBatch',
  encode: (fileBatch: StoreFileBatch): Sent<typeof batch> => ({
    ...{ id: fileBatch.id, object: 'vector_store.files_batch', created_at: inSeconds(fileBatch.createdAt) },
    ...{ vector_store_id: fileBatch.dataSourceId, status: statusOfBatch(fileBatch), file_counts: toWireCounts(fileBatch) },
  }),
};
