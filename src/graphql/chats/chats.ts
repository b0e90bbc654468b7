import { canWriteChat } from '../../domain/access/access.ts';
import { listSummaries } from '../../domain/chats/changes.ts';
import {
  createChat,
  deleteChat,
  getChat,
  getChats,
  listChats,
  listMessages,
  pageOfMessages,
  updateChat,
  watchChat,
} from '../../domain/chats/chats.ts';
import type { ChatAgent } from '../../entities/chats/chat.ts';
import { builder } from '../builder/builder.ts';
import { registerNode } from '../builder/nodes.ts';
import { connectionOf, pageArgs, pageRequest } from '../pagination.ts';
import { ChatRef } from '../refs.ts';
import { NodeType } from '../types/node.ts';
import { MessageType } from './messages.ts';

const ChatAgentType = builder.objectRef<ChatAgent>('ChatAgent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What a chat shows of its agent, also when its user may not use that any more.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the agent.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    src: t.exposeString('src', { description: 'Its picture: an address, or a data URL.' }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    userId: t.exposeID('userId', { description: 'Its owner.' }),
    userName: t.exposeString('userName', { description: 'The name of its owner.' }),
  }),
});

export const ChatType = ChatRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A conversation of one user with one agent.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When something was last said or changed in it.' }),
    name: t.exposeString('name', { description: 'Empty until the first exchange names it.' }),
    userId: t.exposeID('userId', { description: 'The user of the chat.' }),
    pinPosition: t.int({
      description: 'Lower stands higher, from 1; 0 when it is not pinned.',
      resolve: ({ pinPosition }) => pinPosition ?? 0,
    }),
    agent: t.field({ type: ChatAgentType, description: 'Who answers in it.', resolve: ({ agent }) => agent }),
    seed: t.string({
      description:
        'A text of its agent that the first message begins from, for the box of a front end; empty when there is none. Models do not get it.',
      resolve: ({ agent }) => agent.seed,
    }),
    activeRunId: t.exposeID('activeRunId', { nullable: true, description: 'The run that answers now; null when none does.' }),
    userInputs: t.field({
      type: 'JSON',
      description: "The values of the agent's user inputs that it began with, by variable name.",
      resolve: ({ userInputs }) => userInputs,
    }),
    canWrite: t.boolean({
      description: 'Whether the caller may write in it: its user may, readers of its log may not.',
      resolve: (chat, _args, { caller }) => canWriteChat(caller, chat),
    }),
    isVisibleToEditors: t.exposeBoolean('isVisibleToEditors', {
      description:
        'Whether editors of its agent may read it while the agent has `chatLogsVisible`: decided when the chat was made, and only within the organization of the agent.',
    }),
    summary: t.loadable({
      type: 'String',
      nullable: true,
      description: 'The last summary of the chat; null without one.',
      load: (chatIds: string[], { deps }) => listSummaries(deps, chatIds),
      resolve: ({ id }) => id,
    }),
    messages: t.loadableList({
      type: MessageType,
      description: 'What was said, in order; the newest 2,000 when there are more.',
      load: (chatIds: string[], { deps }) => listMessages(deps, chatIds) as never,
      resolve: ({ id }) => id,
    }),
  }),
});

registerNode('chat', {
  typeName: 'Chat',
  operation: 'Query.chat',
  loadMany: (ids, { deps, caller }) => getChats(deps, caller, ids),
});

const ChatConnection = connectionOf(ChatType, 'Chat', 'Chats');
const MessageConnection = connectionOf(MessageType, 'Message', 'Messages');
/** The place of a message in its chat. */
const messageKey = ['number'] as const;

builder.queryFields((t) => ({
  chat: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatType,
    description: 'One chat. NOT_FOUND when there is none or the caller may not read it.',
    args: { id: t.arg.id({ description: 'The id of the chat.' }) },
    resolve: (_root, { id }, { deps, caller }) => getChat(deps, caller, id),
  }),
  chatMessages: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: MessageConnection,
    description:
      'Messages of a chat that the caller may read, newest first: `first` and `after` lead back to its beginning, also beyond the messages that `Chat.messages` shows.',
    args: { chatId: t.arg.id({ description: 'The id of the chat.' }), ...pageArgs(t.arg) },
    resolve: (_root, args, context) =>
      pageOfMessages(context.deps, context.caller, args.chatId, pageRequest(context, args, messageKey)),
  }),
  chats: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatConnection,
    description:
      "The caller's chats, the one changed last first. With `agentId`: those with that agent; for who may edit it, everybody's, as far as it shows its logs.",
    args: {
      agentId: t.arg.id({ required: false, description: 'Only chats with this agent.' }),
      search: t.arg.string({
        required: false,
        description: "Only the caller's own chats whose name or messages hold this, in any case; at most 200 characters.",
      }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, args, context) => listChats(context.deps, context.caller, args, pageRequest(context, args)),
  }),
}));

const CreateChatInput = builder.inputType('CreateChatInput', {
  description: 'A new chat.',
  fields: (t) => ({
    name: t.string({ required: false, description: '1 to 200 characters; without one, the first exchange names the chat.' }),
    userInputs: t.field({
      type: 'ValueMap',
      required: false,
      description: "Values of the agent's user inputs, by variable name: texts, numbers, true or false.",
    }),
  }),
});

const UpdateChatInput = builder.inputType('UpdateChatInput', {
  description: 'Changes of a chat: absent members are kept, null clears.',
  fields: (t) => ({
    name: t.string({ required: false, description: '1 to 200 characters; null lets the next exchange name the chat.' }),
    pinPosition: t.int({ required: false, description: 'From 1 to 1,000,000, lower stands higher; 0 or null unpins.' }),
  }),
});

builder.mutationFields((t) => ({
  createChat: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatType,
    description: 'Begins a chat with an agent that the caller may use.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: CreateChatInput, required: false, description: 'What the chat begins with.' }),
    },
    resolve: (_root, { agentId, input }, { deps, caller }) => createChat(deps, caller, agentId, input ?? {}),
  }),
  updateChat: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatType,
    description: 'Renames or pins a chat of the caller.',
    args: {
      id: t.arg.id({ description: 'The id of the chat.' }),
      input: t.arg({ type: UpdateChatInput, description: 'What to change.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => updateChat(deps, caller, id, input),
  }),
  deleteChat: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatType,
    description:
      'Deletes a chat of the caller with everything said in it, and stops its run. Answers the chat as it was, without messages.',
    args: { id: t.arg.id({ description: 'The id of the chat.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteChat(deps, caller, id),
  }),
}));

builder.subscriptionField('chatUpdated', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatType,
    description:
      'The chat at once and whenever it changed: a message, a run that began or ended, a name. Ends when it is gone or the caller may not read it any more.',
    args: { chatId: t.arg.id({ description: 'The id of the chat.' }) },
    subscribe: (_root, { chatId }, { deps, caller, signal }) => watchChat(deps, caller, chatId, signal),
    resolve: (chat) => chat,
  }),
);
