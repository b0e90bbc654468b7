import {
  addedItemsReply,
  conversationItemReply,
  conversationItemsReply,
  conversationReply,
  deletedConversationReply,
} from '../../../wire/conversations.ts';
import type { DeclaredRoute } from '../../route.ts';

const conversations = '/api/v1/conversations';
const one = `${conversations}/{conversationId}`;
const items = `${one}/items`;
const item = `${items}/{itemId}`;

const exampleItem = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'My name is Ada.' }] };

const rows: readonly Omit<DeclaredRoute, 'tag' | 'forClients'>[] = [
  {
    operationId: 'createConversation',
    method: 'post',
    path: conversations,
    summary: 'Create a conversation',
    description: 'A chat without an agent, until a response on it names one. At most 20 items to begin with.',
    document: `mutation ($input: ConversationInput) { createConversation(input: $input) { chatId } }`,
    reply: conversationReply,
    body: 'input',
    bodyCase: 'snake',
    example: { items: [exampleItem], metadata: { topic: 'tea' } },
  },
  {
    operationId: 'getConversation',
    method: 'get',
    path: one,
    summary: 'Retrieve a conversation',
    description: 'The id is that of any chat of the caller.',
    document: `query ($conversationId: ID!) { conversation(id: $conversationId) { chatId } }`,
    reply: conversationReply,
  },
  {
    operationId: 'updateConversation',
    method: 'post',
    path: one,
    summary: 'Update a conversation',
    description: 'Replaces its metadata.',
    document: `mutation ($conversationId: ID!, $input: UpdateConversationInput!) { updateConversation(id: $conversationId, input: $input) { chatId } }`,
    reply: conversationReply,
    body: 'input',
    bodyCase: 'snake',
    example: { metadata: { topic: 'coffee' } },
  },
  {
    operationId: 'deleteConversation',
    method: 'delete',
    path: one,
    summary: 'Delete a conversation',
    description: 'With everything said in it. Its run is stopped.',
    document: 'mutation ($conversationId: ID!) { deleteConversation(id: $conversationId) }',
    reply: deletedConversationReply,
  },
  {
    operationId: 'listConversationItems',
    method: 'get',
    path: items,
    summary: 'List the items of a conversation',
    description: 'What was said in the chat by whatever API, without what only models get.',
    document: `query ($conversationId: ID!, $after: String, $limit: Int, $order: ItemOrder) {
      conversationItems(id: $conversationId, after: $after, first: $limit, order: $order) { nodes { id } }
    }`,
    reply: conversationItemsReply,
    query: {
      after: 'The id of the item before the page.',
      limit: 'From 1 to 100; default 20.',
      order: 'asc or desc (default).',
    },
  },
  {
    operationId: 'createConversationItems',
    method: 'post',
    path: items,
    summary: 'Add items to a conversation',
    description: 'At its end; at most 20 at once. 409 while a response is at work on it.',
    document: `mutation ($conversationId: ID!, $input: ConversationItemsInput!) {
      createConversationItems(id: $conversationId, input: $input) { id }
    }`,
    reply: addedItemsReply,
    body: 'input',
    bodyCase: 'snake',
    example: { items: [exampleItem] },
  },
  {
    operationId: 'getConversationItem',
    method: 'get',
    path: item,
    summary: 'Retrieve an item of a conversation',
    description: 'One message, call or result of the conversation.',
    document: 'query ($conversationId: ID!, $itemId: String!) { conversationItem(id: $conversationId, itemId: $itemId) { id } }',
    reply: conversationItemReply,
  },
  {
    operationId: 'deleteConversationItem',
    method: 'delete',
    path: item,
    summary: 'Delete an item of a conversation',
    description: 'Models do not get it any more. Answers the conversation. 409 while a response is at work on it.',
    document: `mutation ($conversationId: ID!, $itemId: String!) { deleteConversationItem(id: $conversationId, itemId: $itemId) { chatId } }`,
    reply: conversationReply,
  },
];

export const conversationRoutes: readonly DeclaredRoute[] = rows.map((row) => ({
  ...row,
  tag: 'Conversations',
  forClients: true,
}));
