import {
  type ChatExport,
  type Compression,
  chatExportFormats,
  compressChat,
  duplicateChat,
  exportChat,
  exportChatTree,
  resetChat,
  summarizeChat,
} from '../../../domain/conversations/chats/changes.ts';
import { builder } from '../../ground/builder/builder.ts';
import { createEnum, ofFormat } from '../../ground/types/enums.ts';
import { ChatType } from './chats.ts';

const formats = {
  markdown: 'Markdown: a heading for each message.',
  json: 'JSON with the members of a chat of the REST API.',
};
const formatDescription = 'How an exported chat is written.';
const ChatExportFormatType = createEnum('ChatExportFormat', formatDescription, chatExportFormats, formats, ofFormat);

const ChatSummaryType = builder.objectRef<{ readonly summary: string }>('ChatSummary').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The summary of a chat.',
  fields: (t) => ({ summary: t.exposeString('summary', { description: 'A few sentences.' }) }),
});

const ChatCompressionType = builder.objectRef<Compression>('ChatCompression').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The part of a chat that models get.',
  fields: (t) => ({
    summary: t.exposeString('summary', {
      nullable: true,
      description: 'What they are given in place of the older turns; null while there are none.',
    }),
    compressedCount: t.exposeInt('compressedCount', {
      description: 'Messages that the summary replaces for models; they stay in the transcript.',
    }),
    keptCount: t.exposeInt('keptCount', { description: 'Messages that models still get unchanged.' }),
  }),
});

const ChatExportType = builder.objectRef<ChatExport>('ChatExport').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A chat as a file.',
  fields: (t) => ({
    filename: t.exposeString('filename', { description: 'A name for the file.' }),
    contentType: t.exposeString('contentType', { description: 'Its media type.' }),
    content: t.string({ description: 'Its content.', resolve: (file) => file.content() }),
  }),
});

const chatId = { description: 'The id of the chat.' };

builder.queryField('chatExport', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatExportType,
    description: 'A chat that the caller may read as a file, without what only models are given.',
    args: {
      chatId: t.arg.id(chatId),
      format: t.arg({ type: ChatExportFormatType, defaultValue: 'markdown', description: 'How it is written.' }),
    },
    resolve: (_root, args, { deps, caller }) => exportChat(deps, caller, args.chatId, args.format),
  }),
);

builder.queryField('chatTree', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatExportType,
    description:
      'A chat that the caller may read with all its branches, as a JSON file that `importChats` reads, without what only models are given.',
    args: { chatId: t.arg.id(chatId) },
    resolve: (_root, args, { deps, caller }) => exportChatTree(deps, caller, args.chatId),
  }),
);

builder.mutationFields((t) => ({
  duplicateChat: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatType,
    description: 'Copies a chat of the caller with its messages and files. The copy is not pinned, and has no runs.',
    args: { id: t.arg.id(chatId) },
    resolve: (_root, { id }, { deps, caller }) => duplicateChat(deps, caller, id),
  }),
  resetChat: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatType,
    description:
      'Removes all messages of a chat of the caller, with its files and its summary; its id, agent, name and pin stay. RUN_ACTIVE while a run answers.',
    args: { id: t.arg.id(chatId) },
    resolve: (_root, { id }, { deps, caller }) => resetChat(deps, caller, id),
  }),
  summarizeChat: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatSummaryType,
    description: 'Summarizes the chat with the model of its agent, and stores the summary with the chat.',
    args: { id: t.arg.id(chatId) },
    resolve: (_root, { id }, { deps, caller, signal }) => summarizeChat(deps, caller, id, signal),
  }),
  compressChat: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatCompressionType,
    description:
      'From here on, models are given a summary in place of all but the last two turns of a chat. Does nothing when there is nothing older.',
    args: { id: t.arg.id(chatId) },
    resolve: (_root, { id }, { deps, caller, signal }) => compressChat(deps, caller, id, signal),
  }),
}));
