import { type ChatChangeResult, changeChats, listChatTags } from '../../../domain/conversations/chats/places.ts';
import type { ChatTag } from '../../../entities/conversations/chats/place.ts';
import { builder } from '../../ground/builder/builder.ts';
import { ErrorCodeType } from '../../ground/errors/codes.ts';
import { ChatType } from './chats.ts';

const ChatTagType = builder.objectRef<ChatTag>('ChatTag').implement({
  access: { scope: 'CHATS:READ' },
  description: "A label of the caller's chats.",
  fields: (t) => ({
    name: t.exposeString('name', { description: 'As it is written.' }),
    chatCount: t.exposeInt('chatCount', {
      description: 'The chats that have it, archived ones too, of the 10,000 changed last.',
    }),
  }),
});

type ChatChangeError = NonNullable<ChatChangeResult['error']>;
const ChatChangeErrorType = builder.objectRef<ChatChangeError>('ChatChangeError').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Why a chat did not change.',
  fields: (t) => ({
    code: t.field({ type: ErrorCodeType, description: 'As in `extensions.code` of errors.', resolve: ({ code }) => code }),
    message: t.exposeString('message', { description: 'For a person to read.' }),
  }),
});

const ChatChangeResultType = builder.objectRef<ChatChangeResult>('ChatChangeResult').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What became of one chat of several.',
  fields: (t) => ({
    chatId: t.exposeID('chatId', { description: 'The id that was given.' }),
    chat: t.field({
      type: ChatType,
      nullable: true,
      description: 'The chat as it is now; null when it did not change, or is deleted.',
      resolve: ({ chat }) => chat,
    }),
    error: t.field({
      type: ChatChangeErrorType,
      nullable: true,
      description: 'Why it did not change; null when it did.',
      resolve: ({ error }) => error,
    }),
  }),
});

export const ChangeChatsPayload = builder
  .objectRef<{ readonly results: readonly ChatChangeResult[] }>('ChangeChatsPayload')
  .implement({
    access: { scope: 'CHATS:READ' },
    description: 'What became of several chats.',
    fields: (t) => ({
      results: t.field({
        type: [ChatChangeResultType],
        description: 'One for each id, in order; at most 100.',
        resolve: ({ results }) => [...results],
      }),
    }),
  });

const tagNote = 'at most 20 of 1 to 50 characters';
const ChangeChatsInput = builder.inputType('ChangeChatsInput', {
  description: 'What becomes of several chats of the caller: absent members are kept, and so are null ones but `projectId`.',
  fields: (t) => ({
    chatIds: t.idList({ description: 'The chats, 1 to 100.' }),
    isArchived: t.boolean({ required: false, description: 'Puts them out of the list, or back.' }),
    addTags: t.stringList({ required: false, description: `Labels that each gets besides its own; ${tagNote}.` }),
    removeTags: t.stringList({ required: false, description: `Labels that each loses; ${tagNote}.` }),
    projectId: t.id({ required: false, description: 'The project that they are in; null takes them out.' }),
    isDeleted: t.boolean({ required: false, description: 'Deletes them, as `deleteChat` does; goes with no other change.' }),
  }),
});

builder.queryField('chatTags', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: [ChatTagType],
    description: "The tags of the caller's chats, the ones of the most chats first; at most 200.",
    resolve: async (_root, _args, { deps, caller }) => [...(await listChatTags(deps, caller))],
  }),
);

builder.mutationField('changeChats', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChangeChatsPayload,
    description:
      'Archives, labels, moves or deletes several chats of the caller. One that cannot be changed does not hold up the others: its result says why.',
    args: { input: t.arg({ type: ChangeChatsInput, description: 'Which chats, and what becomes of them.' }) },
    resolve: async (_root, { input }, { deps, caller }) => ({ results: await changeChats(deps, caller, input) }),
  }),
);
