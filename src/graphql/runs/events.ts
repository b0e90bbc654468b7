import { awaitedCalls, toolMessageId } from '../../engine/runs/events/transcript.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import type { RunEvent } from '../../entities/runs/event.ts';
import { builder } from '../builder/builder.ts';
import { CitationType, ToolCallType } from '../chats/messages.ts';
import { FlowStepType } from './flow-steps.ts';
import { RunItemType, RunSnapshotType, UsageType } from './parts.ts';
import { textSoFar, textSoFarMaxChars } from './text-so-far.ts';

export type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

/** An event of a run's log. All runs share these kinds of events. */
export const RunEventType = builder.interfaceRef<RunEvent>('RunEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'An event of a run.',
  fields: (t) => ({
    sequence: t.exposeInt('sequence', { description: 'Grows by one with every event of a run, from 0, without gaps.' }),
    type: t.exposeString('type', { description: 'The type of the event, as in the responses format.' }),
  }),
  resolveType: (event) => eventTypes[event.type],
});

const eventTypes: Readonly<Record<RunEvent['type'], string>> = {
  'response.created': 'RunStartedEvent',
  'response.in_progress': 'RunStartedEvent',
  'response.output_item.added': 'ItemAddedEvent',
  'response.content_part.added': 'TextStartedEvent',
  'response.output_text.delta': 'TextDeltaEvent',
  'response.output_text.annotation.added': 'CitationEvent',
  'response.output_text.done': 'TextDoneEvent',
  'response.content_part.done': 'TextDoneEvent',
  'response.reasoning_text.delta': 'ReasoningDeltaEvent',
  'response.function_call_arguments.delta': 'ArgumentsDeltaEvent',
  'response.function_call_arguments.done': 'ArgumentsDoneEvent',
  'response.server_tool_call.in_progress': 'ServerToolEvent',
  'response.server_tool_call.completed': 'ServerToolEvent',
  'response.server_tool_call.failed': 'ServerToolEvent',
  'response.subagent.started': 'SubagentStartedEvent',
  'response.subagent.progress': 'SubagentProgressEvent',
  'response.subagent.completed': 'SubagentCompletedEvent',
  'response.output_item.done': 'ItemDoneEvent',
  'parley.step': 'StepEvent',
  'parley.flow.step': 'FlowStepEvent',
  'parley.input': 'InputEvent',
  'parley.usage': 'UsageEvent',
  'parley.cited': 'CheckpointEvent',
  'parley.subagent.kept': 'CheckpointEvent',
  'parley.research': 'CheckpointEvent',
  'response.completed': 'RunEndedEvent',
  'response.failed': 'RunEndedEvent',
  'response.incomplete': 'RunEndedEvent',
};

const itemId = 'The item that it is about.';
const outputIndex = 'The place of that item in the output, from 0.';

builder.objectRef<EventOf<'response.created' | 'response.in_progress'>>('RunStartedEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The run began.',
  interfaces: [RunEventType],
  fields: (t) => ({
    run: t.field({ type: RunSnapshotType, description: 'The run, still without output.', resolve: ({ run }) => run }),
  }),
});

builder.objectRef<EventOf<'response.output_item.added'>>('ItemAddedEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A part of the output begins.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: 'Its place in the output, from 0.' }),
    item: t.field({ type: RunItemType, description: 'The item, still empty.', resolve: ({ item }) => item }),
    statusHints: t.stringList({
      description: 'Short texts that a user interface may show meanwhile.',
      resolve: ({ statusHints }) => statusHints ?? [],
    }),
  }),
});

builder.objectRef<EventOf<'response.content_part.added'>>('TextStartedEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The text of a message begins.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
  }),
});

builder.objectRef<EventOf<'response.output_text.delta'>>('TextDeltaEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The next piece of the text of a message.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    delta: t.string({ description: 'The next piece of text.', resolve: ({ json }) => JSON.parse(json) as string }),
    text: t.string({
      nullable: true,
      description: `The text of the run so far, for viewers that show one event at a time; null once it has more than ${textSoFarMaxChars} characters. Programs put \`delta\` together.`,
      resolve: (event, _args, { signal }) => textSoFar(event, signal),
    }),
  }),
});

builder.objectRef<EventOf<'response.output_text.annotation.added'>>('CitationEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The text of a message cited a passage.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    citation: t.field({ type: CitationType, description: 'The passage.', resolve: ({ citation }): Citation => citation }),
  }),
});

builder.objectRef<EventOf<'response.output_text.done' | 'response.content_part.done'>>('TextDoneEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The text of a message is whole.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    text: t.exposeString('text', { description: 'The whole text.' }),
  }),
});

builder.objectRef<EventOf<'response.reasoning_text.delta'>>('ReasoningDeltaEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: "The next piece of the model's thinking, if the model reports it.",
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    delta: t.string({ description: 'The next piece of text.', resolve: ({ json }) => JSON.parse(json) as string }),
  }),
});

builder.objectRef<EventOf<'response.function_call_arguments.delta'>>('ArgumentsDeltaEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The next piece of the arguments of a call.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    delta: t.string({ description: 'The next piece of text.', resolve: ({ json }) => JSON.parse(json) as string }),
  }),
});

builder.objectRef<EventOf<'response.function_call_arguments.done'>>('ArgumentsDoneEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The arguments of a call are whole.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    name: t.exposeString('name', { description: 'The function that is called.' }),
    arguments: t.exposeString('arguments', { description: 'The arguments as JSON text.' }),
  }),
});

builder.objectRef<EventOf<'parley.input'>>('InputEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Messages that were put into the run while it worked (thread mode `steer`).',
  interfaces: [RunEventType],
  fields: (t) => ({
    count: t.int({ description: 'How many messages.', resolve: ({ messages }) => messages.length }),
  }),
});

builder.objectRef<EventOf<'parley.usage'>>('UsageEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What a run has cost until now, between its steps. Its last event has the whole.',
  interfaces: [RunEventType],
  fields: (t) => ({
    usage: t.field({ type: UsageType, description: 'The tokens of the run so far.', resolve: ({ usage }) => usage }),
  }),
});

builder.objectRef<EventOf<'parley.cited' | 'parley.subagent.kept' | 'parley.research'>>('CheckpointEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The service has kept what it needs to go on with the run when a process fails: nothing for readers.',
  interfaces: [RunEventType],
});

type ServerToolEvent = EventOf<`response.server_tool_call.${'in_progress' | 'completed' | 'failed'}`>;
builder.objectRef<ServerToolEvent>('ServerToolEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A tool of the service began or ended: see `type`.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
  }),
});

builder.objectRef<EventOf<'response.output_item.done'>>('ItemDoneEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A part of the output is whole, or was cut.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: 'Its place in the output, from 0.' }),
    item: t.field({ type: RunItemType, description: 'The complete item.', resolve: ({ item }) => item }),
  }),
});

builder.objectRef<EventOf<'parley.step'>>('StepEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Work between question and answer; only where the agent shows intermediate steps.',
  interfaces: [RunEventType],
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What was done: `retrieve`.' }),
    detail: t.field({
      type: 'JSON',
      description: 'The result: an object whose members depend on `name`.',
      resolve: ({ detail }) => detail,
    }),
  }),
});

builder.objectRef<EventOf<'parley.flow.step'>>('FlowStepEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A step of a flow is finished.',
  interfaces: [RunEventType],
  fields: (t) => ({
    step: t.field({
      type: FlowStepType,
      nullable: true,
      description: 'The step; null where the agent shows no intermediate steps.',
      resolve: ({ step, isHidden }) => (isHidden === true ? null : step),
    }),
  }),
});

builder.objectRef<EventOf<'response.completed' | 'response.failed' | 'response.incomplete'>>('RunEndedEvent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The run is over. Always the last event, and there is exactly one.',
  interfaces: [RunEventType],
  fields: (t) => ({
    run: t.field({ type: RunSnapshotType, description: 'The run with all its output.', resolve: ({ run }) => run }),
    toolCalls: t.field({
      type: [ToolCallType],
      description: 'Calls that it asks the caller to make.',
      resolve: ({ run }) => [...awaitedCalls(run)],
    }),
    systemMessageId: t.id({
      nullable: true,
      description: 'The message that holds those calls: hand it to `submitToolOutputs`. Null when it asks for none.',
      resolve: ({ run }) => (awaitedCalls(run).length === 0 ? null : toolMessageId(run)),
    }),
  }),
});
