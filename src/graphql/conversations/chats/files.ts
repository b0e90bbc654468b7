import {
  chatFileUrl,
  createChatFileRecord,
  deleteChatFile,
  getChatFile,
  listChatFiles,
  pagesOfChatFiles,
  putChatFileContent,
  uploadChatFile,
} from '../../../domain/conversations/chats/files.ts';
import { chatFileSources, chatFileStatuses } from '../../../entities/conversations/chats/file.ts';
import type { PageRequest } from '../../../entities/ground/page.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode } from '../../ground/builder/nodes.ts';
import { describedOnRest } from '../../ground/builder/rest-words.ts';
import { makeConnection, pageArgs, pageRequest, wholePage } from '../../ground/pagination.ts';
import { ChatFileRef, ChatRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';

const ChatFileSourceType = createEnum('ChatFileSource', 'The origin of a file.', chatFileSources, {
  USER: 'The user.',
  SYSTEM: 'The service, or a program that acts for it.',
});

const ChatFileStatusType = createEnum('ChatFileStatus', 'The state of a file.', chatFileStatuses, {
  PENDING: 'The record exists; its content must arrive within a day.',
  UPLOADED: 'The content is stored.',
  FAILED: 'Its content could not be stored.',
  DELETED: 'The file is deleted.',
});

const ChatFileType = ChatFileRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A file of a chat, for use in its messages.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What content parts name: `{type: "id", id}`.' }),
    chatId: t.exposeID('chatId', { description: 'The chat that it belongs to.' }),
    chat: t.field({
      type: ChatRef,
      nullable: true,
      description: 'That chat; null when it was deleted meanwhile.',
      resolve: ({ chatId }, _args, context) => loadNode(context, 'chat', chatId),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    source: t.expose('source', { type: ChatFileSourceType, description: 'Whether the user or the service added the file.' }),
    filename: t.exposeString('filename', { description: 'Its name, without any path.' }),
    size: t.exposeInt('sizeBytes', { description: 'Its bytes; while it is pending, as announced.' }),
    mimeType: t.exposeString('mimeType', { description: 'Its media type as it was declared.' }),
    url: t.string({
      description:
        'The address of its content: a link that works without a key for an hour, also in a browser. Without content, an address for callers with a key.',
      resolve: (file, _args, { deps }) => chatFileUrl(deps, file),
    }),
    metadata: t.field({
      type: 'JSON',
      description: 'The metadata of its record. JSON: an object of the user.',
      extensions: describedOnRest('The metadata of its record.'),
      resolve: (file) => file.metadata,
    }),
    deletedAt: t.expose('deletedAt', { type: 'DateTime', nullable: true, description: 'When it was deleted.' }),
    status: t.expose('status', { type: ChatFileStatusType, description: 'Its state.' }),
  }),
});

const includeDeleted = {
  required: true,
  defaultValue: false,
  description: 'Also those that were deleted in the last 30 days, with the status DELETED; their content is gone.',
} as const;

const ChatFileConnection = makeConnection(ChatFileType, 'ChatFile', 'Files');
const filesOfChats = batched((ids: readonly string[], { deps }, page: PageRequest, withDeleted: boolean) =>
  pagesOfChatFiles(deps, ids, page, withDeleted),
);

builder.objectField(ChatRef, 'files', (t) =>
  t.field({
    type: ChatFileConnection,
    description: 'Its files, oldest first.',
    args: { ...pageArgs(t.arg), includeDeleted: t.arg.boolean(includeDeleted) },
    resolve: async (chat, { includeDeleted: withDeleted, ...args }, context) => {
      if (context.terms?.whole === true) return wholePage(await listChatFiles(context.deps, chat.id, withDeleted));
      return filesOfChats(context, chat.id, pageRequest(context, args), withDeleted);
    },
  }),
);

const ChatFileRecordInput = builder.inputType('ChatFileRecordInput', {
  description: 'A file whose content is sent afterwards.',
  fields: (t) => ({
    filename: t.string({ required: true, description: '1 to 200 characters.' }),
    size: t.int({ required: true, description: 'Bytes that its content will have; at most CHAT_FILE_MAX_BYTES of the service.' }),
    mimeType: t.string({ required: true, description: 'Its media type.' }),
    metadata: t.field({
      type: 'JSON',
      required: false,
      description: 'An object of at most 16 KiB. JSON: it belongs to the caller.',
      extensions: describedOnRest('Any object of at most 16 KiB.'),
    }),
  }),
});

const chatId = { description: 'The id of the chat.' };
const fileId = { description: 'The id of the file.' };

builder.queryFields((t) => ({
  chatFile: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatFileType,
    nullable: true,
    description: 'One file of a chat that the caller may read; null when there is none.',
    args: { chatId: t.arg.id(chatId), fileId: t.arg.id(fileId) },
    resolve: (_root, args, { deps, caller }) => getChatFile(deps, caller, args.chatId, args.fileId),
  }),
}));

builder.mutationFields((t) => ({
  uploadChatFile: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatFileType,
    description: 'Keeps a file for a chat of the caller.',
    args: {
      chatId: t.arg.id(chatId),
      file: t.arg({ type: 'File', description: 'The file; at most CHAT_FILE_MAX_BYTES of the service.' }),
      source: t.arg({
        type: ChatFileSourceType,
        defaultValue: 'USER',
        description: 'Whether the user or the service adds the file.',
      }),
    },
    resolve: (_root, args, { deps, caller }) => uploadChatFile(deps, caller, args.chatId, args.file, args.source),
  }),
  createChatFileRecord: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatFileType,
    description: 'Announces a file of a chat of the caller, or keeps one at once: give exactly one of `input` and `file`.',
    args: {
      chatId: t.arg.id(chatId),
      input: t.arg({ type: ChatFileRecordInput, required: false, description: 'The file to come.' }),
      file: t.arg({ type: 'File', required: false, description: 'The file itself.' }),
    },
    resolve: (_root, { chatId, ...chatFileInput }, { deps, caller }) => createChatFileRecord(deps, caller, chatId, chatFileInput),
  }),
  putChatFileContent: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatFileType,
    description: 'Sends the content of an announced file, once: exactly as many bytes as it said.',
    args: {
      chatId: t.arg.id(chatId),
      fileId: t.arg.id(fileId),
      file: t.arg({ type: 'File', description: 'The content.' }),
    },
    resolve: (_root, { file, ...place }, { deps, caller }) => putChatFileContent(deps, caller, place, file),
  }),
  deleteChatFile: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatFileType,
    description: 'Deletes a file of a chat of the caller with its bytes. What models were given of it stays in the chat.',
    args: { chatId: t.arg.id(chatId), fileId: t.arg.id(fileId) },
    resolve: (_root, args, { deps, caller }) => deleteChatFile(deps, caller, args.chatId, args.fileId),
  }),
}));
