import { pageInfo, pageQuery } from '../../../paging.ts';
import type { DeclaredRoute } from '../../../route.ts';

const imports = '/api/v1/chat-imports';
const one = `${imports}/{importId}`;
const fields = `id createdAt endedAt status filename sizeBytes format agentId totalCount readCount importedCount existingCount messageCount retainedCount
  omissions { kind count chatNames } error`;

const rows: readonly Omit<DeclaredRoute, 'tag'>[] = [
  {
    operationId: 'importChats',
    method: 'post',
    path: imports,
    summary: 'Import chats',
    description:
      'Begins to bring the chats of a file that ChatGPT, Claude, LibreChat, Open WebUI or Parley exported. `GET` the import until `endedAt` is there.',
    document: `mutation ($aiId: ID!, $file: File!) { importChats(agentId: $aiId, file: $file) { ${fields} } }`,
    upload: { file: 'file', sizeBytesMaxSetting: 'UPLOAD_MAX_BYTES' },
  },
  {
    operationId: 'listChatImports',
    method: 'get',
    path: imports,
    summary: 'List imports of chats',
    description: "The caller's, newest first; of those that have ended, the newest hundred.",
    document: `query ($limit: Int = 100, $cursor: String) {
      chatImports(first: $limit, after: $cursor) { nodes { ${fields} } ${pageInfo} }
    }`,
    query: pageQuery,
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'getChatImport',
    method: 'get',
    path: one,
    summary: 'Get import of chats',
    description: 'How far it is, and once it has ended, what it brought and what it left out.',
    document: `query ($importId: ID!) { chatImport(id: $importId) { ${fields} } }`,
  },
  {
    operationId: 'cancelChatImport',
    method: 'post',
    path: `${one}/cancel`,
    summary: 'Cancel import of chats',
    description: 'Ends one that is under way. What it has brought stays, and can be undone.',
    document: `mutation ($importId: ID!) { cancelChatImport(id: $importId) { ${fields} } }`,
  },
  {
    operationId: 'undoChatImport',
    method: 'post',
    path: `${one}/undo`,
    summary: 'Undo import of chats',
    description: 'Begins to delete the chats that it has brought. The same file can be imported again.',
    document: `mutation ($importId: ID!, $includesContinued: Boolean! = false) {
      undoChatImport(id: $importId, includesContinued: $includesContinued) { ${fields} }
    }`,
    query: { includesContinued: 'Also chats that somebody went on with here. Default false.' },
  },
];

export const chatImportRoutes: readonly DeclaredRoute[] = rows.map((row) => ({ ...row, tag: 'Chats' }));
