import { createFile, deleteFile, getFile, listFiles } from '../../domain/files/files.ts';
import type { StoredFile } from '../../entities/files/file.ts';
import { builder } from '../builder/builder.ts';
import { OrderType } from '../responses/order.ts';
import { commonListOf, deletionOf } from '../types/common-list.ts';

export const inSeconds = (date: Date) => Math.floor(date.getTime() / 1000);

export const FileObjectType = builder.objectRef<StoredFile>('FileObject').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A file of the caller in the form of the common format: one in no chat, one of a chat, or that of a data source.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What `input_file` parts and vector stores name.' }),
    object: t.string({ description: 'Always `file`.', resolve: () => 'file' }),
    bytes: t.exposeInt('sizeBytes', { description: 'Its size.' }),
    createdAt: t.int({ description: 'Seconds since 1970.', resolve: ({ createdAt }) => inSeconds(createdAt) }),
    expiresAt: t.int({
      nullable: true,
      description: 'Seconds since 1970; null when it is kept until it is deleted.',
      resolve: ({ expiresAt }) => (expiresAt === null ? null : inSeconds(expiresAt)),
    }),
    filename: t.exposeString('filename', { description: 'Its name, without any path.' }),
    purpose: t.exposeString('purpose', {
      description: 'As it was given; user_data for files of chats, assistants for those of data sources.',
    }),
    status: t.string({ description: 'Always `processed`: a file can be used at once.', resolve: () => 'processed' }),
  }),
});

const FileListType = commonListOf<StoredFile>('FileObjectList', FileObjectType, {
  access: { scope: 'CHATS:READ' },
  description: 'A page of files.',
  idOf: ({ id }) => id,
});
const DeletedType = deletionOf('DeletedFile', 'file', { scope: 'CHATS:READ' }, 'A file that was deleted.');
const id = { description: 'The id of the file.' };

builder.queryFields((t) => ({
  file: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: FileObjectType,
    description: 'A file of the caller. NOT_FOUND when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getFile(deps, caller, args.id),
  }),
  files: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: FileListType,
    description: 'The files of the caller; those of data sources only for keys that may read data sources.',
    args: {
      purpose: t.arg.string({ required: false, description: 'Only files of this purpose.' }),
      after: t.arg.string({ required: false, description: 'The id of the file before the page.' }),
      limit: t.arg.int({ required: false, description: 'From 1 to 10,000; default 100.' }),
      order: t.arg({ type: OrderType, required: false, description: 'By the time they were made; default desc.' }),
    },
    resolve: (_root, args, { deps, caller }) => listFiles(deps, caller, args as Parameters<typeof listFiles>[2]),
  }),
}));

builder.mutationFields((t) => ({
  createFile: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: FileObjectType,
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
    type: DeletedType,
    description:
      'Deletes a file with its bytes, and takes it out of all vector stores. That of a data source goes with its source.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteFile(deps, caller, args.id),
  }),
}));
