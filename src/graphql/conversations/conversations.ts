import {
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
import { listArgs, listConnectionOf } from '../pagination.ts';
import { ConversationRef } from '../refs.ts';

const ConversationType = ConversationRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A chat of the caller by what was said in it, by whatever API, and texts that the caller keeps with it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the chat.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was begun.' }),
    metadata: t.field({ type: 'JSON', description: 'Texts by name.', resolve: ({ metadata }) => metadata }),
  }),
});

const ItemConnection = listConnectionOf<WireObject>(
  'JSON',
  'ConversationItem',
  'Items of a conversation',
  (item) => String(item.id),
  {
    scope: 'CHATS:READ',
  },
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
    type: ItemConnection,
    description:
      'The items of a conversation: what was said in the chat by whatever API, without what only models get. JSON: they are of many kinds, as the `input` of a response takes them.',
    args: { id: t.arg.id(id), ...listArgs(t.arg) },
    resolve: (_root, args, { deps, caller }) => listConversationItems(deps, caller, args.id, args),
  }),
  conversationItem: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: 'JSON',
    description: 'One item of a conversation. JSON: as `conversationItems` has it.',
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
    type: 'ID',
    description: 'Deletes a conversation with everything said in it, and stops its run. Returns its id.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteConversation(deps, caller, args.id),
  }),
  createConversationItems: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ['JSON'],
    description:
      'Adds items at the end of a conversation, and returns them as they are stored. CONFLICT while a response is at work on it.',
    args: { id: t.arg.id(id), input: t.arg({ type: ConversationItemsInput, description: 'The items.' }) },
    resolve: async (_root, args, { deps, caller, signal }) => [
      ...(await createConversationItems(deps, caller, args.id, args.input, signal)),
    ],
  }),
  deleteConversationItem: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ConversationType,
    description: 'Removes an item of a conversation: models do not get it any more. CONFLICT while a response is at work on it.',
    args: { id: t.arg.id(id), itemId: t.arg.string(itemId) },
    resolve: (_root, args, { deps, caller }) => deleteConversationItem(deps, caller, args.id, args.itemId),
  }),
}));
