import { editQueuedMessage, listQueues, withdrawQueuedMessage } from '../../../domain/conversations/chats/queue.ts';
import type { Chat } from '../../../entities/conversations/chats/chat.ts';
import { type QueuedMessage, queueStates } from '../../../entities/conversations/chats/queue.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { ChatRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { listParts, MessagePartType } from './messages.ts';

const QueueStateType = createEnum('QueueState', 'How a message gets to be answered.', queueStates, {
  WAITING: 'After the run that answers now. It can be edited and withdrawn.',
  JOINING: 'By the run that answers now, which takes it in before it asks its model again (thread mode `STEER`).',
});

const QueuedMessageType = builder.objectRef<QueuedMessage>('QueuedMessage').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A message that was sent while a run answered in its chat. It becomes a message of the chat with the same id.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the message.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was sent.' }),
    state: t.expose('state', { type: QueueStateType, description: 'How it gets to be answered.' }),
    runId: t.exposeID('runId', { description: 'The run that answers it.' }),
    content: t.exposeString('content', { description: 'Its text.' }),
    parts: t.field({
      type: [MessagePartType],
      description: 'What it says, in order: its text, and files and images between; at most 100.',
      resolve: listParts,
    }),
  }),
});

const queueOfChat = batched((chats: readonly Chat[], { deps, caller }) => listQueues(deps, caller, chats));

builder.objectField(ChatRef, 'queue', (t) =>
  t.field({
    type: [QueuedMessageType],
    description:
      'What was sent while a run answered, in the order in which it is answered; at most some forty. Empty for others than the user of the chat.',
    resolve: async (chat, _args, context) => [...(await queueOfChat(context, chat))],
  }),
);

const chatId = { description: 'The id of the chat.' };
const messageId = { description: 'The id of the message.' };

builder.mutationFields((t) => ({
  editQueuedMessage: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatRef,
    description:
      'Gives a message that waits in a chat of the caller another text. Its files stay. CONFLICT when it does not wait any more.',
    args: {
      chatId: t.arg.id(chatId),
      messageId: t.arg.id(messageId),
      text: t.arg.string({ description: 'What it says; blank only for a message with files.' }),
    },
    resolve: (_root, args, { deps, caller }) => editQueuedMessage(deps, caller, args.chatId, args.messageId, args.text),
  }),
  withdrawQueuedMessage: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatRef,
    description:
      'Takes back a message that waits in a chat of the caller, so that it is not answered. CONFLICT when it does not wait any more.',
    args: { chatId: t.arg.id(chatId), messageId: t.arg.id(messageId) },
    resolve: (_root, args, { deps, caller }) => withdrawQueuedMessage(deps, caller, args.chatId, args.messageId),
  }),
}));
