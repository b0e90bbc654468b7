import type { Citation } from '../entities/citation.ts';
import {
  type RunError,
  type RunEvent,
  type RunItem,
  type RunSnapshot,
  runStatuses,
  type SelectionMetadata,
  type Usage,
} from '../entities/run-event.ts';
import { builder } from './builder.ts';
import { CitationType } from './chat-messages.ts';
import { wireEnumOf } from './enums.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

export const RunStatusType = wireEnumOf('RunStatus', 'How far a run is.', runStatuses, {
  in_progress: 'It is being worked on.',
  completed: 'It came to its end; calls that it asks for wait for their outputs.',
  failed: 'It broke off.',
  incomplete: 'It was cut: see `incompleteReason`.',
  cancelled: 'Somebody stopped it.',
});

export const UsageType = builder.objectRef<Usage>('Usage').implement({
  description: 'Tokens of a run, as its models counted them.',
  fields: (t) => ({
    inputTokens: t.exposeInt('inputTokens', { description: 'Tokens read.' }),
    outputTokens: t.exposeInt('outputTokens', { description: 'Tokens written.' }),
    totalTokens: t.int({ description: 'Both together.', resolve: (usage) => usage.inputTokens + usage.outputTokens }),
    cachedTokens: t.exposeInt('cachedTokens', { description: 'Those of the tokens read that the model had read before.' }),
    reasoningTokens: t.exposeInt('reasoningTokens', { description: 'Those of the tokens written that were spent on thinking.' }),
  }),
});

export const RunErrorType = builder.objectRef<RunError>('RunError').implement({
  description: 'Why a run failed.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'As in `extensions.code` of errors.' }),
    message: t.exposeString('message', { description: 'For a person to read.' }),
  }),
});

interface Fallback {
  readonly provider: string;
  readonly model: string;
  readonly reason: string;
}
const FallbackType = builder.objectRef<Fallback>('ModelFallback').implement({
  description: 'A model that was tried before the one that answered.',
  fields: (t) => ({
    provider: t.exposeString('provider', { description: 'Its provider.' }),
    model: t.exposeString('model', { description: 'Its name.' }),
    reason: t.exposeString('reason', { description: 'Why it did not answer.' }),
  }),
});

export const SelectionType = builder.objectRef<SelectionMetadata>('SelectionMetadata').implement({
  description: 'Which model answered, and how it was chosen.',
  fields: (t) => ({
    provider: t.exposeString('provider', { description: 'Its provider.' }),
    model: t.exposeString('model', { description: 'Its name.' }),
    fallbackChain: t.field({
      type: [FallbackType],
      description: 'What was tried before, in order.',
      resolve: (it) => it.fallbackChain,
    }),
    queueMs: t.float({ description: 'Milliseconds until the request left.', resolve: (it) => it.latencyHints.queueMs }),
    firstTokenMs: t.float({
      nullable: true,
      description: 'Milliseconds until the first token; null when there was none.',
      resolve: (it) => it.latencyHints.firstTokenMs,
    }),
  }),
});

export const RunItemType = builder.objectRef<RunItem>('RunItem').implement({
  description: 'A part of the output of a run: a message, a call, thoughts, the output of a tool.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The same from its first event to its last.' }),
    type: t.exposeString('type', {
      description: '`message`, `function_call`, `reasoning`, `server_tool_call` or `server_tool_call_output`.',
    }),
    status: t.exposeString('status', { description: '`in_progress`, `completed`, `incomplete` or `failed`.' }),
    text: t.string({
      nullable: true,
      description: 'The text of a message, of thoughts, or of the output of a tool.',
      resolve: (item) => {
        if (item.type === 'message' || item.type === 'reasoning') return item.text;
        return item.type === 'server_tool_call_output' ? item.output : null;
      },
    }),
    citations: t.field({
      type: [CitationType],
      description: 'The passages a message rests on.',
      resolve: (item) => (item.type === 'message' ? item.citations : []),
    }),
    callId: t.string({
      nullable: true,
      description: 'What the output of a call refers to.',
      resolve: (item) => ('callId' in item ? item.callId : null),
    }),
    name: t.string({
      nullable: true,
      description: 'The tool that is called.',
      resolve: (item) => ('name' in item ? item.name : null),
    }),
    arguments: t.string({
      nullable: true,
      description: 'The arguments of a call as JSON text; empty until they are whole.',
      resolve: (item) => ('arguments' in item ? item.arguments : null),
    }),
  }),
});

const RunSnapshotType = builder.objectRef<RunSnapshot>('RunSnapshot').implement({
  description: 'A run as it is at one of its events.',
  fields: (t) => ({
    runId: t.exposeID('runId', { description: 'The id of the run.' }),
    status: t.expose('status', { type: RunStatusType, description: 'How far it is.' }),
    incompleteReason: t.exposeString('incompleteReason', {
      nullable: true,
      description: 'Why it was cut: `max_output_tokens`, `content_filter` or `paused`.',
    }),
    error: t.field({ type: RunErrorType, nullable: true, description: 'Why it failed.', resolve: (run) => run.error }),
    usage: t.field({
      type: UsageType,
      nullable: true,
      description: 'What it cost; null until its end.',
      resolve: (run) => run.usage,
    }),
    selection: t.field({
      type: SelectionType,
      nullable: true,
      description: 'Which model answered; null until its end.',
      resolve: (run) => run.selection,
    }),
    output: t.field({ type: [RunItemType], description: 'All it said and asked for.', resolve: (run) => run.output }),
  }),
});

/** What happened in a run: every event of its log, in the one vocabulary of all runs. */
export const RunEventType = builder.interfaceRef<RunEvent>('RunEvent').implement({
  description: 'Something that happened in a run.',
  fields: (t) => ({
    sequence: t.exposeInt('sequence', { description: 'Grows by one with every event of a run, from 0, without gaps.' }),
    type: t.exposeString('type', { description: 'What happened, in the words of the responses format.' }),
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
  'response.output_item.done': 'ItemDoneEvent',
  'parley.step': 'StepEvent',
  'parley.input': 'InputEvent',
  'response.completed': 'RunEndedEvent',
  'response.failed': 'RunEndedEvent',
  'response.incomplete': 'RunEndedEvent',
};

const itemId = 'The item that it is about.';
const outputIndex = 'The place of that item in the output, from 0.';

builder.objectRef<EventOf<'response.created' | 'response.in_progress'>>('RunStartedEvent').implement({
  description: 'The run began.',
  interfaces: [RunEventType],
  fields: (t) => ({
    run: t.field({ type: RunSnapshotType, description: 'The run, still without output.', resolve: ({ run }) => run }),
  }),
});

builder.objectRef<EventOf<'response.output_item.added'>>('ItemAddedEvent').implement({
  description: 'A part of the output begins.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: 'Its place in the output, from 0.' }),
    item: t.field({ type: RunItemType, description: 'The part, still empty.', resolve: ({ item }) => item }),
    statusHints: t.stringList({
      description: 'Short texts for a user interface to show meanwhile.',
      resolve: ({ statusHints }) => statusHints ?? [],
    }),
  }),
});

builder.objectRef<EventOf<'response.content_part.added'>>('TextStartedEvent').implement({
  description: 'The text of a message begins.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
  }),
});

builder.objectRef<EventOf<'response.output_text.delta'>>('TextDeltaEvent').implement({
  description: 'The next piece of the text of a message.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    delta: t.string({ description: 'The piece.', resolve: ({ json }) => JSON.parse(json) as string }),
  }),
});

builder.objectRef<EventOf<'response.output_text.annotation.added'>>('CitationEvent').implement({
  description: 'The text of a message cited a passage.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    citation: t.field({ type: CitationType, description: 'The passage.', resolve: ({ citation }): Citation => citation }),
  }),
});

builder.objectRef<EventOf<'response.output_text.done' | 'response.content_part.done'>>('TextDoneEvent').implement({
  description: 'The text of a message is whole.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    text: t.exposeString('text', { description: 'The whole text.' }),
  }),
});

builder.objectRef<EventOf<'response.reasoning_text.delta'>>('ReasoningDeltaEvent').implement({
  description: 'The next piece of what the model thinks, where it tells.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    delta: t.string({ description: 'The piece.', resolve: ({ json }) => JSON.parse(json) as string }),
  }),
});

builder.objectRef<EventOf<'response.function_call_arguments.delta'>>('ArgumentsDeltaEvent').implement({
  description: 'The next piece of the arguments of a call.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    delta: t.string({ description: 'The piece.', resolve: ({ json }) => JSON.parse(json) as string }),
  }),
});

builder.objectRef<EventOf<'response.function_call_arguments.done'>>('ArgumentsDoneEvent').implement({
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
  description: 'Messages that were put into the run while it worked (thread mode `steer`).',
  interfaces: [RunEventType],
  fields: (t) => ({
    count: t.int({ description: 'How many messages.', resolve: ({ messages }) => messages.length }),
  }),
});

type ServerToolEvent = EventOf<`response.server_tool_call.${'in_progress' | 'completed' | 'failed'}`>;
builder.objectRef<ServerToolEvent>('ServerToolEvent').implement({
  description: 'A tool of the service began or ended: see `type`.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
  }),
});

builder.objectRef<EventOf<'response.output_item.done'>>('ItemDoneEvent').implement({
  description: 'A part of the output is whole, or was cut.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: 'Its place in the output, from 0.' }),
    item: t.field({ type: RunItemType, description: 'The part.', resolve: ({ item }) => item }),
  }),
});

builder.objectRef<EventOf<'parley.step'>>('StepEvent').implement({
  description: 'Work between question and answer; only where the agent shows intermediate steps.',
  interfaces: [RunEventType],
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What was done: `retrieve`.' }),
    detail: t.field({
      type: 'JSON',
      description: 'What came of it: an object whose members depend on `name`.',
      resolve: ({ detail }) => detail,
    }),
  }),
});

builder.objectRef<EventOf<'response.completed' | 'response.failed' | 'response.incomplete'>>('RunEndedEvent').implement({
  description: 'The run is over. Always the last event, and there is exactly one.',
  interfaces: [RunEventType],
  fields: (t) => ({
    run: t.field({ type: RunSnapshotType, description: 'The run with all its output.', resolve: ({ run }) => run }),
  }),
});
