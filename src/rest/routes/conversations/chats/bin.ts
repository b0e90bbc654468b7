import { pageInfo, pageQuery } from '../../../paging.ts';
import type { DeclaredRoute } from '../../../route.ts';

const results = 'results { chatId error { code message } }';
const example = { chatIds: ['chat_01ke2s7d4vfzgv0b4xw2q9a1bc'] };

export const chatBinRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'listBinnedChats',
    method: 'get',
    path: '/api/v1/bin/chats',
    summary: 'List chats in the bin',
    description: 'What the caller deleted and can restore until `expiresAt`, the chat deleted last first.',
    tag: 'Chats',
    document: `query ($limit: Int = 100, $cursor: String) {
      binnedChats(first: $limit, after: $cursor) {
        nodes { chatId name createdAt updatedAt deletedAt expiresAt } ${pageInfo}
      }
    }`,
    query: pageQuery,
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'restoreChats',
    method: 'post',
    path: '/api/v1/bin/chats/restore',
    summary: 'Restore chats',
    description:
      'Puts 1 to 100 chats of the bin back where they were, with their messages and files. One that is not there does not hold up the others: its result says so.',
    tag: 'Chats',
    document: `mutation ($input: RestoreChatsInput!) { restoreChats(input: $input) { ${results} } }`,
    body: 'input',
    example,
  },
  {
    operationId: 'deleteBinnedChats',
    method: 'post',
    path: '/api/v1/bin/chats/delete',
    summary: 'Delete chats for ever',
    description:
      'Deletes 1 to 100 chats of the bin for ever. One that a legal hold keeps does not hold up the others: its result says so.',
    tag: 'Chats',
    document: `mutation ($input: DeleteBinnedChatsInput!) { deleteBinnedChats(input: $input) { ${results} } }`,
    body: 'input',
    example,
  },
];
