import { pageInfo, pageQuery } from '../../../paging.ts';
import type { DeclaredRoute } from '../../../route.ts';

const shares = '/api/v1/chat-shares';
const one = `${shares}/{shareId}`;
const fields = 'id createdAt chat { id name } userId mode audience readers { id name email } expiresAt status openedAt openCount';
const schemas = { User: 'ChatShareReader', Chat: 'ChatShareChat' };

const rows: readonly Omit<DeclaredRoute, 'tag'>[] = [
  {
    operationId: 'shareChat',
    method: 'post',
    path: '/api/v1/chats/{chatId}/shares',
    summary: 'Share chat',
    description:
      'Makes a link under which others read a chat of the caller. `url` is shown once: only a hash of its secret is stored.',
    schemas,
    document: `mutation ($chatId: ID!, $input: ShareChatInput!) { shareChat(chatId: $chatId, input: $input) { url share { ${fields} } } }`,
    body: 'input',
    example: { audience: 'ORGANIZATION', mode: 'FROZEN' },
  },
  {
    operationId: 'listChatShares',
    method: 'get',
    path: shares,
    summary: 'List links to chats',
    description: "The caller's, newest first.",
    schemas,
    document: `query ($chatId: ID, $ofOrganization: Boolean, $limit: Int = 100, $cursor: String) {
      chatShares(chatId: $chatId, ofOrganization: $ofOrganization, first: $limit, after: $cursor) {
        nodes { ${fields} } ${pageInfo}
      }
    }`,
    query: {
      chatId: 'Only links to this chat.',
      ofOrganization: "Those of everybody in the caller's organization, for administrators. Default false.",
      ...pageQuery,
    },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'getChatShare',
    method: 'get',
    path: one,
    summary: 'Get link to a chat',
    description: 'One of the caller; for administrators, of the organization.',
    schemas,
    document: `query ($shareId: ID!) { chatShare(id: $shareId) { ${fields} } }`,
  },
  {
    operationId: 'revokeChatShare',
    method: 'delete',
    path: one,
    summary: 'Revoke link to a chat',
    description: 'Ends a link at once: of the caller, or, for administrators, of the organization.',
    schemas,
    document: `mutation ($shareId: ID!) { revokeChatShare(id: $shareId) { ${fields} } }`,
  },
];

export const chatShareRoutes: readonly DeclaredRoute[] = rows.map((row) => ({ ...row, tag: 'Chats' }));
