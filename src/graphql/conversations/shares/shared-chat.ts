import { copySharedChat, mayGoOn, type SharedChatCopy } from '../../../domain/conversations/shares/copy.ts';
import { pageOfSharedMessages, type SharedFile, type SharedMessage } from '../../../domain/conversations/shares/messages.ts';
import { findSharerName, openSharedChat, type SharedChat, watchSharedChat } from '../../../domain/conversations/shares/open.ts';
import { loadAgent } from '../../agents/agent-edge.ts';
import { builder } from '../../ground/builder/builder.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { AgentRef, ChatRef } from '../../ground/refs.ts';
import { ChatUserInputInput } from '../chats/chats.ts';
import { CitationType, MessageRoleType } from '../chats/messages.ts';
import { toInputs } from '../schedules.ts';
import { ChatShareAudienceType, ChatShareModeType } from './shares.ts';

const access = { scope: 'CHATS:READ' } as const;

const SharedFileType = builder.objectRef<SharedFile>('SharedFile').implement({
  access,
  description: 'A file of a shared chat. Whoever may open the link may open it: the user of the chat owns it.',
  fields: (t) => ({
    filename: t.exposeString('filename', { description: 'Its name, without any path.' }),
    mimeType: t.exposeString('mimeType', { description: 'Its media type as it was declared.' }),
    size: t.exposeInt('sizeBytes', { description: 'Its bytes.' }),
    url: t.exposeString('url', { description: 'A link that works without a key for an hour.' }),
  }),
});

const SharedMessageType = builder.objectRef<SharedMessage>('SharedMessage').implement({
  access,
  description: 'What a user or an agent says in a shared chat, as the reader of the link may see it.',
  fields: (t) => ({
    id: t.id({ description: 'The id of the message.', resolve: ({ message }) => message.id }),
    createdAt: t.field({ type: 'DateTime', description: 'When it began.', resolve: ({ message }) => message.createdAt }),
    role: t.field({
      type: MessageRoleType,
      description: "The role of the message's author.",
      resolve: ({ message }) => message.role,
    }),
    content: t.string({ description: 'Its text.', resolve: ({ message }) => message.content }),
    citations: t.field({
      type: [CitationType],
      description: 'The passages whose documents the reader may open now, and pages of the web, in the order of the text.',
      resolve: ({ citations }) => citations,
    }),
    hiddenCitationCount: t.exposeInt('hiddenCitationCount', {
      description: 'How many cited passages are hidden from the reader, who may not open their documents.',
    }),
    files: t.field({
      type: [SharedFileType],
      description: 'The files and images among its parts.',
      resolve: ({ files }) => files,
    }),
    hiddenFileCount: t.exposeInt('hiddenFileCount', { description: 'How many files among its parts are gone.' }),
    images: t.field({
      type: ['String'],
      description: 'Images that stand in the message itself, as data URLs.',
      resolve: ({ images }) => images,
    }),
  }),
});

const SharedMessageConnection = makeConnection(SharedMessageType, 'SharedMessage', 'Messages');
/** The place of a message in its chat. */
const messageKey = ['number'] as const;

const SharedChatType = builder.objectRef<SharedChat>('SharedChat').implement({
  access,
  description: 'A chat as somebody reads it by a link.',
  fields: (t) => ({
    name: t.string({
      nullable: true,
      description: 'The name of the chat; null without one.',
      resolve: ({ chat }) => (chat.name === '' ? null : chat.name),
    }),
    sharedBy: t.string({
      description: 'The name of the user of the chat.',
      resolve: (shared, _args, { deps }) => findSharerName(deps, shared),
    }),
    sharedAt: t.field({ type: 'DateTime', description: 'When the link was made.', resolve: ({ share }) => share.createdAt }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the link ends by itself; null when it does not.',
      resolve: ({ share }) => share.expiresAt,
    }),
    mode: t.field({ type: ChatShareModeType, description: 'What readers get.', resolve: ({ share }) => share.mode }),
    audience: t.field({ type: ChatShareAudienceType, description: 'Who may open it.', resolve: ({ share }) => share.audience }),
    isOwn: t.exposeBoolean('isOwn', { description: 'Whether it is a chat of the reader.' }),
    chat: t.field({
      type: ChatRef,
      nullable: true,
      description: 'The chat itself, for its user; null for everybody else.',
      resolve: ({ chat, isOwn }) => (isOwn ? chat : null),
    }),
    agentName: t.string({
      description: 'The name of who answers in it: an agent or a model.',
      resolve: ({ chat }) => chat.agent.name,
    }),
    agentPictureUrl: t.string({ description: 'Its picture: an address, or a data URL.', resolve: ({ chat }) => chat.agent.src }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'The agent; null with a bare model, and for a reader who may not use it.',
      resolve: ({ chat }, _args, context, info) => loadAgent(context, chat.agentId, info),
    }),
    canGoOn: t.boolean({
      description:
        'Whether the reader may go on with its agent, by `copySharedChat`. With another agent, whoever may write chats may.',
      resolve: (shared, _args, { deps, caller }) => mayGoOn(deps, caller, shared),
    }),
    messages: t.field({
      type: SharedMessageConnection,
      description: 'What users and agents say in it, in order, without calls of tools and their outputs.',
      args: pageArgs(t.arg),
      resolve: (shared, args, context) =>
        pageOfSharedMessages(context.deps, context.caller, shared, pageRequest(context, args, messageKey)),
    }),
  }),
});

const secret = { description: 'The secret of the link: what stands behind its `#`.' };

builder.queryField('sharedChat', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: SharedChatType,
    nullable: true,
    description:
      'The chat behind a link, as far as its maker may share it and the caller may open it now; null otherwise. An opening by somebody else than its maker is an entry of the audit log.',
    args: { secret: t.arg.string(secret) },
    resolve: (_root, args, { deps, caller }) => openSharedChat(deps, caller, args.secret),
  }),
);

builder.subscriptionField('sharedChatUpdated', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: SharedChatType,
    description:
      'The chat behind a link at once and whenever it changed. Ends when the link does, or the caller may not open it any more.',
    args: { secret: t.arg.string(secret) },
    subscribe: (_root, args, { deps, caller, signal }) => watchSharedChat(deps, caller, args.secret, signal),
    resolve: (shared) => shared,
  }),
);

const CopySharedChatInput = builder.inputType('CopySharedChatInput', {
  description: 'How to go on with a shared chat.',
  fields: (t) => ({
    agentId: t.id({ required: false, description: 'Who answers from now on; default: the agent of the chat.' }),
    userInputs: t.field({
      type: [ChatUserInputInput],
      required: false,
      description: "Values of the agent's user inputs; at most 50. Those of the other person are not copied.",
    }),
  }),
});

const CopySharedChatPayload = builder.objectRef<SharedChatCopy>('CopySharedChatPayload').implement({
  access,
  description: 'A shared chat as a chat of the caller.',
  fields: (t) => ({
    chat: t.field({ type: ChatRef, description: 'The new chat.', resolve: ({ chat }) => chat }),
    omittedFileCount: t.exposeInt('omittedFileCount', {
      description: 'Files that are not in it: they are gone, or belong to another organization.',
    }),
    omittedCitationCount: t.exposeInt('omittedCitationCount', {
      description: 'Cited passages that are not in it, because the caller may not open them.',
    }),
  }),
});

builder.mutationField('copySharedChat', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: CopySharedChatPayload,
    description:
      'Copies what the caller reads by a link into a chat of its own, to go on in it: texts, files, and the citations that the caller may open.',
    args: {
      secret: t.arg.string(secret),
      input: t.arg({ type: CopySharedChatInput, required: false, description: 'How to go on.' }),
    },
    resolve: (_root, args, { deps, caller }) =>
      copySharedChat(deps, caller, args.secret, {
        agentId: args.input?.agentId,
        userInputs: toInputs(args.input?.userInputs),
      }),
  }),
);
