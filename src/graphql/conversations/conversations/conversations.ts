import {
  createConversation,
  createConversationItems,
  deleteConversation,
  deleteConversationItem,
  getConversation,
  getConversationItem,
  listConversationItems,
  updateConversation,
} from '../../../domain/conversations/conversations/conversations.ts';
import { shownItem, withWire } from '../../../domain/conversations/responses/shown-items.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode } from '../../ground/builder/nodes.ts';
import { listArgs, makeListConnection } from '../../ground/pagination.ts';
import { ChatRef, ConversationRef } from '../../ground/refs.ts';
import { NamedTextType, namedTexts } from '../../ground/types/named-texts.ts';
import { RunItemType } from '../runs/items/items.ts';
import { ConversationInput, ConversationItemsInput, UpdateConversationInput } from './inputs.ts';

const ConversationType = ConversationRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A chat of the caller by what was said in it, by whatever API, and texts that the caller keeps with it.',
  fields: (t) => ({
    chatId: t.exposeID('id', { description: 'The chat.' }),
    chat: t.field({
      type: ChatRef,
      nullable: true,
      description: 'The same; null when it is gone.',
      resolve: (conversation, _args, context) => loadNode(context, 'chat', conversation.id),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was begun.' }),
    metadata: t.field({
      type: [NamedTextType],
      description: 'Texts that the caller keeps with it.',
      resolve: ({ metadata }) => namedTexts(metadata),
    }),
  }),
});

const ItemConnection = makeListConnection(
  RunItemType,
  'ConversationItem',
  'Items of a conversation',
  (item: WireObject) => String(item.id),
  shownItem,
);

const id = { description: 'The id of the conversation: that of a chat of the caller.' };
const itemId = { description: 'The id of the item.' };

builder.queryFields((t) => ({
  conversation: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ConversationType,
    nullable: true,
    description: 'A conversation of the caller. Null when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getConversation(deps, caller, args.id),
  }),
  conversationItems: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ItemConnection,
    description: 'The items of a conversation: what was said in the chat by whatever API, without what only models get.',
    args: { id: t.arg.id(id), ...listArgs(t.arg) },
    resolve: (_root, args, { deps, caller }) => listConversationItems(deps, caller, args.id, args),
  }),
  conversationItem: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: RunItemType,
    nullable: true,
    description: 'One item of a conversation. Null when there is none.',
    args: { id: t.arg.id(id), itemId: t.arg.string(itemId) },
    resolve: async (_root, args, { deps, caller }) => withWire(await getConversationItem(deps, caller, args.id, args.itemId)),
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
    type: [RunItemType],
    description:
      'Adds items at the end of a conversation, and returns them as they are stored. CONFLICT while a response is at work on it.',
    args: { id: t.arg.id(id), input: t.arg({ type: ConversationItemsInput, description: 'The items.' }) },
    resolve: async (_root, args, { deps, caller, signal }) =>
      (await createConversationItems(deps, caller, args.id, args.input, signal)).map(withWire),
  }),
  deleteConversationItem: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ConversationType,
    description: 'Removes an item of a conversation: models do not get it any more. CONFLICT while a response is at work on it.',
    args: { id: t.arg.id(id), itemId: t.arg.string(itemId) },
    resolve: (_root, args, { deps, caller }) => deleteConversationItem(deps, caller, args.id, args.itemId),
  }),
}));
