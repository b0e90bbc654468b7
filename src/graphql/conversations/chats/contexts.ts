import { emptyChatContext, listContextStarts, restoreChatContext } from '../../../domain/conversations/chats/contexts.ts';
import type { ContextStart } from '../../../entities/conversations/chats/chat.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { ChatRef } from '../../ground/refs.ts';

const ContextStartType = builder.objectRef<ContextStart>('ContextStart').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Where the part of a chat begins that models get. The transcript has all of it.',
  fields: (t) => ({
    messageId: t.exposeID('messageId', {
      description: 'The last message that they do not get; it may be one that people do not see. Ids of messages sort by time.',
    }),
    summary: t.string({
      nullable: true,
      description: 'What they get in place of it and all before it (`compressChat`); null for nothing (`emptyChatContext`).',
      resolve: ({ summary }) => (summary === '' ? null : summary),
    }),
  }),
});

const startOfChat = batched((ids: readonly string[], { deps }) => listContextStarts(deps, ids));

builder.objectField(ChatRef, 'contextStart', (t) =>
  t.field({
    type: ContextStartType,
    nullable: true,
    description: 'Where the part of it begins that models get; null: at its beginning.',
    resolve: ({ id }, _args, context) => startOfChat(context, id),
  }),
);

const chatId = { description: 'The id of the chat.' };

builder.mutationFields((t) => ({
  emptyChatContext: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatRef,
    description:
      'From here on, models are given nothing of what was said in a chat of the caller until now. The transcript stays; `restoreChatContext` takes it back. RUN_ACTIVE while a run answers.',
    args: { id: t.arg.id(chatId) },
    resolve: (_root, { id }, { deps, caller }) => emptyChatContext(deps, caller, id),
  }),
  restoreChatContext: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatRef,
    description:
      'Takes back the last summary of `compressChat`, or the last mark of `emptyChatContext`, of a chat of the caller: models are given again what they were given before. CONFLICT where they are given everything already; RUN_ACTIVE while a run answers.',
    args: { id: t.arg.id(chatId) },
    resolve: (_root, { id }, { deps, caller }) => restoreChatContext(deps, caller, id),
  }),
}));
