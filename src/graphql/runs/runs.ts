import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import { type BegunRun, sendMessage, submitToolOutputs } from '../../domain/chats/messages.ts';
import { retryRun } from '../../domain/chats/retry.ts';
import { cancelRun, followRun, getRun, getRuns, listRunMessages } from '../../domain/runs/runs.ts';
import { findRunTrace } from '../../domain/runs/trace.ts';
import { type ChatMessage, threadModes } from '../../entities/chats/chat.ts';
import type { Run } from '../../entities/runs/run.ts';
import { builder } from '../builder/builder.ts';
import type { GraphContext } from '../builder/context.ts';
import { registerNode } from '../builder/nodes.ts';
import { CitationType, MessageType, ToolCallType, ToolOutputStatusType } from '../chats/messages.ts';
import { RunRef } from '../refs.ts';
import { ToolInput } from '../tools/inputs.ts';
import { wireEnumOf } from '../types/enums.ts';
import { ChatOptionsInput } from '../types/json-inputs.ts';
import { NodeType } from '../types/node.ts';
import { WarningType } from '../types/warnings.ts';
import { RunEventType } from './events.ts';
import { outcomeFields } from './parts.ts';
import { RunTraceType } from './trace.ts';

/** One loader for all fields that show messages, so that a list of runs costs one statement, whichever of the fields are selected. */
const messagesOfRuns = createContextCache(
  ({ deps, caller }: GraphContext) =>
    new DataLoader<Run, ChatMessage[], string>(async (runs) => (await listRunMessages(deps, caller, runs)) as ChatMessage[][], {
      cacheKeyFn: ({ id }) => id,
    }),
);

export const RunType = RunRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'One answer of an agent in a chat: from the message that asks for it to its end.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When the work began.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it was over.' }),
    chatId: t.exposeID('chatId', { nullable: true, description: 'The chat it answers in.' }),
    agentId: t.exposeID('agentId', { nullable: true, description: 'The agent that answers.' }),
    modelId: t.exposeString('modelId', { description: 'The model that was asked for.' }),
    ...outcomeFields(t),
    messages: t.field({
      type: [MessageType],
      description:
        'What it began with and what it said, in order. What it says stands here once it is over. Empty for callers who may not read its chat.',
      resolve: (run, _args, context) => messagesOfRuns(context).load(run),
    }),
    message: t.field({
      type: MessageType,
      nullable: true,
      description: 'The last message of its output; null until it is over, and when it has none.',
      resolve: async (run, _args, context) => lastSaid(await messagesOfRuns(context).load(run)) ?? null,
    }),
    toolCalls: t.field({
      type: [ToolCallType],
      description: 'Calls that it asks the caller to make.',
      resolve: async (run, _args, context) => lastSaid(await messagesOfRuns(context).load(run))?.toolCalls ?? [],
    }),
    systemMessageId: t.id({
      nullable: true,
      description: 'The message that holds the calls it asks for: hand it to `submitToolOutputs`. Null when it asks for none.',
      resolve: async (run, _args, context) => {
        const last = lastSaid(await messagesOfRuns(context).load(run));
        return (last?.toolCalls ?? []).length === 0 ? null : (last?.id ?? null);
      },
    }),
    trace: t.field({
      type: RunTraceType,
      nullable: true,
      description:
        'What it did between question and answer; null when its events are no longer kept, or the caller may not read its chat.',
      resolve: (run, _args, { deps, caller }) => findRunTrace(deps, caller, run.id),
    }),
    warnings: t.field({
      type: [WarningType],
      description:
        'In the payload of `sendMessage`: what of the agent has no effect on the run. Empty elsewhere, and when everything has.',
      resolve: (run: BegunRun) => [...(run.warnings ?? [])],
    }),
    citations: t.field({
      type: [CitationType],
      description: 'The passages that its last message cites.',
      resolve: async (run, _args, context) => lastSaid(await messagesOfRuns(context).load(run))?.citations ?? [],
    }),
  }),
});

registerNode('run', {
  typeName: 'Run',
  operation: 'Query.run',
  loadMany: (ids, { deps, caller }) => getRuns(deps, caller, ids),
});

builder.queryField('run', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: RunType,
    description: 'One run of a chat. NOT_FOUND when there is none or the caller may not read its chat.',
    args: { id: t.arg.id({ description: 'The id of the run.' }) },
    resolve: (_root, { id }, { deps, caller }) => getRun(deps, caller, id),
  }),
);

const ThreadModeType = wireEnumOf('ThreadMode', 'What becomes of a message while another run answers in the chat.', threadModes, {
  collect: 'It waits and is answered afterwards; messages that wait and differ in their prompt only are answered together.',
  steer: 'The other run takes it in before it asks its model again, and answers both. Where it cannot: as collect.',
  interrupt: 'The other run is cancelled first; what it said stays.',
  force: 'The other run is cut off at once, and every waiting one is cancelled; what the other said leaves the chat.',
});

const secretsDescription = 'Secrets for tools, by name: at most 50 of 4 KB each. Never stored, logged or shown to the model.';

const SendMessageInput = builder.inputType('SendMessageInput', {
  description: 'A message to a chat.',
  fields: (t) => ({
    prompt: t.field({
      type: 'JSON',
      description:
        'A string, or an array of parts: `{type: "text", text}`, `{type: "id", id}` (a file of the chat), `{type: "url", url}` (an image by its address or as a data URL). JSON: a text or a list.',
    }),
    date: t.field({ type: 'DateTime', required: false, description: "The user's date and time; the model is told." }),
    modelId: t.string({ required: false, description: "A model for this message instead of the agent's." }),
    options: t.field({ type: ChatOptionsInput, required: false, description: 'Options of this message.' }),
    tools: t.field({ type: [ToolInput], required: false, description: 'Functions of the caller, and tools of the service.' }),
    secrets: t.field({ type: 'StringMap', required: false, description: secretsDescription }),
    threadMode: t.field({ type: ThreadModeType, required: false, description: 'Default collect.' }),
  }),
});

const ToolOutputInput = builder.inputType('ToolOutputInput', {
  description: 'The output of one call.',
  fields: (t) => ({
    toolCallId: t.string({ description: 'The call.' }),
    status: t.field({ type: ToolOutputStatusType, description: 'The outcome of the call.' }),
    output: t.string({ description: 'The output of the call.' }),
  }),
});

const SubmitToolOutputsInput = builder.inputType('SubmitToolOutputsInput', {
  description: 'The outputs of all calls that a message asked for.',
  fields: (t) => ({
    systemMessageId: t.string({ description: 'The message that holds the calls.' }),
    outputs: t.field({ type: [ToolOutputInput], description: 'One for each call.' }),
    options: t.field({ type: ChatOptionsInput, required: false, description: 'Options of this message.' }),
    secrets: t.field({ type: 'StringMap', required: false, description: secretsDescription }),
  }),
});

const RetryRunInput = builder.inputType('RetryRunInput', {
  description: 'What a run that is asked again needs and the service has not kept.',
  fields: (t) => ({
    secrets: t.field({ type: 'StringMap', required: false, description: secretsDescription }),
  }),
});

builder.mutationFields((t) => ({
  sendMessage: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunType,
    description: 'Sends a message to a chat of the caller. Answers at once with the run that begins: follow it with `runEvents`.',
    args: {
      chatId: t.arg.id({ description: 'The id of the chat.' }),
      input: t.arg({ type: SendMessageInput, description: 'The message.' }),
    },
    resolve: (_root, { chatId, input }, context) => send(context, chatId, input),
  }),
  submitToolOutputs: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunType,
    description: 'Answers the calls that a run asked for. Answers at once with the run that goes on.',
    args: {
      chatId: t.arg.id({ description: 'The id of the chat.' }),
      input: t.arg({ type: SubmitToolOutputsInput, description: 'The outputs.' }),
    },
    resolve: (_root, { chatId, input }, { deps, caller }) => submitToolOutputs(deps, caller, chatId, input),
  }),
  cancelRun: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunType,
    description: 'Stops a run and answers when it is over. What it said stays; a run that is over is returned as it is.',
    args: {
      id: t.arg.id({ description: 'The id of the run.' }),
      chatId: t.arg.id({ required: false, description: 'The chat it must be in.' }),
    },
    resolve: (_root, { id, chatId }, { deps, caller }) => cancelRun(deps, caller, id, chatId),
  }),
  retryRun: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunType,
    description:
      'Asks anew what a failed run was asked, with the same model, tools and instructions. Answers at once with the run that begins: follow it with `runEvents`. CONFLICT when the run did not fail or the chat went on.',
    args: {
      id: t.arg.id({ description: 'The id of the failed run.' }),
      chatId: t.arg.id({ required: false, description: 'The chat it must be in.' }),
      input: t.arg({ type: RetryRunInput, required: false, description: 'What the service has not kept.' }),
    },
    resolve: (_root, { id, chatId, input }, { deps, caller }) =>
      retryRun(deps, caller, id, { chatId, secrets: input?.secrets ?? undefined }),
  }),
}));

const inOnePieceArgument = {
  required: true,
  defaultValue: false,
  description: 'The client reads no deltas: a model that breaks off before its end gives nothing where another one can be asked.',
} as const;

const leaving = 'Leaving stops nothing: `cancelRun` does.';

builder.subscriptionFields((t) => ({
  runEvents: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: RunEventType,
    description: `What happened in a run after \`afterSequence\`, then what happens, until its RunEndedEvent. ${leaving}`,
    args: {
      runId: t.arg.id({ description: 'The id of the run.' }),
      chatId: t.arg.id({ required: false, description: 'The chat it must be in.' }),
      afterSequence: t.arg.int({
        required: true,
        defaultValue: -1,
        description: 'The last event that is known already; -1 for none.',
      }),
    },
    subscribe: (_root, { runId, chatId, afterSequence }, { deps, caller, signal }) =>
      followRun(deps, caller, { id: runId, chatId }, afterSequence, signal),
    resolve: (event) => event,
  }),
  messageEvents: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunEventType,
    description: `Sends a message as \`sendMessage\` does and shows its run while it happens. ${leaving}`,
    args: {
      chatId: t.arg.id({ description: 'The id of the chat.' }),
      input: t.arg({ type: SendMessageInput, description: 'The message.' }),
      inOnePiece: t.arg.boolean(inOnePieceArgument),
    },
    subscribe: async (_root, { chatId, input, inOnePiece }, context) =>
      context.deps.runs.follow((await send(context, chatId, input, inOnePiece)).id, -1, context.signal),
    resolve: (event) => event,
  }),
  toolOutputEvents: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunEventType,
    description: `Answers calls as \`submitToolOutputs\` does and shows the run that goes on while it happens. ${leaving}`,
    args: {
      chatId: t.arg.id({ description: 'The id of the chat.' }),
      input: t.arg({ type: SubmitToolOutputsInput, description: 'The outputs.' }),
      inOnePiece: t.arg.boolean(inOnePieceArgument),
    },
    subscribe: async (_root, { chatId, input, inOnePiece }, { deps, caller, signal }) =>
      deps.runs.follow((await submitToolOutputs(deps, caller, chatId, input, inOnePiece)).id, -1, signal),
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

function lastSaid(messages: readonly ChatMessage[]): ChatMessage | undefined {
  return messages.findLast(({ role }) => role === 'assistant');
}
