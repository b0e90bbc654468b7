import { createFile, deleteFile, getFile, listFiles } from '../../domain/files/files.ts';
import type { StoredFile } from '../../entities/files/file.ts';
import { builder } from '../builder/builder.ts';
import { listArgs, listConnectionOf } from '../pagination.ts';
import { StoredFileRef } from '../refs.ts';

export const StoredFileType = StoredFileRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A file of the caller: one in no chat, one of a chat, or that of a data source.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What `input_file` parts and vector stores name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was stored.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is deleted; null when it is kept.',
    }),
    filename: t.exposeString('filename', { description: 'Its name, without any path.' }),
    mimeType: t.exposeString('mimeType', { description: 'Its media type, as it was declared.' }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'Its size.' }),
    purpose: t.exposeString('purpose', {
      description: 'As it was given; user_data for files of chats, assistants for those of data sources.',
    }),
  }),
});

const FileConnection = listConnectionOf<StoredFile>(StoredFileType, 'StoredFile', 'Files', ({ id }) => id);
const id = { description: 'The id of the file.' };

builder.queryFields((t) => ({
  file: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: StoredFileType,
    description: 'A file of the caller. NOT_FOUND when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getFile(deps, caller, args.id),
  }),
  files: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: FileConnection,
    description: 'The files of the caller; those of data sources only for keys that may read data sources.',
    args: {
      purpose: t.arg.string({ required: false, description: 'Only files of this purpose.' }),
      ...listArgs(t.arg, { first: 100, firstMax: 10_000 }),
    },
    resolve: (_root, args, { deps, caller }) => listFiles(deps, caller, args),
  }),
}));

builder.mutationFields((t) => ({
  createFile: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: StoredFileType,
    description: 'Keeps a file for responses and vector stores.',
    args: {
      file: t.arg({
        type: 'File',
        description: 'At most UPLOAD_MAX_BYTES of the service for assistants, else CHAT_FILE_MAX_BYTES.',
      }),
      purpose: t.arg.string({ description: 'assistants, user_data or vision.' }),
      expiresAfterAnchor: t.arg.string({ required: false, description: 'created_at; only together with the seconds.' }),
      expiresAfterSeconds: t.arg.int({
        required: false,
        description: 'From 3,600 to 2,592,000 after which it is deleted; default: it is kept.',
      }),
    },
    resolve: (_root, args, { deps, caller }) => createFile(deps, caller, args),
  }),
  deleteFile: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: 'ID',
    description:
      'Deletes a file with its bytes, and takes it out of all vector stores. That of a data source goes with its source. Returns its id.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteFile(deps, caller, args.id),
  }),
}));
