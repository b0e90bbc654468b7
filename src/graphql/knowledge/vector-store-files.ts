import { getFileContent } from '../../domain/knowledge/vector-stores/content.ts';
import {
  attachFile,
  detachFile,
  getStoreFile,
  listStoreFiles,
  updateStoreFile,
} from '../../domain/knowledge/vector-stores/files.ts';
import {
  type FileContent,
  type FileText,
  storeFileStatuses,
  type VectorStoreFile,
} from '../../entities/knowledge/vector-store.ts';
import { builder } from '../builder/builder.ts';
import { beforeArg, listArgs, listConnectionOf } from '../pagination.ts';
import { VectorStoreFileRef } from '../refs.ts';
import { enumOf, ofFormat } from '../types/enums.ts';
import { ChunkingStrategyInput } from '../types/json-inputs.ts';

export const StatusType = enumOf(
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
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the file it was made of.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was attached.' }),
    vectorStoreId: t.exposeID('dataSourceId', { description: 'Its vector store.' }),
    filename: t.exposeString('filename', { description: 'Its name, without any path.' }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'Its size.' }),
    status: t.expose('status', { type: StatusType, description: 'What became of it.' }),
    errorCode: t.string({
      nullable: true,
      description: 'Why it could not be read, for programs; null unless it failed.',
      resolve: ({ status, errorCode }) => (status === 'failed' ? errorCode : null),
    }),
    errorMessage: t.string({
      nullable: true,
      description: 'Why it could not be read, and what may help; null unless it failed.',
      resolve: ({ status, errorMessage }) => (status === 'failed' ? errorMessage : null),
    }),
    attributes: t.field({ type: 'JSON', description: 'What searches may filter by.', resolve: ({ attributes }) => attributes }),
  }),
});

export const FileConnection = listConnectionOf<VectorStoreFile>(
  VectorStoreFileType,
  'VectorStoreFile',
  'Files of a vector store',
  ({ id }) => id,
);

const PassageType = builder.objectRef<FileText>('VectorStoreFilePassage').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A part of the text that was read from a file.',
  fields: (t) => ({
    place: t.exposeInt('place', { description: 'Its place within the file, from 0.' }),
    text: t.exposeString('text', { description: 'With the white space before it.' }),
  }),
});
const ContentType = builder.objectRef<FileContent>('VectorStoreFileContent').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'The text that was read from a file of a vector store.',
  fields: (t) => ({
    passages: t.field({
      type: [PassageType],
      description: 'In order; joined they are the text. Empty before the file is indexed.',
      resolve: ({ passages }) => [...passages],
    }),
    nextPage: t.exposeString('nextPage', { nullable: true, description: 'Give it as `page`; null at the end.' }),
  }),
});

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
    type: FileConnection,
    description: 'The files of a vector store that the caller may read.',
    args: {
      id: t.arg.id(id),
      filter: t.arg({ type: StatusType, required: false, description: 'Only files of this status.' }),
      ...listArgs(t.arg),
      ...beforeArg(t.arg),
    },
    resolve: (_root, { id: storeId, ...page }, { deps, caller }) => listStoreFiles(deps, caller, storeId, page),
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
    type: 'ID',
    description: 'Takes a file out of a vector store. The file itself stays. Returns its id.',
    args: { id: t.arg.id(id), fileId: t.arg.id(fileId) },
    resolve: (_root, args, { deps, caller }) => detachFile(deps, caller, args.id, args.fileId),
  }),
}));
