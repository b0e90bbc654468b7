import {
  deleteBinnedChats,
  listBinnedChats,
  type RestorableChat,
  restoreChats,
} from '../../../domain/conversations/chats/bin.ts';
import { builder } from '../../ground/builder/builder.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { ChangeChatsPayload } from './places.ts';

const BinnedChatType = builder.objectRef<RestorableChat>('BinnedChat').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A chat that the caller deleted and can restore. Nothing but the bin shows it.',
  fields: (t) => ({
    chatId: t.exposeID('id', { description: 'The id that the chat had, and has again when it is restored.' }),
    name: t.string({
      nullable: true,
      description: 'Its name; null when nothing was said in it.',
      resolve: ({ name }) => (name === '' ? null : name),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When something was last said or changed in it.' }),
    deletedAt: t.expose('deletedAt', { type: 'DateTime', description: 'When it was deleted.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When it is deleted for ever, within an hour; a legal hold keeps it for longer.',
    }),
  }),
});

const BinnedChatConnection = makeConnection(BinnedChatType, 'BinnedChat', 'Chats in the bin');

builder.queryField('binnedChats', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: BinnedChatConnection,
    description:
      "The caller's bin, the chat deleted last first. Chats stay in it for CHAT_BIN_DAYS, unless the organization keeps chats for a shorter time.",
    args: pageArgs(t.arg),
    resolve: (_root, args, context) => listBinnedChats(context.deps, context.caller, pageRequest(context, args)),
  }),
);

const RestoreChatsInput = builder.inputType('RestoreChatsInput', {
  description: 'Chats of the bin.',
  fields: (t) => ({ chatIds: t.idList({ description: 'The chats, 1 to 100.' }) }),
});
const DeleteBinnedChatsInput = builder.inputType('DeleteBinnedChatsInput', {
  description: 'Chats of the bin.',
  fields: (t) => ({ chatIds: t.idList({ description: 'The chats, 1 to 100.' }) }),
});

builder.mutationFields((t) => ({
  restoreChats: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChangeChatsPayload,
    description:
      'Puts chats of the bin back where they were, with their messages and files. Runs are gone, and with them the steps of answers.',
    args: { input: t.arg({ type: RestoreChatsInput, description: 'Which chats.' }) },
    resolve: async (_root, { input }, { deps, caller }) => ({ results: await restoreChats(deps, caller, input.chatIds) }),
  }),
  deleteBinnedChats: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChangeChatsPayload,
    description: 'Deletes chats of the bin for ever. A legal hold keeps them: their results say so.',
    args: { input: t.arg({ type: DeleteBinnedChatsInput, description: 'Which chats.' }) },
    resolve: async (_root, { input }, { deps, caller }) => ({ results: await deleteBinnedChats(deps, caller, input.chatIds) }),
  }),
}));
