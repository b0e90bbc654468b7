import type { z } from 'zod';
import { listLeaves } from '../../../domain/conversations/chats/branches.ts';
import { listSummaries } from '../../../domain/conversations/chats/changes.ts';
import {
  agentsOfChats,
  areUnread,
  createChat,
  deleteChat,
  getChat,
  getChats,
  listChats,
  listMessages,
  markChatRead,
  pageOfMessages,
  pagesOfMessages,
  updateChat,
  watchChat,
} from '../../../domain/conversations/chats/chats.ts';
import { canWriteChat } from '../../../domain/ground/access/access.ts';
import type { Chat, ChatAgent } from '../../../entities/conversations/chats/chat.ts';
import { archiveChoices } from '../../../entities/conversations/chats/place.ts';
import type { PageRequest } from '../../../entities/ground/page.ts';
import { newChatBody } from '../../../wire/chats.ts';
import { describe } from '../../../wire/ground/body.ts';
import { loadAgent } from '../../agents/agent-edge.ts';
import { findModel } from '../../agents/models.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { byName, flatInput } from '../../ground/builder/flat-inputs.ts';
import { keepNode, loadNode, nodeById, registerNode } from '../../ground/builder/nodes.ts';
import { describedOnRest } from '../../ground/builder/rest-words.ts';
import { makeConnection, pageArgs, pageRequest, wholePage } from '../../ground/pagination.ts';
import { AgentRef, ChatRef, MessageRef, ModelRef, RunRef, UserRef } from '../../ground/refs.ts';
import { createEnum, ofFormat } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';
import { MessageType } from './messages.ts';

const ChatAgentType = builder.objectRef<ChatAgent & { readonly userName: string }>('ChatAgent').implement({
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

export const ChatUserInputType = builder.objectRef<readonly [name: string, value: unknown]>('ChatUserInput').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A value that a chat began with, for the instructions of its agent.',
  fields: (t) => ({
    name: t.string({ description: "The name of the agent's user input.", resolve: ([name]) => name }),
    value: t.field({ type: 'PlainValue', description: 'The value that was given.', resolve: ([, value]) => value }),
  }),
});

const ArchiveChoiceType = createEnum(
  'ArchiveChoice',
  'Whether a list of chats has archived ones.',
  archiveChoices,
  { without: 'It has none of them.', only: 'It has nothing else.', with: 'It has all chats.' },
  ofFormat,
);

const agentOfChat = batched((chats: readonly Chat[], { deps }) => agentsOfChats(deps, chats));
const isChatUnread = batched((chats: readonly Chat[], { deps, caller }) => areUnread(deps, caller, chats));
const leafOfChat = batched((ids: readonly string[], { deps }) => listLeaves(deps, ids));
const summaryOfChat = batched((ids: readonly string[], { deps }) => listSummaries(deps, ids));
const transcriptOfChat = batched((ids: readonly string[], { deps }) => listMessages(deps, ids));
const pageOfChat = batched((ids: readonly string[], { deps }, page: PageRequest) => pagesOfMessages(deps, ids, page));

export const ChatType = ChatRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A conversation of one user with one agent.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When something was last said or changed in it.' }),
    name: t.string({
      nullable: true,
      description: 'Null until the first exchange names it.',
      resolve: ({ name }) => (name === '' ? null : name),
    }),
    userId: t.exposeID('userId', { description: 'The user of the chat.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'That user; null when the caller may not see it.',
      resolve: ({ userId }, _args, context) => nodeById(context, userId),
    }),
    pinPosition: t.exposeInt('pinPosition', {
      nullable: true,
      description: 'Lower stands higher, from 1; null when it is not pinned.',
    }),
    isArchived: t.boolean({
      description: 'Whether its user has put it out of the list: `chats` has it only where `archive` asks for it.',
      resolve: ({ archivedAt }) => archivedAt !== null,
    }),
    archivedAt: t.expose('archivedAt', { type: 'DateTime', nullable: true, description: 'When that was; null in the list.' }),
    tags: t.stringList({ description: 'Labels of its user, at most 20.', resolve: ({ tags }) => [...tags] }),
    agentId: t.exposeID('agentId', { nullable: true, description: 'The agent that answers in it; null with a bare model.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'That agent; null when it is gone or the caller may not use it any more.',
      resolve: ({ agentId }, _args, context, info) => loadAgent(context, agentId, info),
    }),
    shownAgent: t.field({
      type: ChatAgentType,
      description: 'Who answers in it, also when the caller may not use that agent any more.',
      extensions: describedOnRest('Who answers in it.'),
      resolve: (chat, _args, context) => agentOfChat(context, chat),
    }),
    modelId: t.exposeString('modelId', {
      nullable: true,
      description: 'The model that answers in a chat without an agent; null with an agent.',
    }),
    model: t.field({
      type: ModelRef,
      nullable: true,
      description: 'The same; null also when the installation does not have it any more.',
      resolve: ({ modelId }, _args, context) => findModel(context, modelId),
    }),
    seed: t.string({
      nullable: true,
      description:
        'A text of its agent that the first message begins from, for the box of a front end; null when there is none. Models do not get it.',
      resolve: ({ agent }) => (agent.seed === '' ? null : agent.seed),
    }),
  }),
});

/** What happens in it, and what was said. */
builder.objectFields(ChatRef, (t) => ({
  activeRunId: t.exposeID('activeRunId', { nullable: true, description: 'The run that answers now; null when none does.' }),
  activeRun: t.field({
    type: RunRef,
    nullable: true,
    description: 'That run.',
    resolve: ({ activeRunId }, _args, context) => nodeById(context, activeRunId),
  }),
  userInputs: t.field({
    type: [ChatUserInputType],
    description: "The values of the agent's user inputs that it began with; at most 100.",
    resolve: ({ userInputs }) => Object.entries(userInputs),
  }),
  canWrite: t.boolean({
    description: 'Whether the caller may write in it: its user may, readers of its log may not.',
    resolve: (chat, _args, { caller }) => canWriteChat(caller, chat),
  }),
  isVisibleToEditors: t.exposeBoolean('isVisibleToEditors', {
    description:
      'Whether editors of its agent may read it while the agent has `chatLogsVisible`: decided when the chat was made, and only within the organization of the agent.',
  }),
  isUnread: t.boolean({
    description: 'Whether a run has ended in it since the caller last called `markChatRead`.',
    resolve: (chat, _args, context) => isChatUnread(context, chat),
  }),
  summary: t.string({
    nullable: true,
    description: 'The last summary of the chat; null without one.',
    resolve: ({ id }, _args, context) => summaryOfChat(context, id),
  }),
  activeLeaf: t.field({
    type: MessageRef,
    nullable: true,
    description: 'The last message of the branch that people and models read; null in an empty chat.',
    resolve: async ({ id }, _args, context) => loadNode(context, 'message', await leafOfChat(context, id)),
  }),
  messages: t.field({
    type: MessageConnection,
    description:
      'What was said on the branch that people and models read, in order. A chat opens with the end of it: `last: 50`; `before` leads back to its beginning.',
    args: pageArgs(t.arg),
    resolve: async (chat, args, context) => {
      // Routes show the newest 2,000.
      if (context.terms?.whole === true) return wholePage(await transcriptOfChat(context, chat.id));
      const page = await pageOfChat(context, chat.id, pageRequest(context, args, messageKey));
      keepNode(context, 'chat', chat);
      for (const message of page.items) keepNode(context, 'message', message);
      return page;
    },
  }),
}));

registerNode('chat', {
  typeName: 'Chat',
  operation: 'Query.chat',
  loadMany: (ids, { deps, caller }) => getChats(deps, caller, ids),
});

export const ChatConnection = makeConnection(ChatType, 'Chat', 'Chats');
const MessageConnection = makeConnection(MessageType, 'Message', 'Messages');

/** The place of a message in its chat. */
const messageKey = ['number'] as const;

builder.queryFields((t) => ({
  chat: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatType,
    nullable: true,
    description: 'One chat. Null when there is none or the caller may not read it.',
    args: { id: t.arg.id({ description: 'The id of the chat.' }) },
    resolve: (_root, { id }, { deps, caller }) => getChat(deps, caller, id),
  }),
  chatMessages: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: MessageConnection,
    description:
      'Messages of a chat that the caller may read, newest first: `first` and `after` lead back to its beginning. `Chat.messages` has them in order.',
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
        description:
          "Only the caller's own chats whose name or messages hold this, in any case; at most 200 characters. A page that is not full after some 100,000 messages ends there: it may be empty, and `hasNextPage` and `endCursor` lead on.",
      }),
      isPinned: t.arg.boolean({ required: false, description: 'Only pinned chats; false: only others. Default: all.' }),
      archive: t.arg({
        type: ArchiveChoiceType,
        required: false,
        description: 'Whether it has archived chats. Default: `WITHOUT`.',
      }),
      projectId: t.arg.id({ required: false, description: "Only the caller's own chats in this project." }),
      tag: t.arg.string({ required: false, description: "Only the caller's own chats with this tag, as it is written." }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, args, context) => listChats(context.deps, context.caller, args, pageRequest(context, args)),
  }),
}));

export const ChatUserInputInput = builder.inputType('ChatUserInputInput', {
  description: 'A value for the instructions of the agent.',
  fields: (t) => ({
    name: t.string({ description: "The name of the agent's user input, once in its list." }),
    value: t.field({ type: 'PlainValue', description: 'The value.' }),
  }),
});
const CreateChatInput = flatInput<z.output<typeof newChatBody>>(
  builder.inputType('CreateChatInput', {
    description: 'A new chat.',
    fields: (t) => ({
      name: t.string({ required: false, description: describe(newChatBody, 'name') }),
      projectId: t.id({ required: false, description: describe(newChatBody, 'projectId') }),
      userInputs: t.field({
        type: [ChatUserInputInput],
        required: false,
        description: "Values of the agent's user inputs; at most 50.",
      }),
    }),
  }),
  { body: newChatBody, members: { userInputs: byName } },
);

const UpdateChatInput = builder.inputType('UpdateChatInput', {
  description: 'Changes of a chat: absent members are kept, null clears the name, the pin and the project.',
  fields: (t) => ({
    name: t.string({ required: false, description: '1 to 200 characters; null lets the next exchange name the chat.' }),
    pinPosition: t.int({ required: false, description: 'From 1 to 1,000,000, lower stands higher; 0 or null unpins.' }),
    isArchived: t.boolean({ required: false, description: 'Puts it out of the list, or back; null keeps it.' }),
    projectId: t.id({ required: false, description: 'The project that it is in; null takes it out.' }),
    tags: t.stringList({
      required: false,
      description: 'Its labels, in place of those before: at most 20 of 1 to 50 characters; null keeps them.',
    }),
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
    description: 'Renames, pins, labels, moves or archives a chat of the caller.',
    args: {
      id: t.arg.id({ description: 'The id of the chat.' }),
      input: t.arg({ type: UpdateChatInput, description: 'What to change.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => updateChat(deps, caller, id, input),
  }),
  markChatRead: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatType,
    description: 'The caller has read all answers of a chat that it may read: `isUnread` is false until the next one.',
    args: { id: t.arg.id({ description: 'The id of the chat.' }) },
    resolve: (_root, { id }, { deps, caller }) => markChatRead(deps, caller, id),
  }),
  deleteChat: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatType,
    description:
      'Deletes a chat of the caller with everything said in it, and stops its run. It can be restored from the bin for a while: `binnedChats`. Answers the chat as it was, without messages.',
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
