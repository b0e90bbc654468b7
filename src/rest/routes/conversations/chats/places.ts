import type { DeclaredRoute } from '../../../route.ts';

const results = 'results { chatId error { code message } }';

/** What people do with many chats. The list and the change of one chat are in chats.ts. */
export const chatPlaceRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'getChatPlace',
    method: 'get',
    path: '/api/v1/chats/{chatId}/place',
    summary: 'Get the place of a chat',
    description: 'Its tags, its project, and whether it is archived. Rename or pin a chat changes them.',
    tag: 'Chats',
    schemas: { Chat: 'ChatPlace' },
    document: 'query ($chatId: ID!) { chat(id: $chatId) { id isArchived archivedAt tags projectId } }',
  },
  {
    operationId: 'listChatTags',
    method: 'get',
    path: '/api/v1/chat-tags',
    summary: 'List tags of chats',
    description: "The tags of the caller's chats, the ones of the most chats first; at most 200.",
    tag: 'Chats',
    document: 'query { chatTags { name chatCount } }',
    wrap: 'data',
  },
  {
    operationId: 'changeChats',
    method: 'post',
    path: '/api/v1/chats/changes',
    summary: 'Change several chats',
    description:
      'Archives, labels, moves or deletes 1 to 100 chats. One that cannot be changed does not hold up the others: its result says why.',
    tag: 'Chats',
    document: `mutation ($input: ChangeChatsInput!) { changeChats(input: $input) { ${results} } }`,
    body: 'input',
    example: { chatIds: ['chat_01ke2s7d4vfzgv0b4xw2q9a1bc'], isArchived: true, addTags: ['travel'] },
  },
];
