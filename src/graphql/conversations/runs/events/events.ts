import { toRunState } from '../../../../domain/conversations/runs/states.ts';
import { isPause, type RunEvent } from '../../../../entities/conversations/runs/event.ts';
import type { RunView } from '../../../../entities/conversations/runs/run.ts';
import { type BuilderTypes, builder } from '../../../ground/builder/builder.ts';
import { RunRef } from '../../../ground/refs.ts';
import { RetrievalModeType } from '../../../knowledge/retrieval.ts';
import { CitationType } from '../../chats/messages.ts';
import { FlowStepType } from '../flow-steps.ts';
import { CallItemType, RunItemType } from '../items/items.ts';
import { UsageType } from '../parts.ts';
import { callInRun } from '../source.ts';
import type { ShownEvent } from './stream.ts';
import { textSoFar, textSoFarMaxChars } from './text-so-far.ts';

export type EventOf<Type extends RunEvent['type']> = ShownEvent<Extract<RunEvent, { readonly type: Type }>>;
type EventFields<T> = PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, T>;

const access = { scope: 'CHATS:READ' } as const;

/** An event of a run's log. Runs of all kinds share these types of events. */
export const RunEventType = builder.interfaceRef<ShownEvent>('RunEvent').implement({
  access,
  description:
    'Something that happened in a run. Each type says what its event tells. The first one is RunStarted, and the last one implements RunEnded.',
  fields: (t) => ({
    sequence: t.exposeInt('sequence', {
      description:
        'Its place in the run, from 0: grows with every event. Numbers between two events that are missing belong to events that tell readers nothing. Give the last one as `after` to go on behind it.',
    }),
    runId: t.exposeID('runId', { description: 'The run.' }),
  }),
  resolveType: findTypeName,
});

/** What the run comes to in its last event. */
const RunEndedType = builder.interfaceRef<EventOf<EndType>>('RunEnded').implement({
  access,
  description: 'The run is over. There is exactly one such event, and it is the last one.',
  interfaces: [RunEventType],
  fields: (t) => ({
    run: t.field({ type: RunRef, description: 'The run with all its output.', resolve: ({ run }): RunView => toRunState(run) }),
  }),
  resolveType: findTypeName,
});

type EndType = 'response.completed' | 'response.failed' | 'response.incomplete';

function findTypeName(event: ShownEvent): string | undefined {
  if (event.type !== 'response.incomplete') return typeNames[event.type];
  if (event.run.status === 'cancelled') return 'RunCancelled';
  return isPause(event) ? 'RunPaused' : 'RunIncomplete';
}

/** Undefined for events that are left out. */
const typeNames: Readonly<Record<Exclude<RunEvent['type'], 'response.incomplete'>, string | undefined>> = {
  'response.created': 'RunStarted',
  'response.in_progress': 'RunResumed',
  'response.output_item.added': 'ItemAdded',
  'response.content_part.added': 'TextStarted',
  'response.output_text.delta': 'TextDelta',
  'response.output_text.annotation.added': 'CitationAdded',
  'response.output_text.done': 'TextDone',
  'response.content_part.done': undefined,
  'response.reasoning_text.delta': 'ReasoningDelta',
  'response.function_call_arguments.delta': 'ArgumentsDelta',
  'response.function_call_arguments.done': 'ArgumentsDone',
  'response.server_tool_call.in_progress': 'ToolCallStarted',
  'response.server_tool_call.completed': 'ToolCallCompleted',
  'response.server_tool_call.failed': 'ToolCallFailed',
  'response.subagent.started': 'SubagentStarted',
  'response.subagent.progress': 'SubagentProgressed',
  'response.subagent.completed': 'SubagentCompleted',
  'response.output_item.done': 'ItemDone',
  'parley.step': 'RetrievalCompleted',
  'parley.flow.step': 'FlowStepCompleted',
  'parley.input': 'InputAdded',
  'parley.usage': 'UsageReported',
  'parley.cited': undefined,
  'parley.subagent.kept': undefined,
  'parley.research': undefined,
  'response.completed': 'RunCompleted',
  'response.failed': 'RunFailed',
};

function place<T extends { readonly itemId: string; readonly outputIndex: number }>(t: EventFields<T>, what = 'item') {
  return {
    itemId: t.id({ description: `The ${what} that it is about.`, resolve: ({ itemId }) => itemId }),
    outputIndex: t.int({
      description: `The place of that ${what} in the output, from 0.`,
      resolve: ({ outputIndex }) => outputIndex,
    }),
  };
}

builder.objectRef<EventOf<'response.created'>>('RunStarted').implement({
  access,
  description: 'The run began.',
  interfaces: [RunEventType],
  fields: (t) => ({
    run: t.field({ type: RunRef, description: 'The run, still without output.', resolve: ({ run }): RunView => toRunState(run) }),
  }),
});

builder.objectRef<EventOf<'response.in_progress'>>('RunResumed').implement({
  access,
  description: 'A run that was paused goes on.',
  interfaces: [RunEventType],
  fields: (t) => ({
    run: t.field({ type: RunRef, description: 'The run, without its output.', resolve: ({ run }): RunView => toRunState(run) }),
  }),
});

builder.objectRef<EventOf<'response.output_item.added'>>('ItemAdded').implement({
  access,
  description: 'A part of the output begins.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: 'Its place in the output, from 0.' }),
    item: t.field({ type: RunItemType, description: 'The item, still empty.', resolve: ({ item }) => item }),
    statusHints: t.stringList({
      description: 'Short texts that a user interface may show meanwhile.',
      resolve: ({ statusHints }) => [...(statusHints ?? [])],
    }),
  }),
});

builder.objectRef<EventOf<'response.output_item.done'>>('ItemDone').implement({
  access,
  description: 'A part of the output is whole, or was cut.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: 'Its place in the output, from 0.' }),
    item: t.field({ type: RunItemType, description: 'The item.', resolve: ({ item }) => item }),
  }),
});

builder.objectRef<EventOf<'response.content_part.added'>>('TextStarted').implement({
  access,
  description: 'The text of a message begins.',
  interfaces: [RunEventType],
  fields: (t) => place(t),
});

builder.objectRef<EventOf<'response.output_text.delta'>>('TextDelta').implement({
  access,
  description: 'The next piece of the text of a message.',
  interfaces: [RunEventType],
  fields: (t) => ({
    ...place(t),
    delta: t.string({ description: 'The piece.', resolve: readDelta }),
    textSoFar: t.string({
      nullable: true,
      description: `The text of the run so far, for viewers that show one event at a time; null once it has more than ${textSoFarMaxChars} characters. Programs put \`delta\` together.`,
      resolve: (event, _args, { signal }) => textSoFar(event, signal),
    }),
  }),
});

builder.objectRef<EventOf<'response.output_text.annotation.added'>>('CitationAdded').implement({
  access,
  description: 'The text of a message cited a passage.',
  interfaces: [RunEventType],
  fields: (t) => ({
    ...place(t),
    citation: t.field({ type: CitationType, description: 'The passage.', resolve: ({ citation }) => citation }),
  }),
});

builder.objectRef<EventOf<'response.output_text.done'>>('TextDone').implement({
  access,
  description: 'The text of a message is whole.',
  interfaces: [RunEventType],
  fields: (t) => ({
    ...place(t),
    text: t.exposeString('text', { description: 'The whole text.' }),
  }),
});

builder.objectRef<EventOf<'response.reasoning_text.delta'>>('ReasoningDelta').implement({
  access,
  description: "The next piece of the model's thinking, if the model reports it.",
  interfaces: [RunEventType],
  fields: (t) => ({
    ...place(t),
    delta: t.string({ description: 'The piece.', resolve: readDelta }),
  }),
});

builder.objectRef<EventOf<'response.function_call_arguments.delta'>>('ArgumentsDelta').implement({
  access,
  description: 'The next piece of the arguments of a call.',
  interfaces: [RunEventType],
  fields: (t) => ({
    ...place(t),
    delta: t.string({ description: 'The piece.', resolve: readDelta }),
  }),
});

builder.objectRef<EventOf<'response.function_call_arguments.done'>>('ArgumentsDone').implement({
  access,
  description: 'The arguments of a call are whole.',
  interfaces: [RunEventType],
  fields: (t) => ({
    ...place(t),
    name: t.exposeString('name', { description: 'The function that is called.' }),
    arguments: t.exposeString('arguments', { description: 'The arguments as JSON text.' }),
  }),
});

builder.objectRef<EventOf<'response.server_tool_call.in_progress'>>('ToolCallStarted').implement({
  access,
  description: 'A tool of the service begins to work.',
  interfaces: [RunEventType],
  fields: (t) => ({
    ...place(t, 'call'),
    call: callField(t, 'The call.'),
  }),
});

builder.objectRef<EventOf<'response.server_tool_call.completed'>>('ToolCallCompleted').implement({
  access,
  description: 'A tool of the service is done.',
  interfaces: [RunEventType],
  fields: (t) => ({
    ...place(t, 'call'),
    call: callField(t, 'The call, with what it gave where that stands with the call.'),
  }),
});

builder.objectRef<EventOf<'response.server_tool_call.failed'>>('ToolCallFailed').implement({
  access,
  description: 'A tool of the service failed. The model reads why, and goes on.',
  interfaces: [RunEventType],
  fields: (t) => ({
    ...place(t, 'call'),
    call: callField(t, 'The call, with its error where that stands with the call.'),
  }),
});

builder.objectRef<EventOf<'parley.step'>>('RetrievalCompleted').implement({
  access,
  description: 'Knowledge was searched; only where the agent shows intermediate steps.',
  interfaces: [RunEventType],
  fields: (t) => ({
    isAvailable: t.boolean({
      description: 'False when knowledge could not be searched: the run goes on without passages.',
      resolve: ({ detail }) => detail.isUnavailable !== true,
    }),
    passageCount: t.int({ description: 'How many passages the model gets.', resolve: ({ detail }) => detail.passages }),
    titles: t.stringList({
      description: 'The titles of their documents, each once.',
      resolve: ({ detail }) => [...(detail.titles ?? [])],
    }),
    mode: t.field({
      type: RetrievalModeType,
      nullable: true,
      description: 'How it was searched; null when it could not be.',
      resolve: ({ detail }) => detail.retrieval?.mode ?? null,
    }),
    question: t.string({
      nullable: true,
      description: 'What was searched for, where that is not the question as it was asked: it continues a conversation.',
      resolve: ({ detail }) => detail.searched?.text ?? null,
    }),
  }),
});

builder.objectRef<EventOf<'parley.flow.step'>>('FlowStepCompleted').implement({
  access,
  description: 'A step of a flow is over; only where the agent shows intermediate steps.',
  interfaces: [RunEventType],
  fields: (t) => ({
    step: t.expose('step', { type: FlowStepType, description: 'The step.' }),
  }),
});

builder.objectRef<EventOf<'parley.input'>>('InputAdded').implement({
  access,
  description: 'Messages joined the run while it worked (thread mode `STEER`).',
  interfaces: [RunEventType],
  fields: (t) => ({
    messageCount: t.int({ description: 'How many messages.', resolve: ({ messages }) => messages.length }),
  }),
});

builder.objectRef<EventOf<'parley.usage'>>('UsageReported').implement({
  access,
  description: 'What the run has cost until now, between its steps. Its last event has the whole.',
  interfaces: [RunEventType],
  fields: (t) => ({
    usage: t.expose('usage', { type: UsageType, description: 'The tokens of the run so far.' }),
  }),
});

builder.objectRef<EventOf<'response.completed'>>('RunCompleted').implement({
  access,
  description: 'The run completed. Calls in its output wait for the caller.',
  interfaces: [RunEndedType, RunEventType],
});

builder.objectRef<EventOf<'response.failed'>>('RunFailed').implement({
  access,
  description: 'The run failed: see the `error` of its run.',
  interfaces: [RunEndedType, RunEventType],
});

builder.objectRef<EventOf<'response.incomplete'>>('RunIncomplete').implement({
  access,
  description: 'The run was cut: see the `incompleteReason` of its run.',
  interfaces: [RunEndedType, RunEventType],
});

builder.objectRef<EventOf<'response.incomplete'>>('RunCancelled').implement({
  access,
  description: 'The run was cancelled. What it said stays.',
  interfaces: [RunEndedType, RunEventType],
});

builder.objectRef<EventOf<'response.incomplete'>>('RunPaused').implement({
  access,
  description: 'The run was paused, and may be resumed: RunResumed follows then.',
  interfaces: [RunEventType],
  fields: (t) => ({
    run: t.field({ type: RunRef, description: 'The run until now.', resolve: ({ run }): RunView => toRunState(run) }),
  }),
});

function readDelta({ json }: { readonly json: string }): string {
  return JSON.parse(json) as string;
}

type CallEventType = `response.server_tool_call.${'in_progress' | 'completed' | 'failed'}`;

function callField<T extends EventOf<CallEventType>>(t: EventFields<T>, description: string) {
  return t.field({
    type: CallItemType,
    nullable: true,
    description: `${description} Null when a reader came in its middle and its events are no longer kept.`,
    resolve: ({ call, runId, itemId }, _args, context) => call ?? callInRun(runId, itemId, context),
  });
}
