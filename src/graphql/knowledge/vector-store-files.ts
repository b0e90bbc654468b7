import { type FileContent, type FileText, getFileContent } from '../../domain/knowledge/vector-stores/content.ts';
import {
  attachFile,
  detachFile,
  getStoreFile,
  listStoreFiles,
  updateStoreFile,
} from '../../domain/knowledge/vector-stores/files.ts';
import { storeFileStatuses, type VectorStoreFile } from '../../entities/knowledge/vector-store.ts';
import { builder } from '../builder/builder.ts';
import { commonListOf, commonPageArgs, deletionOf } from '../types/common-list.ts';
import { wireEnumOf } from '../types/enums.ts';
import { ChunkingStrategyInput } from '../types/json-inputs.ts';
import { inSeconds } from './vector-stores.ts';

export const StatusType = wireEnumOf('VectorStoreFileStatus', 'What became of a file of a vector store.', storeFileStatuses, {
  in_progress: 'It waits or is read.',
  completed: 'Searches find it.',
  failed: 'It could not be read; `lastError` says why.',
  cancelled: 'Somebody stopped it.',
});

/** Failures that are not the fault of the file. */
const ownFailures = /INTERRUPTED|TIMEOUT|STORAGE|SERVER/;

const ErrorType = builder.objectRef<VectorStoreFile>('VectorStoreFileError').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'Why a file could not be read.',
  fields: (t) => ({
    code: t.string({
      description: 'server_error, unsupported_file or invalid_file.',
      resolve: ({ errorCode }) => {
        if (ownFailures.test(errorCode ?? '')) return 'server_error';
        return /UNSUPPORTED|TYPE/.test(errorCode ?? '') ? 'unsupported_file' : 'invalid_file';
      },
    }),
    message: t.string({ description: 'For a person to read.', resolve: ({ errorMessage }) => errorMessage ?? '' }),
  }),
});

const VectorStoreFileType = builder.objectRef<VectorStoreFile>('VectorStoreFile').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A file of a vector store: a copy that is searched.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the file it was made of.' }),
    object: t.string({ description: 'Always `vector_store.file`.', resolve: () => 'vector_store.file' }),
    createdAt: t.int({
      description: 'When it was attached; seconds since 1970.',
      resolve: ({ createdAt }) => inSeconds(createdAt),
    }),
    vectorStoreId: t.exposeID('dataSourceId', { description: 'Its vector store.' }),
    usageBytes: t.exposeInt('sizeBytes', { description: 'Its size.' }),
    status: t.expose('status', { type: StatusType, description: 'What became of it.' }),
    lastError: t.field({
      type: ErrorType,
      nullable: true,
      description: 'Why it could not be read; null unless it failed.',
      resolve: (file) => (file.status === 'failed' ? file : null),
    }),
    attributes: t.field({ type: 'JSON', description: 'What searches may filter by.', resolve: ({ attributes }) => attributes }),
    chunkingStrategy: t.field({
      type: 'JSON',
      description: '`{type: "other"}`: the service cuts passages itself.',
      resolve: () => ({ type: 'other' }),
    }),
  }),
});

export const FileListType = commonListOf<VectorStoreFile>('VectorStoreFileList', VectorStoreFileType, {
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A page of files of a vector store.',
  idOf: ({ id }) => id,
});

const PassageType = builder.objectRef<FileText>('VectorStoreFilePassage').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A part of the text that was read from a file.',
  fields: (t) => ({
    place: t.exposeInt('place', { description: 'Its place within the file, from 0.' }),
    type: t.string({ description: 'Always `text`.', resolve: () => 'text' }),
    text: t.exposeString('text', { description: 'With the white space before it.' }),
  }),
});
const ContentType = builder.objectRef<FileContent>('VectorStoreFileContent').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'The text that was read from a file of a vector store.',
  fields: (t) => ({
    object: t.string({
      description: 'Always `vector_store.file_content.page`.',
      resolve: () => 'vector_store.file_content.page',
    }),
    data: t.field({
      type: [PassageType],
      description: 'In order; joined they are the text. Empty before the file is indexed.',
      resolve: ({ passages }) => [...passages],
    }),
    hasMore: t.boolean({ description: 'Whether there is more behind it.', resolve: ({ nextPage }) => nextPage !== null }),
    nextPage: t.exposeString('nextPage', { nullable: true, description: 'Give it as `page`; null at the end.' }),
  }),
});

const DeletedType = deletionOf(
  'DeletedVectorStoreFile',
  'vector_store.file.deleted',
  { scope: 'DATA_SOURCES:READ' },
  'A file that was taken out of a vector store.',
);

export const attributes = 'At most 16 texts of 512 characters, numbers, or true and false, by names of 64.';
const AttachInput = builder.inputType('AttachVectorStoreFileInput', {
  description: 'A file to attach.',
  fields: (t) => ({
    fileId: t.id({ required: true, description: 'A file of the caller.' }),
    attributes: t.field({ type: 'ValueMap', required: false, description: attributes }),
    chunkingStrategy: t.field({ type: ChunkingStrategyInput, required: false, description: 'Only `{type: "auto"}`.' }),
  }),
});
const UpdateInput = builder.inputType('UpdateVectorStoreFileInput', {
  description: 'Changes of a file of a vector store.',
  fields: (t) => ({
    attributes: t.field({
      type: 'ValueMap',
      required: false,
      description: `${attributes} They replace the former ones; null takes all away.`,
    }),
  }),
});

const id = { description: 'The id of the vector store.' };
const fileId = { description: 'The id of the file.' };

builder.queryFields((t) => ({
  vectorStoreFile: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: VectorStoreFileType,
    description: 'One file of a vector store that the caller may read.',
    args: { id: t.arg.id(id), fileId: t.arg.id(fileId) },
    resolve: (_root, args, { deps, caller }) => getStoreFile(deps, caller, args.id, args.fileId),
  }),
  vectorStoreFiles: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: FileListType,
    description: 'The files of a vector store that the caller may read.',
    args: {
      id: t.arg.id(id),
      filter: t.arg({ type: StatusType, required: false, description: 'Only files of this status.' }),
      ...commonPageArgs(t.arg, 'file', 'attached'),
    },
    resolve: (_root, args, { deps, caller }) =>
      listStoreFiles(deps, caller, args.id, args as Parameters<typeof listStoreFiles>[3]),
  }),
  vectorStoreFileContent: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: ContentType,
    description: 'The text that was read from a file of a vector store that the caller may read.',
    args: {
      id: t.arg.id(id),
      fileId: t.arg.id(fileId),
      page: t.arg.string({ required: false, description: 'The `nextPage` of the page before.' }),
    },
    resolve: (_root, args, { deps, caller }) => getFileContent(deps, caller, args.id, args.fileId, args.page),
  }),
}));

builder.mutationFields((t) => ({
  attachVectorStoreFile: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: VectorStoreFileType,
    description: 'Attaches a copy of a file of the caller to a vector store, and indexes it. An attached one stays attached.',
    args: { id: t.arg.id(id), input: t.arg({ type: AttachInput, description: 'The file.' }) },
    resolve: (_root, args, { deps, caller }) => attachFile(deps, caller, args.id, args.input),
  }),
  updateVectorStoreFile: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: VectorStoreFileType,
    description: 'Replaces the attributes of a file of a vector store.',
    args: { id: t.arg.id(id), fileId: t.arg.id(fileId), input: t.arg({ type: UpdateInput, description: 'What to change.' }) },
    resolve: (_root, args, { deps, caller }) => updateStoreFile(deps, caller, args.id, args.fileId, args.input),
  }),
  detachVectorStoreFile: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: DeletedType,
    description: 'Takes a file out of a vector store. The file itself stays.',
    args: { id: t.arg.id(id), fileId: t.arg.id(fileId) },
    resolve: (_root, args, { deps, caller }) => detachFile(deps, caller, args.id, args.fileId),
  }),
}));
