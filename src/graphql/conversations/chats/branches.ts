import type { z } from 'zod';
import { editMessage, regenerateMessage, selectBranch } from '../../../domain/conversations/chats/branches.ts';
import { editMessageBody, regenerateBody } from '../../../wire/chats.ts';
import { describe } from '../../../wire/ground/body.ts';
import { ToolInput } from '../../agents/tools/inputs.ts';
import { versionArg, withVersion } from '../../agents/versions/args.ts';
import { builder } from '../../ground/builder/builder.ts';
import { type GraphContext, textTerm } from '../../ground/builder/context.ts';
import { byName, flatInput } from '../../ground/builder/flat-inputs.ts';
import type { ArgBuilder } from '../../ground/pagination.ts';
import { ChatRef, RunRef } from '../../ground/refs.ts';
import { ChatOptionsInput } from '../../ground/types/json-inputs.ts';
import { NamedTextInput } from '../../ground/types/named-texts.ts';
import { RunEventType } from '../runs/events/events.ts';
import { shownEvents } from '../runs/events/stream.ts';
import { secretsDescription } from '../runs/request-inputs.ts';
import { PromptInput } from './prompts.ts';

type EditInput = Parameters<typeof editMessage>[3];

const EditMessageInput = flatInput<EditInput>(
  builder.inputType('EditMessageInput', {
    description: 'What a message of the user says instead.',
    fields: (t) => ({
      prompt: t.field({ type: PromptInput, description: 'What it says.' }),
      date: t.field({ type: 'DateTime', required: false, description: "The user's date and time; the model is told." }),
      modelId: t.string({ required: false, description: "A model for this message instead of the agent's." }),
      options: t.field({ type: ChatOptionsInput, required: false, description: 'Options of this message.' }),
      tools: t.field({ type: [ToolInput], required: false, description: 'Functions of the caller, and tools of the service.' }),
      secrets: t.field({ type: [NamedTextInput], required: false, description: secretsDescription }),
    }),
  }),
  { body: editMessageBody, members: { secrets: byName } },
);

const notKept = 'The secrets of the request, which the service has not kept.';
const RegenerateMessageInput = flatInput<z.output<typeof regenerateBody>>(
  builder.inputType('RegenerateMessageInput', {
    description: 'How an answer is asked for again.',
    fields: (t) => ({
      modelId: t.string({ required: false, description: describe(regenerateBody, 'modelId') }),
      secrets: t.field({ type: [NamedTextInput], required: false, description: `${notKept} ${secretsDescription}` }),
    }),
  }),
  { body: regenerateBody, members: { secrets: byName } },
);

/** The version that answers again. */
const versionAgain = (arg: ArgBuilder) =>
  arg.string({
    required: false,
    description:
      'The version of the agent that answers instead: `draft`, or a number. It gets the question without the options of the request. For those who may edit the agent. Default: the one that answered.',
  });

const messageId = { description: 'The id of the message.' };

const editing =
  'Begins a branch with another text in place of a message of the user. The old branch stays: `selectBranch` shows it again. RUN_ACTIVE while a run answers, waits or is paused in the chat.';
const regenerating =
  'Begins a branch with another answer in place of one, or with an answer to a message that has none: with the same tools and instructions, and the same model unless another one is named. The old answer stays. RUN_ACTIVE while a run answers, waits or is paused in the chat.';

builder.mutationFields((t) => ({
  editMessage: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description: `${editing} Answers at once with the run that begins: follow it with \`runEvents\`.`,
    args: {
      id: t.arg.id(messageId),
      input: t.arg({ type: EditMessageInput, description: 'What it says instead.' }),
      version: versionArg(t.arg),
    },
    resolve: (_root, { id, input, version }, context) =>
      editMessage(context.deps, context.caller, id, withVersion(input, version), place(context)),
  }),
  regenerateMessage: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description: `${regenerating} Answers at once with the run that begins: follow it with \`runEvents\`.`,
    args: {
      id: t.arg.id(messageId),
      input: t.arg({ type: RegenerateMessageInput, required: false, description: 'How it is asked for.' }),
      version: versionAgain(t.arg),
    },
    resolve: (_root, { id, input, version }, context) =>
      regenerateMessage(context.deps, context.caller, id, withVersion(input ?? {}, version), place(context)),
  }),
  selectBranch: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ChatRef,
    description:
      'Makes the newest branch that goes through a message the one that people and models read. RUN_ACTIVE while a run answers, waits or is paused in the chat.',
    args: { messageId: t.arg.id(messageId) },
    resolve: (_root, { messageId: id }, context) => selectBranch(context.deps, context.caller, id, textTerm(context, 'chatId')),
  }),
}));

const leaving = 'Leaving stops nothing: `cancelRun` does.';

builder.subscriptionFields((t) => ({
  editedMessageEvents: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunEventType,
    description: `Edits a message as \`editMessage\` does and shows its run while it happens. ${leaving}`,
    args: {
      id: t.arg.id(messageId),
      input: t.arg({ type: EditMessageInput, description: 'What it says instead.' }),
      version: versionArg(t.arg),
    },
    subscribe: async (_root, { id, input, version }, context) => {
      const { deps, caller, signal } = context;
      const run = await editMessage(deps, caller, id, withVersion(input, version), place(context));
      return shownEvents(deps.runs.follow(run.id, -1, signal), run.id);
    },
    resolve: (event) => event,
  }),
  regeneratedMessageEvents: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunEventType,
    description: `Asks again as \`regenerateMessage\` does and shows the run while it happens. ${leaving}`,
    args: {
      id: t.arg.id(messageId),
      input: t.arg({ type: RegenerateMessageInput, required: false, description: 'How it is asked for.' }),
      version: versionAgain(t.arg),
    },
    subscribe: async (_root, { id, input, version }, context) => {
      const { deps, caller, signal } = context;
      const run = await regenerateMessage(deps, caller, id, withVersion(input ?? {}, version), place(context));
      return shownEvents(deps.runs.follow(run.id, -1, signal), run.id);
    },
    resolve: (event) => event,
  }),
}));

/** Where a message must be, and whether the client reads its deltas. */
function place(context: GraphContext) {
  return { chatId: textTerm(context, 'chatId'), isWhole: context.isStreamed === false };
}
