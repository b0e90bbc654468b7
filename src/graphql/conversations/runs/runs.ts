import type { z } from 'zod';
import { type BegunRun, sendMessage, submitToolOutputs } from '../../../domain/conversations/chats/messages.ts';
import { retryRun } from '../../../domain/conversations/chats/retry.ts';
import { followResponse } from '../../../domain/conversations/responses/lifecycle.ts';
import { getAnyRun, getAnyRuns, runIdKinds } from '../../../domain/conversations/runs/history.ts';
import { cancelRun, followRun } from '../../../domain/conversations/runs/runs.ts';
import { threadModes } from '../../../entities/conversations/chats/chat.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { retryBody, sendMessageBody, toolOutputsBody } from '../../../wire/chats.ts';
import { ToolInput } from '../../agents/tools/inputs.ts';
import { versionArg, withVersion } from '../../agents/versions/args.ts';
import { builder } from '../../ground/builder/builder.ts';
import { type GraphContext, textsTerm, textTerm } from '../../ground/builder/context.ts';
import { byName, flatInput } from '../../ground/builder/flat-inputs.ts';
import { registerNode } from '../../ground/builder/nodes.ts';
import { RunRef } from '../../ground/refs.ts';
import { createEnum, ofFormat } from '../../ground/types/enums.ts';
import { ChatOptionsInput } from '../../ground/types/json-inputs.ts';
import { NamedTextInput } from '../../ground/types/named-texts.ts';
import { ToolOutputStatusType } from '../chats/messages.ts';
import { PromptInput } from '../chats/prompts.ts';
import { RunEventType } from './events/events.ts';
import { shownEvents } from './events/stream.ts';
import { secretsDescription } from './request-inputs.ts';
import './run.ts';

const runId = 'The id of the run.';

for (const kind of runIdKinds) {
  registerNode(kind, {
    typeName: 'Run',
    operation: 'Query.run',
    loadMany: (ids, { deps, caller }) => getAnyRuns(deps, caller, ids),
  });
}

builder.queryField('run', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: RunRef,
    nullable: true,
    description:
      'A run of any kind and API by its id, stored or not. Null when there is none or the caller may not see it: see `runs`.',
    args: { id: t.arg.id({ description: runId }) },
    resolve: (_root, { id }, { deps, caller }) => getAnyRun(deps, caller, id),
  }),
);

const modes = {
  collect: 'It waits and is answered afterwards; messages that wait and differ in their prompt only are answered together.',
  steer: 'The other run takes it in before it asks its model again, and answers both. Where it cannot: as collect.',
  interrupt: 'The other run is cancelled first; what it said stays.',
  force: 'The other run is cut off at once, and every waiting one is cancelled; what the other said leaves the chat.',
};
const modeDescription = 'What becomes of a message while another run answers in the chat.';
const ThreadModeType = createEnum('ThreadMode', modeDescription, threadModes, modes, ofFormat);

const SendMessageInput = flatInput<Parameters<typeof sendMessage>[3]>(
  builder.inputType('SendMessageInput', {
    description: 'A message to a chat.',
    fields: (t) => ({
      prompt: t.field({ type: PromptInput, description: 'What the user says.' }),
      date: t.field({ type: 'DateTime', required: false, description: "The user's date and time; the model is told." }),
      modelId: t.string({ required: false, description: "A model for this message instead of the agent's." }),
      options: t.field({ type: ChatOptionsInput, required: false, description: 'Options of this message.' }),
      tools: t.field({ type: [ToolInput], required: false, description: 'Functions of the caller, and tools of the service.' }),
      threadMode: t.field({ type: ThreadModeType, required: false, description: 'Default collect.' }),
      secrets: t.field({ type: [NamedTextInput], required: false, description: secretsDescription }),
    }),
  }),
  { body: sendMessageBody, members: { secrets: byName } },
);

const ToolOutputInput = builder.inputType('ToolOutputInput', {
  description: 'The output of one call.',
  fields: (t) => ({
    toolCallId: t.string({ description: 'The call.' }),
    status: t.field({ type: ToolOutputStatusType, description: 'The outcome of the call.' }),
    output: t.string({ description: 'The output of the call.' }),
  }),
});

const SubmitToolOutputsInput = flatInput<Parameters<typeof submitToolOutputs>[3]>(
  builder.inputType('SubmitToolOutputsInput', {
    description: 'The outputs of all calls that a message asked for.',
    fields: (t) => ({
      systemMessageId: t.string({ description: 'The message that holds the calls.' }),
      outputs: t.field({ type: [ToolOutputInput], description: 'One for each call.' }),
      options: t.field({ type: ChatOptionsInput, required: false, description: 'Options of this message.' }),
      secrets: t.field({ type: [NamedTextInput], required: false, description: secretsDescription }),
    }),
  }),
  { body: toolOutputsBody, members: { secrets: byName } },
);

const RetryRunInput = flatInput<z.output<typeof retryBody>>(
  builder.inputType('RetryRunInput', {
    description: 'What a run that is asked again needs and the service has not kept.',
    fields: (t) => ({ secrets: t.field({ type: [NamedTextInput], required: false, description: secretsDescription }) }),
  }),
  { body: retryBody, members: { secrets: byName } },
);

builder.mutationFields((t) => ({
  sendMessage: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description: 'Sends a message to a chat of the caller. Answers at once with the run that begins: follow it with `runEvents`.',
    args: {
      chatId: t.arg.id({ description: 'The id of the chat.' }),
      input: t.arg({ type: SendMessageInput, description: 'The message.' }),
      version: versionArg(t.arg),
    },
    resolve: (_root, { chatId, input, version }, context) => send(context, chatId, withVersion(input, version)),
  }),
  submitToolOutputs: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description: 'Answers the calls that a run asked for. Answers at once with the run that goes on.',
    args: {
      chatId: t.arg.id({ description: 'The id of the chat.' }),
      input: t.arg({ type: SubmitToolOutputsInput, description: 'The outputs.' }),
    },
    resolve: (_root, { chatId, input }, { deps, caller }) => submitToolOutputs(deps, caller, chatId, input),
  }),
  cancelRun: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description:
      'Stops a run and answers when it is over: one of the caller, and for administrators any of their organization. What it said stays; a run that is over is returned as it is.',
    args: {
      id: t.arg.id({ description: runId }),
    },
    resolve: (_root, { id }, context) => cancelRun(context.deps, context.caller, id, textTerm(context, 'chatId')),
  }),
  retryRun: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description:
      'Asks anew what a failed run was asked, with the same model, tools and instructions. Answers at once with the run that begins: follow it with `runEvents`. CONFLICT when the run did not fail or the chat went on.',
    args: {
      id: t.arg.id({ description: 'The id of the failed run.' }),
      input: t.arg({ type: RetryRunInput, required: false, description: 'What the service has not kept.' }),
    },
    resolve: (_root, { id, input }, context) =>
      retryRun(context.deps, context.caller, id, { chatId: textTerm(context, 'chatId'), secrets: input?.secrets ?? undefined }),
  }),
}));

const leaving = 'Leaving stops nothing: `cancelRun` does.';

builder.subscriptionFields((t) => ({
  runEvents: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: RunEventType,
    description: `What happened in a stored run of any kind, then what happens, until it ends. With \`after\` it goes on behind an event that the reader has, and neither repeats nor misses one. NOT_FOUND for a run that is not stored (a completion, a response with \`store: false\`): its own subscription shows it, and nothing else. ${leaving}`,
    args: {
      runId: t.arg.id({ description: runId }),
      after: t.arg.int({
        required: false,
        description: 'The `sequence` of the last event that the reader has; without it, all events are shown.',
      }),
    },
    subscribe: async (_root, { runId: id, after }, context) => {
      const { deps, caller, signal, terms } = context;
      const events =
        terms?.isResponse === true
          ? followResponse(deps, caller, id, { afterSequence: after ?? -1, include: textsTerm(context, 'include') }, signal)
          : followRun(deps, caller, { id, chatId: textTerm(context, 'chatId') }, after ?? -1, signal);
      return shownEvents(await events, id);
    },
    resolve: (event) => event,
  }),
  messageEvents: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunEventType,
    description: `Sends a message as \`sendMessage\` does and shows its run while it happens. ${leaving}`,
    args: {
      chatId: t.arg.id({ description: 'The id of the chat.' }),
      input: t.arg({ type: SendMessageInput, description: 'The message.' }),
      version: versionArg(t.arg),
    },
    subscribe: async (_root, { chatId, input, version }, context) =>
      follow(context, await send(context, chatId, withVersion(input, version), context.isStreamed === false)),
    resolve: (event) => event,
  }),
  toolOutputEvents: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunEventType,
    description: `Answers calls as \`submitToolOutputs\` does and shows the run that goes on while it happens. ${leaving}`,
    args: {
      chatId: t.arg.id({ description: 'The id of the chat.' }),
      input: t.arg({ type: SubmitToolOutputsInput, description: 'The outputs.' }),
    },
    subscribe: async (_root, { chatId, input }, context) =>
      follow(context, await submitToolOutputs(context.deps, context.caller, chatId, input, context.isStreamed === false)),
    resolve: (event) => event,
  }),
}));

/** Sends a message, and notes for REST's reply headers how it joined another run. */
async function send(
  context: GraphContext,
  chatId: string,
  input: Parameters<typeof sendMessage>[3],
  inOnePiece = false,
): Promise<BegunRun> {
  const run = await sendMessage(context.deps, context.caller, chatId, input, inOnePiece);
  if (run.attached !== undefined) context.notes?.set('x-thread-attached', run.attached);
  return run;
}

function follow({ deps, signal }: GraphContext, { id }: Run) {
  return shownEvents(deps.runs.follow(id, -1, signal), id);
}
