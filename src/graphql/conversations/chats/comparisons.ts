import { type Comparison, compareAnswers, listComparisons } from '../../../domain/conversations/chats/comparisons.ts';
import type { Chat } from '../../../entities/conversations/chats/chat.ts';
import { versionArg, withVersion } from '../../agents/versions/args.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { textTerm } from '../../ground/builder/context.ts';
import { ChatRef, RunRef } from '../../ground/refs.ts';

const ComparisonType = builder.objectRef<Comparison>('ChatComparison').implement({
  access: { scope: 'CHATS:READ' },
  description:
    'Answers to one message that stand beside each other, each on a branch of its own, until its user goes on with one.',
  fields: (t) => ({
    messageId: t.exposeID('messageId', { description: 'The message that is answered.' }),
    runs: t.field({
      type: [RunRef],
      description:
        'The runs that answer it beside the run of the active branch, in the order in which they began, ended ones too; at most three.',
      resolve: ({ runs }) => [...runs],
    }),
  }),
});

const comparisonOfChat = batched((chats: readonly Chat[], { deps, caller }) => listComparisons(deps, caller, chats));

builder.objectField(ChatRef, 'comparison', (t) =>
  t.field({
    type: ComparisonType,
    nullable: true,
    description:
      'Answers that stand beside each other since `compareAnswers`; null once `selectBranch` has gone on with one of them, and for others than the user of the chat.',
    resolve: (chat, _args, context) => comparisonOfChat(context, chat),
  }),
);

const CompareAnswersInput = builder.inputType('CompareAnswersInput', {
  description: 'Who else answers. Without a member: the same agent and model once more.',
  fields: (t) => ({
    agentId: t.id({ required: false, description: 'Another agent than that of the chat. It gets what was said in the chat.' }),
    modelId: t.string({ required: false, description: 'Another model than that of the agent.' }),
  }),
});

builder.mutationField('compareAnswers', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description:
      'Begins another answer beside an answer, or beside the run that answers a message of the user: by another agent, version or model, on a branch of its own. Neither waits for the other. Answers at once with the run that begins: follow it with `runEvents`. `selectBranch` goes on with one of them; CONFLICT when four answers stand beside each other.',
    args: {
      messageId: t.arg.id({ description: 'The answer, or the message of the user.' }),
      input: t.arg({ type: CompareAnswersInput, required: false, description: 'Who else answers.' }),
      version: versionArg(t.arg),
    },
    resolve: (_root, { messageId, input, version }, context) =>
      compareAnswers(context.deps, context.caller, messageId, withVersion(input ?? {}, version), textTerm(context, 'chatId')),
  }),
);
