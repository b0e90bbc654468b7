import {
  cancelChatImport,
  getChatImport,
  getChatImports,
  importChats,
  importIdsOfChats,
  listChatImports,
  undoChatImport,
} from '../../../domain/conversations/imports/imports.ts';
import {
  type ChatImportFormat,
  type ChatImportOmission,
  type ChatImportOmissionKind,
  type ChatImportStatus,
  chatImportFormats,
  chatImportOmissionKinds,
  chatImportStatuses,
} from '../../../entities/conversations/chats/import.ts';
import { loadAgent } from '../../agents/agent-edge.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode, registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { AgentRef, ChatImportRef, ChatRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';

const ChatImportFormatType = createEnum('ChatImportFormat', 'The product that exported a file of chats.', chatImportFormats, {
  CHATGPT: 'ChatGPT.',
  CLAUDE: 'Claude.',
  LIBRECHAT: 'LibreChat.',
  OPEN_WEBUI: 'Open WebUI.',
  PARLEY: 'Parley: `chatTree`.',
} satisfies Record<ChatImportFormat, string>);

const ChatImportStatusType = createEnum('ChatImportStatus', 'How far an import of chats is.', chatImportStatuses, {
  WAITING: 'It waits for its turn.',
  READING: 'Its chats are being brought.',
  DONE: 'All chats of the file were brought, or are in its report.',
  FAILED: 'The file could not be read to its end; `error` says why.',
  CANCELLED: 'Its person has cancelled it; what it brought until then is there.',
  UNDOING: 'The chats that it brought are being deleted.',
  UNDONE: 'They are deleted.',
} satisfies Record<ChatImportStatus, string>);

const ChatImportOmissionKindType = createEnum('ChatImportOmissionKind', 'What an import has left out.', chatImportOmissionKinds, {
  IMAGES: 'Images in messages.',
  FILES: 'Other files in messages, and recordings.',
  TOOL_CALLS: 'Calls of tools, and what they gave.',
  THOUGHTS: 'What models thought before they answered.',
  INSTRUCTIONS: 'Instructions of the person and of the product.',
  SOURCES: 'Sources that answers name, whose documents are not in the file.',
  FAILED_ANSWERS: 'Answers that failed.',
  UNKNOWN_PARTS: 'Parts of a kind that is not known.',
  CUT_MESSAGES: 'Messages of more than 200,000 characters: they are here, cut.',
  EMPTY_CHATS: 'Chats in which nothing was said.',
  UNREADABLE_CHATS: 'Entries that are no chat, or are damaged.',
  LONG_CHATS: 'Chats of more than 20,000 messages, 4,000,000 characters or 32 MiB.',
  OLD_CHATS: 'Chats that are older than the organization keeps chats.',
  FURTHER_CHATS: 'Chats beyond the first 50,000 of the file.',
} satisfies Record<ChatImportOmissionKind, string>);

const ChatImportOmissionType = builder.objectRef<ChatImportOmission>('ChatImportOmission').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What an import has left out, of one kind.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ChatImportOmissionKindType, description: 'What it is.' }),
    count: t.exposeInt('count', { description: 'How many.' }),
    chatNames: t.stringList({
      description: 'The names of the first chats that it concerns; at most 5.',
      resolve: ({ chatNames }) => [...chatNames],
    }),
  }),
});

const ChatImportType = ChatImportRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A file of chats that the caller brought from another product, and what became of it. Nobody else sees it.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the import.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended; null while it is under way.' }),
    status: t.expose('status', { type: ChatImportStatusType, description: 'How far it is.' }),
    filename: t.exposeString('filename', { description: 'The name of the file.' }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'The bytes of the file. They are deleted when the import ends.' }),
    format: t.expose('format', {
      type: ChatImportFormatType,
      nullable: true,
      description: 'Which product exported it; null until a chat was read.',
    }),
    agentId: t.exposeID('agentId', {
      nullable: true,
      description: 'Who answers in its chats from then on; null when the agent is gone.',
    }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'That agent; null when it is gone or the caller may not use it any more.',
      resolve: ({ agentId }, _args, context, info) => loadAgent(context, agentId, info),
    }),
    totalCount: t.exposeInt('totalCount', { nullable: true, description: 'Chats in the file; null until it was read once.' }),
    readCount: t.exposeInt('readCount', { description: 'How many of them were read.' }),
    importedCount: t.exposeInt('importedCount', { description: 'How many were brought.' }),
    existingCount: t.exposeInt('existingCount', { description: 'How many were here before, and were not brought again.' }),
    messageCount: t.exposeInt('messageCount', { description: 'Messages of the chats that were brought.' }),
    retainedCount: t.exposeInt('retainedCount', {
      description: 'After it was undone: chats that stay, because somebody went on with them.',
    }),
    omissions: t.field({
      type: [ChatImportOmissionType],
      description: 'What was left out, one entry a kind.',
      resolve: ({ omissions }) => [...omissions],
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed, or could not be undone.' }),
  }),
});

registerNode('chatImport', {
  typeName: 'ChatImport',
  operation: 'Query.chatImport',
  loadMany: (ids, { deps, caller }) => getChatImports(deps, caller, ids),
});

const ChatImportConnection = makeConnection(ChatImportType, 'ChatImport', 'Imports');
const importOfChat = batched((chatIds: readonly string[], { deps }) => importIdsOfChats(deps, chatIds));

builder.objectField(ChatRef, 'import', (t) =>
  t.field({
    type: ChatImportRef,
    nullable: true,
    description: 'The import that brought it; null for a chat that began here, and for readers who are not its user.',
    resolve: async ({ id }, _args, context) => loadNode(context, 'chatImport', await importOfChat(context, id)),
  }),
);

const id = { description: 'The id of the import.' };

builder.queryFields((t) => ({
  chatImport: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatImportType,
    nullable: true,
    description: 'One import of the caller; null when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getChatImport(deps, caller, args.id),
  }),
  chatImports: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatImportConnection,
    description: "The caller's imports, newest first; of those that have ended, the newest hundred.",
    args: pageArgs(t.arg),
    resolve: (_root, args, context) => listChatImports(context.deps, context.caller, pageRequest(context, args)),
  }),
}));

builder.mutationFields((t) => ({
  importChats: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatImportType,
    description:
      'Begins to bring the chats of a file that another product exported, with their branches, times and names. A chat that an earlier import brought, and that was not deleted since, is not brought again. `chatImportsChanged` tells how far it is.',
    args: {
      agentId: t.arg.id({ description: 'Who answers in the chats from then on.' }),
      file: t.arg({
        type: 'File',
        description:
          'The file as the product exported it: a ZIP of ChatGPT or Claude, or JSON of these, LibreChat, Open WebUI and Parley; at most UPLOAD_MAX_BYTES of the service.',
      }),
    },
    resolve: (_root, args, { deps, caller }) => importChats(deps, caller, args),
  }),
  cancelChatImport: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatImportType,
    description: 'Ends an import of the caller that is under way. What it has brought stays, and can be undone.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => cancelChatImport(deps, caller, args.id),
  }),
  undoChatImport: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatImportType,
    description: 'Begins to delete the chats that an import of the caller has brought. The same file can be imported again.',
    args: {
      id: t.arg.id(id),
      includesContinued: t.arg.boolean({
        defaultValue: false,
        description: 'Also chats that somebody went on with here; these stay otherwise.',
      }),
    },
    resolve: (_root, { id: importId, includesContinued }, { deps, caller }) =>
      undoChatImport(deps, caller, importId, { includesContinued }),
  }),
}));
