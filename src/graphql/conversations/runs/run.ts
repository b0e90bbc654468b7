import type { BegunRun } from '../../../domain/conversations/chats/messages.ts';
import { findRunKind, runCreatedAt } from '../../../domain/conversations/runs/states.ts';
import { listRunTraces } from '../../../domain/conversations/runs/trace.ts';
import { awaitedCalls, listOutputFiles, toolMessageId } from '../../../engine/runs/events/transcript.ts';
import { listCitations, readAnswerText, readReasoning } from '../../../entities/conversations/runs/answer.ts';
import { loadAgent } from '../../agents/agent-edge.ts';
import { findModel } from '../../agents/models.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode } from '../../ground/builder/nodes.ts';
import { AgentRef, ChatRef, MessageRef, ModelRef, RunRef } from '../../ground/refs.ts';
import { NodeType } from '../../ground/types/node.ts';
import { WarningType } from '../../ground/types/warnings.ts';
import { CitationType, ToolCallType } from '../chats/messages.ts';
import { FlowStepType } from './flow-steps.ts';
import { RunItemType } from './items/items.ts';
import { IncompleteReasonType, OutputFileType, RunKindType, RunStatusType, SelectionType, UsageType } from './parts.ts';
import { RunRequestType, requestIn } from './request.ts';
import { RunErrorType } from './run-error.ts';
import {
  findAgentId,
  findChatId,
  findKeyId,
  findLastMessage,
  findModelId,
  findRow,
  isRow,
  loadMessages,
  loadState,
} from './source.ts';
import { RunTraceType } from './trace.ts';

const traceOf = batched((ids: readonly string[], { deps, caller }) => listRunTraces(deps, caller, ids));

const unstoredRow = 'of a run that is not stored, null until half a second after its end at the latest';
const cutReasons =
  'Why it was cut: `max_output_tokens`, `content_filter`, `paused`, `max_tool_calls` (its model asked for more calls of tools than a run may make) or `timeout`.';
const goneNote = 'null when it is gone or the caller may not see it';

RunRef.implement({
  access: { scope: 'CHATS:READ' },
  description:
    'One run of a model or an agent: an answer in a chat, a completion, a response. What it said stands in `output`; of a stored run it is loaded as far as it is kept: `RUN_EVENTS_RETENTION_DAYS` after a run of a chat, `output` holds only what its messages tell.',
  extensions: { restDescription: 'One answer of an agent in a chat: from the message that asks for it to its end.' },
  interfaces: [NodeType],
  fields: (t) => ({
    kind: t.field({
      type: RunKindType,
      description: 'What asked for it.',
      resolve: async (run, _args, context) => findRunKind(run, await findRow(run, context)),
    }),
    responseId: t.id({
      nullable: true,
      description:
        'The id of a response, by which requests of the responses format name it: that of the run. Null for other runs.',
      resolve: ({ id }) => (findRunKind({ id }, null) === 'response' ? id : null),
    }),
    status: t.expose('status', { type: RunStatusType, description: 'Its status.' }),
    incompleteReason: t.expose('incompleteReason', {
      type: IncompleteReasonType,
      nullable: true,
      description: 'Why it was cut; null when it was not.',
      extensions: { restDescription: cutReasons },
    }),
    error: t.field({ type: RunErrorType, nullable: true, description: 'Why it failed.', resolve: (run) => run.error }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was asked for.',
      resolve: (run) => (isRow(run) ? run.createdAt : runCreatedAt(run)),
    }),
    startedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the work began; null while it waits.',
      extensions: { restDescription: 'When the work began.' },
      resolve: async (run, _args, context) => (await findRow(run, context))?.startedAt ?? null,
    }),
    endedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was over; null before.',
      extensions: { restDescription: 'When it was over.' },
      resolve: async (run, _args, context) => {
        if (!isRow(run) && run.completedAtMs !== undefined) return new Date(run.completedAtMs);
        return (await findRow(run, context))?.endedAt ?? null;
      },
    }),
  }),
});

/** Where it answers, who answers, and for whom. */
builder.objectFields(RunRef, (t) => ({
  chatId: t.id({
    nullable: true,
    description: 'The chat it answers in; null for a run without a chat.',
    extensions: { restDescription: 'The chat it answers in.' },
    resolve: (run, _args, context) => findChatId(run, context),
  }),
  chat: t.field({
    type: ChatRef,
    nullable: true,
    description: `The chat; ${goneNote}.`,
    resolve: async (run, _args, context) => loadNode(context, 'chat', await findChatId(run, context)),
  }),
  agentId: t.id({
    nullable: true,
    description: 'The agent that answers; null for a bare model.',
    resolve: (run, _args, context) => findAgentId(run, context),
  }),
  agent: t.field({
    type: AgentRef,
    nullable: true,
    description: `The agent; ${goneNote}.`,
    resolve: async (run, _args, context, info) => loadAgent(context, await findAgentId(run, context), info),
  }),
  agentVersion: t.int({
    nullable: true,
    description: `The version of the agent that answers; 0: a draft that was not published. Null for a bare model, for a run of before versions, and ${unstoredRow}.`,
    resolve: async (run, _args, context) => (await findRow(run, context))?.agentVersion ?? null,
  }),
  userId: t.id({
    nullable: true,
    description: `Whose run it is; ${unstoredRow}.`,
    extensions: { restDescription: 'Whose run it is; null for a run that is not stored.' },
    resolve: async (run, _args, context) => (await findRow(run, context))?.userId ?? null,
  }),
  keyId: t.id({
    nullable: true,
    description: `The key that asked for it; null for none, and ${unstoredRow}.`,
    extensions: { restDescription: 'The key that asked for it; null for a run that is not stored.' },
    resolve: (run, _args, context) => findKeyId(run, context),
  }),
  modelId: t.string({
    nullable: true,
    description: 'The model that was asked for; null for a search.',
    resolve: async (run, _args, context) => (await findModelId(run, context)) || null,
  }),
  model: t.field({
    type: ModelRef,
    nullable: true,
    description: 'The same; null when the installation does not have it any more.',
    resolve: async (run, _args, context) => findModel(context, (await findModelId(run, context)) || null),
  }),
}));

/** What it said, and what that took. */
builder.objectFields(RunRef, (t) => ({
  usage: t.field({
    type: UsageType,
    nullable: true,
    description: 'The tokens used; null until the end.',
    resolve: (run) => run.usage,
  }),
  selection: t.field({
    type: SelectionType,
    nullable: true,
    description: 'Which model answered; null until its end.',
    resolve: (run) => run.selection,
  }),
  messages: t.field({
    type: [MessageRef],
    description:
      'What it began with and what it said, in order, as messages of its chat. What it says stands here once it is over. Empty for callers who may not read its chat.',
    resolve: async (run, _args, context) => [...(await loadMessages(run, context))],
  }),
  message: t.field({
    type: MessageRef,
    nullable: true,
    description: 'The last message of its output; null until it is over, and when it has none.',
    resolve: (run, _args, context) => findLastMessage(run, context),
  }),
  output: t.field({
    type: [RunItemType],
    description: 'Its output: messages, thinking and calls.',
    resolve: async (run, _args, context) => [...(await loadState(run, context)).output],
  }),
  text: t.string({
    nullable: true,
    description: 'The text of all its messages; null while it has said nothing.',
    resolve: async (run, _args, context) => {
      const text = readAnswerText((await loadState(run, context)).output);
      return text === '' ? null : text;
    },
  }),
  reasoning: t.string({
    nullable: true,
    description: "The model's thinking; null when the model reported none.",
    resolve: async (run, _args, context) => readReasoning((await loadState(run, context)).output) ?? null,
  }),
  citations: t.field({
    type: [CitationType],
    description: 'The passages that its messages cite, with places in `text`.',
    resolve: async (run, _args, context) => [...listCitations((await loadState(run, context)).output)],
  }),
  toolCalls: t.field({
    type: [ToolCallType],
    description: 'Calls that it asks the caller to make.',
    resolve: async (run, _args, context) => [...awaitedCalls(await loadState(run, context))],
  }),
  systemMessageId: t.id({
    nullable: true,
    description: 'The message that holds those calls: hand it to `submitToolOutputs`. Null when it asks for none.',
    resolve: async (run, _args, context) => {
      const state = await loadState(run, context);
      return awaitedCalls(state).length === 0 ? null : toolMessageId(state);
    },
  }),
  files: t.field({
    type: [OutputFileType],
    description: 'Images and other files that its tools made.',
    resolve: async (run, _args, context) => [...listOutputFiles((await loadState(run, context)).output)],
  }),
}));

/** How it came to that. */
builder.objectFields(RunRef, (t) => ({
  serviceTier: t.string({
    nullable: true,
    description: 'The class of service that the provider reported last; null while it reported none.',
    resolve: async (run, _args, context) => (await loadState(run, context)).serviceTier ?? null,
  }),
  request: t.field({
    type: RunRequestType,
    nullable: true,
    description: 'Of a response: what it was asked. Null for other runs, and in events behind the first.',
    resolve: async (run, _args, context) => requestIn((await loadState(run, context)).head),
  }),
  flowSteps: t.field({
    type: [FlowStepType],
    description: 'At the end: the finished steps of the flow that answered, where the agent or the request shows them.',
    resolve: async (run, _args, context) => [...((await loadState(run, context)).flowSteps ?? [])],
  }),
  trace: t.field({
    type: RunTraceType,
    nullable: true,
    description:
      'What it did between question and answer; null when it is not stored, when its events are no longer kept, and when the caller may not read its chat.',
    resolve: async ({ id }, _args, context) => {
      const trace = await traceOf(context, id);
      return typeof trace === 'string' ? null : trace;
    },
  }),
  warnings: t.field({
    type: [WarningType],
    description:
      'What of the agent or the request has no effect on the run. In an event: what was known when it began, or what it found until its end.',
    resolve: async (run, _args, context) => {
      const { warnings: begunWarnings } = run as Partial<BegunRun>;
      if (isRow(run) && begunWarnings !== undefined) return [...begunWarnings];
      const { head, warnings } = await loadState(run, context);
      return [...(head?.warnings ?? []), ...(warnings ?? [])];
    },
  }),
}));
