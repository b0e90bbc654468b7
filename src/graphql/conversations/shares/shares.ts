import {
  allowsAnyone,
  findStatus,
  getChatShare,
  getChatShares,
  listChatShares,
  type NewShare,
  revokeChatShare,
  shareChat,
} from '../../../domain/conversations/shares/shares.ts';
import { chatShareAudiences, chatShareModes, chatShareStatuses } from '../../../entities/conversations/chats/share.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode, loadNodes, registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { ChatRef, ChatShareRef, UserRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';
import { ViewerType } from '../../people/viewer.ts';

export const ChatShareModeType = createEnum('ChatShareMode', 'What readers of a shared chat get.', chatShareModes, {
  FROZEN: 'The chat as it was: what is said later is not in it.',
  GROWING: 'The branch that the user of the chat reads, with what is said later.',
});
export const ChatShareAudienceType = createEnum('ChatShareAudience', 'Who may open a shared chat.', chatShareAudiences, {
  PEOPLE: 'Members of the organization whom it names.',
  ORGANIZATION: 'Every member of the organization.',
  ANYONE: 'Whoever has the link, without a sign-in too. The installation must allow it (SHARE_WITH_ANYONE).',
});
const ChatShareStatusType = createEnum('ChatShareStatus', 'What became of a link.', chatShareStatuses, {
  ACTIVE: 'It opens the chat, while its maker may share it.',
  EXPIRED: 'Its time is over.',
  REVOKED: 'Somebody ended it.',
  SUSPENDED: 'It is for anyone, which the installation does not allow now.',
});

const ChatShareType = ChatShareRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A link under which others read a chat. Only a hash of its secret is stored: the link itself is shown once.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    chatId: t.exposeID('chatId', { description: 'The chat that it opens.' }),
    chat: t.field({
      type: ChatRef,
      nullable: true,
      description: 'That chat; null when the caller may not read it.',
      resolve: ({ chatId }, _args, context) => loadNode(context, 'chat', chatId),
    }),
    userId: t.exposeID('userId', { description: 'The user of the chat, who made it.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'That user; null when the caller may not see it.',
      resolve: ({ userId }, _args, context) => loadNode(context, 'user', userId),
    }),
    mode: t.expose('mode', { type: ChatShareModeType, description: 'What readers get.' }),
    audience: t.expose('audience', { type: ChatShareAudienceType, description: 'Who may open it.' }),
    readers: t.field({
      type: [UserRef],
      description: 'The people whom it names, as far as the caller may see them; at most 100.',
      resolve: ({ readerIds }, _args, context) => loadNodes(context, 'user', readerIds),
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends by itself; null when it does not.',
    }),
    status: t.field({
      type: ChatShareStatusType,
      description:
        'What became of it. Whether its maker may still share the chat is asked when it is opened: who left, lost the right or the key opens nothing by it.',
      resolve: (share, _args, { deps }) => findStatus(deps, share),
    }),
    openedAt: t.expose('openedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When somebody else last opened it; null before that.',
    }),
    openCount: t.exposeInt('openCount', { description: 'How often others opened it.' }),
  }),
});

registerNode('chatShare', {
  typeName: 'ChatShare',
  operation: 'Query.chatShare',
  loadMany: (ids, { deps, caller }) => getChatShares(deps, caller, ids),
});

const ChatShareConnection = makeConnection(ChatShareType, 'ChatShare', 'Links');

const ShareChatPayload = builder.objectRef<NewShare>('ShareChatPayload').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A link that was just made.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The link. It is shown once: only a hash of its secret is stored.' }),
    share: t.field({ type: ChatShareType, description: 'What is kept of it.', resolve: ({ share }) => share }),
  }),
});

builder.objectField(ViewerType, 'mayShareWithAnyone', (t) =>
  t.boolean({
    description: 'Whether links to chats may be for anyone, without a sign-in (SHARE_WITH_ANYONE).',
    resolve: (_caller, _args, { deps }) => allowsAnyone(deps),
  }),
);

builder.queryFields((t) => ({
  chatShare: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatShareType,
    nullable: true,
    description: 'One link of the caller; for administrators, of the organization. Null when there is none.',
    args: { id: t.arg.id({ description: 'The id of the link.' }) },
    resolve: (_root, { id }, { deps, caller }) => getChatShare(deps, caller, id),
  }),
  chatShares: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatShareConnection,
    description: "The caller's links to chats, newest first.",
    args: {
      chatId: t.arg.id({ required: false, description: 'Only links to this chat.' }),
      ofOrganization: t.arg.boolean({
        required: false,
        description: "Those of everybody in the caller's organization, for administrators.",
      }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { chatId, ofOrganization, ...page }, context) =>
      listChatShares(context.deps, context.caller, { chatId, ofOrganization }, pageRequest(context, page)),
  }),
}));

const ShareChatInput = builder.inputType('ShareChatInput', {
  description: 'A link to make.',
  fields: (t) => ({
    mode: t.field({ type: ChatShareModeType, required: false, description: 'What readers get; default: FROZEN.' }),
    audience: t.field({ type: ChatShareAudienceType, description: 'Who may open it.' }),
    emails: t.stringList({
      required: false,
      description: 'With the audience PEOPLE: who may open it, by e-mail; 1 to 100 members of the organization.',
    }),
    expiresAt: t.field({
      type: 'DateTime',
      required: false,
      description: 'When it ends by itself, in the future; default: never.',
    }),
    messageId: t.id({
      required: false,
      description:
        'With the mode FROZEN: the last message that readers get, on any branch. Default: the newest message of the branch that the user reads.',
    }),
  }),
});

builder.mutationFields((t) => ({
  shareChat: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ShareChatPayload,
    description: 'Makes a link under which others read a chat of the caller.',
    args: {
      chatId: t.arg.id({ description: 'The id of the chat.' }),
      input: t.arg({ type: ShareChatInput, description: 'The link.' }),
    },
    resolve: (_root, { chatId, input }, { deps, caller }) => shareChat(deps, caller, chatId, input),
  }),
  revokeChatShare: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatShareType,
    description: 'Ends a link at once: of the caller, or, for administrators, of the organization.',
    args: { id: t.arg.id({ description: 'The id of the link.' }) },
    resolve: (_root, { id }, { deps, caller }) => revokeChatShare(deps, caller, id),
  }),
}));
