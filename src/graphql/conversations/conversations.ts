import {
  type Conversation,
  createConversation,
  createConversationItems,
  deleteConversation,
  deleteConversationItem,
  getConversation,
  getConversationItem,
  listConversationItems,
  updateConversation,
} from '../../domain/conversations/conversations.ts';
import type { WireObject } from '../../entities/runs/response.ts';
import { builder } from '../builder/builder.ts';
import { OrderType } from '../responses/order.ts';
import { commonListOf, deletionOf } from '../types/common-list.ts';

const ConversationType = builder.objectRef<Conversation>('Conversation').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A chat of the caller as the common format knows it: items, and texts that the caller keeps with it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the chat.' }),
    object: t.string({ description: 'Always `conversation`.', resolve: () => 'conversation' }),
    createdAt: t.int({
      description: 'Seconds since 1970.',
      resolve: ({ createdAt }) => Math.floor(createdAt.getTime() / 1000),
    }),
    metadata: t.field({ type: 'JSON', description: 'Texts by name.', resolve: ({ metadata }) => metadata }),
  }),
});

const ItemListType = commonListOf<WireObject>('ConversationItemList', 'JSON', {
  access: { scope: 'CHATS:READ' },
  description: 'Items of a conversation in the form of the format.',
  idOf: ({ id }) => String(id),
});
const DeletedType = deletionOf(
  'DeletedConversation',
  'conversation.deleted',
  { scope: 'CHATS:READ' },
  'A conversation that was deleted.',
);

const items = 'At most 20 items, as in the input of a response. JSON: each kind has members of its own.';
const metadata = 'At most 16 texts of 512 characters by names of 64.';

const ConversationInput = builder.inputType('ConversationInput', {
  description: 'A new conversation.',
  fields: (t) => ({
    items: t.field({ type: 'JSON', required: false, description: items }),
    metadata: t.field({ type: 'StringMap', required: false, description: metadata }),
  }),
});
const UpdateConversationInput = builder.inputType('UpdateConversationInput', {
  description: 'Changes of a conversation.',
  fields: (t) => ({
    metadata: t.field({
      type: 'StringMap',
      required: false,
      description: `${metadata} They replace the former ones; null takes all away.`,
    }),
  }),
});
const ConversationItemsInput = builder.inputType('ConversationItemsInput', {
  description: 'Items to add.',
  fields: (t) => ({ items: t.field({ type: 'JSON', required: false, description: items }) }),
});

const id = { description: 'The id of the conversation: that of a chat of the caller.' };
const itemId = { description: 'The id of the item.' };

builder.queryFields((t) => ({
  conversation: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ConversationType,
    description: 'A conversation of the caller. NOT_FOUND when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getConversation(deps, caller, args.id),
  }),
  conversationItems: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ItemListType,
    description: 'The items of a conversation: what was said in the chat by whatever API, without what only models get.',
    args: {
      id: t.arg.id(id),
      after: t.arg.string({ required: false, description: 'The id of the item before the page.' }),
      limit: t.arg.int({ required: false, description: 'From 1 to 100; default 20.' }),
      order: t.arg({ type: OrderType, required: false, description: 'Default desc.' }),
    },
    resolve: (_root, args, { deps, caller }) =>
      listConversationItems(deps, caller, args.id, args as Parameters<typeof listConversationItems>[3]),
  }),
  conversationItem: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: 'JSON',
    description: 'One item of a conversation in the form of the format.',
    args: { id: t.arg.id(id), itemId: t.arg.string(itemId) },
    resolve: (_root, args, { deps, caller }) => getConversationItem(deps, caller, args.id, args.itemId),
  }),
}));

builder.mutationFields((t) => ({
  createConversation: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ConversationType,
    description: 'Begins a conversation: a chat without an agent, until a response on it names one.',
    args: { input: t.arg({ type: ConversationInput, required: false, description: 'What it begins with.' }) },
    resolve: (_root, { input }, { deps, caller, signal }) => createConversation(deps, caller, input ?? {}, signal),
  }),
  updateConversation: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ConversationType,
    description: 'Replaces the texts that the caller keeps with a conversation.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateConversationInput, description: 'What to change.' }) },
    resolve: (_root, args, { deps, caller }) => updateConversation(deps, caller, args.id, args.input),
  }),
  deleteConversation: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: DeletedType,
    description: 'Deletes a conversation with everything said in it, and stops its run.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteConversation(deps, caller, args.id),
  }),
  createConversationItems: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ItemListType,
    description: 'Adds items at the end of a conversation. CONFLICT while a response is at work on it.',
    args: { id: t.arg.id(id), input: t.arg({ type: ConversationItemsInput, description: 'The items.' }) },
    resolve: (_root, args, { deps, caller, signal }) => createConversationItems(deps, caller, args.id, args.input, signal),
  }),
  deleteConversationItem: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ConversationType,
    description: 'Removes an item of a conversation: models do not get it any more. CONFLICT while a response is at work on it.',
    args: { id: t.arg.id(id), itemId: t.arg.string(itemId) },
    resolve: (_root, args, { deps, caller }) => deleteConversationItem(deps, caller, args.id, args.itemId),
  }),
}));
