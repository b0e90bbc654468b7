import { getChatFiles } from '../../../domain/conversations/chats/files.ts';
import {
  createFile,
  deleteFile,
  getFile,
  getKeptFile,
  getKeptFiles,
  listFiles,
  pageKeptFiles,
} from '../../../domain/conversations/files/files.ts';
import { filePurposes } from '../../../entities/conversations/files/file.ts';
import { builder } from '../../ground/builder/builder.ts';
import { textTerm } from '../../ground/builder/context.ts';
import { registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, OrderType, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { StoredFileRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';

export const PurposeType = createEnum('FilePurpose', 'What a file is for.', filePurposes, {
  assistants: 'Vector stores: at most UPLOAD_MAX_BYTES of the service.',
  user_data: 'Responses: at most CHAT_FILE_MAX_BYTES of the service.',
  vision: 'An image for responses: at most CHAT_FILE_MAX_BYTES of the service.',
});

const StoredFileType = StoredFileRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A file that the caller keeps for responses and vector stores, in no chat and no data source.',
  interfaces: [NodeType],
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
    purpose: t.expose('purpose', { type: PurposeType, description: 'What it is for, as it was given.' }),
  }),
});

// Files of chats and files in no chat have ids of one kind.
registerNode('chatFile', {
  typeName: (file) => ('chatId' in file && file.chatId !== null ? 'ChatFile' : 'StoredFile'),
  operation: 'Query.file',
  loadMany: async (ids, { deps, caller }) => {
    const [ofChats, keptFiles] = await Promise.all([getChatFiles(deps, caller, ids), getKeptFiles(deps, caller, ids)]);
    return [...ofChats, ...keptFiles];
  },
});

const FileConnection = makeConnection(StoredFileType, 'StoredFile', 'Files');
const id = { description: 'The id of the file.' };

builder.queryFields((t) => ({
  file: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: StoredFileType,
    nullable: true,
    description: 'A file that the caller keeps; null when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller, terms }) =>
      terms?.everywhere === true ? getFile(deps, caller, args.id) : getKeptFile(deps, caller, args.id),
  }),
  files: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: FileConnection,
    description: 'The files that the caller keeps. Those of chats and of data sources are things of their own.',
    args: {
      purpose: t.arg({ type: PurposeType, required: false, description: 'Only files of this purpose.' }),
      order: t.arg({ type: OrderType, required: false, description: 'By time; default DESC.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { purpose, order, ...args }, context) => {
      const { deps, caller, terms } = context;
      // Files of chats and of data sources too, with ids of files as cursors.
      if (terms?.everywhere === true)
        return listFiles(deps, caller, { ...args, order, purpose: textTerm(context, 'purpose') }) as never;
      return pageKeptFiles(deps, caller, { purpose, order }, pageRequest(context, args));
    },
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
      purpose: t.arg({ type: PurposeType, defaultValue: 'user_data', description: 'What it is for.' }),
      expiresAfterSeconds: t.arg.int({
        required: false,
        description: 'From 3,600 to 2,592,000 after which it is deleted; default: it is kept.',
      }),
    },
    resolve: (_root, args, context) => {
      const { deps, caller } = context;
      const purpose = textTerm(context, 'purpose');
      if (purpose !== undefined)
        return createFile(deps, caller, { ...args, purpose, expiresAfterAnchor: textTerm(context, 'expiresAfterAnchor') });
      const isExpiring = typeof args.expiresAfterSeconds === 'number';
      return createFile(deps, caller, { ...args, expiresAfterAnchor: isExpiring ? 'created_at' : null });
    },
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
