import type { JsonSchema } from '../declarations.ts';
import {
  about,
  added,
  behaves,
  choice,
  choiceByType,
  constant,
  integer,
  list,
  number,
  object,
  oneOfTexts,
  orNull,
  ref,
  text,
} from './schema.ts';

/** Events of the responses format: the `data` of the frames of a stream, and the messages of a socket. */

type Members = Readonly<Record<string, JsonSchema>>;

const sequenceNumber = integer('Numbers the events of a response, from 0, without gaps; also over a pause.');
const outputIndex = integer('The place of the item in the output, from 0.');
const ofItem: Members = { item_id: text('The id of the item.'), output_index: outputIndex };
const ofPart: Members = { ...ofItem, content_index: integer('The place of the part in the item, from 0.') };
const ofSummary: Members = { ...ofItem, summary_index: integer('The place of the part in the summary, from 0.') };
const logprobs = list('How likely its tokens were, when the request asks and the provider tells.', ref('ResponseLogprob'));
const piece = text('What is added to it.');

const subagent: Members = {
  id: text('The same in all its events.'),
  name: text('What it is, for people.'),
  agent_id: orNull(text('The agent whose knowledge it has; null for a bare model.')),
  parent_id: orNull(text('The subagent that started it; null: the run itself.')),
  task: text('What it is to find out.'),
};
const depth = integer('1 below the run itself.', { minimum: 1 });
const usage = (description: string) => orNull(about('ResponseUsage', description));

/** What each event says besides its type and its number. */
const events: Readonly<Record<string, readonly [description: string, members: Members, isAdded?: boolean]>> = {
  'response.created': ['The first event.', { response: about('Response', 'As it begins: without output.') }],
  'response.in_progress': [
    'The response is at work; again when a paused one goes on.',
    { response: about('Response', 'As it is now.') },
  ],
  'response.output_item.added': [
    'An item begins.',
    {
      output_index: outputIndex,
      item: about('OutputItem', 'With status `in_progress`, still without what its events will say.'),
      'status_hints?': added(list('Short texts that a user interface may show meanwhile.', { type: 'string' }), 'status-hints'),
    },
  ],
  'response.content_part.added': [
    'A part of a message begins.',
    { ...ofPart, part: about('OutputContent', 'Still without text.') },
  ],
  'response.output_text.delta': ['A piece of text.', { ...ofPart, delta: piece, logprobs }],
  'response.output_text.annotation.added': [
    'A source of the text.',
    {
      ...ofPart,
      annotation_index: integer('The place among the annotations of the part, from 0.'),
      annotation: ref('UrlCitation'),
    },
  ],
  'response.output_text.done': ['A text is whole.', { ...ofPart, text: text('The whole text.'), logprobs }],
  'response.content_part.done': ['A part of a message is whole.', { ...ofPart, part: about('OutputContent', 'The whole part.') }],
  'response.refusal.delta': ['A piece of what the model says in place of an answer.', { ...ofPart, delta: piece }],
  'response.refusal.done': ['A refusal is whole.', { ...ofPart, refusal: text('The whole text.') }],
  'response.function_call_arguments.delta': ['A piece of the arguments of a call.', { ...ofItem, delta: piece }],
  'response.function_call_arguments.done': [
    'The arguments of a call are whole.',
    { ...ofItem, name: text('The name of the function.'), arguments: text('The arguments as JSON text.') },
  ],
  'response.reasoning_summary_part.added': [
    'A part of the thinking begins.',
    { ...ofSummary, part: about('SummaryTextPart', 'Still without text.') },
  ],
  'response.reasoning_summary_text.delta': ['A piece of the thinking.', { ...ofSummary, delta: piece }],
  'response.reasoning_summary_text.done': ['The thinking is whole.', { ...ofSummary, text: text('The whole text.') }],
  'response.reasoning_summary_part.done': [
    'A part of the thinking is whole.',
    { ...ofSummary, part: about('SummaryTextPart', 'The whole part.') },
  ],
  'response.server_tool_call.in_progress': ['A tool of the service is called.', ofItem, true],
  'response.server_tool_call_arguments.delta': [
    'A piece of the arguments of a call of a tool of the service.',
    { ...ofItem, delta: piece },
    true,
  ],
  'response.server_tool_call_arguments.done': [
    'The arguments of a call of a tool of the service are whole.',
    { ...ofItem, arguments: text('The arguments as JSON text.') },
    true,
  ],
  'response.server_tool_call.completed': ['A tool of the service gave its output, which is the next item.', ofItem, true],
  'response.server_tool_call.failed': ['A tool of the service failed; the next item says why.', ofItem, true],
  'response.subagent.started': [
    'A tool of the service started a subagent.',
    { ...ofItem, subagent: object('The subagent.', { ...subagent, status: constant('in_progress'), depth }) },
    true,
  ],
  'response.subagent.progress': [
    'A subagent went a step further.',
    {
      ...ofItem,
      subagent_id: text('The id of the subagent.'),
      message: text('What it does, for a user interface to show.'),
      progress: orNull(number('How far it is; null where it cannot be told.', { minimum: 0, maximum: 1 })),
      usage: usage('What it cost so far.'),
    },
    true,
  ],
  'response.subagent.completed': [
    'A subagent is over.',
    {
      ...ofItem,
      subagent: object('The subagent.', {
        ...subagent,
        status: oneOfTexts('How it ended.', ['completed', 'failed', 'cancelled']),
        depth,
        summary: text('What it found out, or why it did not.'),
        usage: usage('What it cost, as part of the usage of the response.'),
      }),
    },
    true,
  ],
  'response.output_item.done': ['An item is whole.', { output_index: outputIndex, item: about('OutputItem', 'As it stays.') }],
  'response.completed': ['The response is over.', { response: about('Response', 'As it stays.') }],
  'response.failed': ['The response broke off; `error` says why.', { response: about('Response', 'As it stays.') }],
  'response.incomplete': [
    'The response was cut, cancelled or paused. One that was paused may go on.',
    { response: { ...about('Response', 'As it is.'), ...behaves('cancelled-is-incomplete') } },
  ],
};

const error: Members = {
  code: text('What went wrong, for programs.'),
  message: text('What went wrong, for a person to read.'),
  param: orNull(text('The member of the request that was wrong.')),
  error: object('The same as the error object of replies.', {
    type: text('The kind of failure.'),
    code: text('What went wrong, for programs.'),
    message: text('For a person to read.'),
    param: orNull(text('The member of the request that was wrong.')),
  }),
};

const schemaNames = new Map(Object.keys(events).map((type) => [type, eventName(type)]));

/** `response.output_item.added` → `ResponseOutputItemAddedEvent`. */
function eventName(type: string): string {
  return `${type.replaceAll(/(?:^|[._])([a-z])/g, (_match, letter: string) => letter.toUpperCase())}Event`;
}

export const eventSchemas: Readonly<Record<string, JsonSchema>> = {
  ...Object.fromEntries(
    Object.entries(events).map(([type, [description, members, isAdded]]) => {
      const event = object(description, { type: constant(type), sequence_number: sequenceNumber, ...members });
      return [schemaNames.get(type) ?? type, isAdded === true ? added(event) : event];
    }),
  ),
  ResponseErrorEvent: object('The stream cannot go on. The failure of a run is told by `response.failed` instead.', {
    type: constant('error'),
    sequence_number: sequenceNumber,
    ...error,
  }),
  ResponseStreamEvent: {
    ...choiceByType(
      'The `data` of a frame, whose `event` is its `type`. Behind the last one stands `event: done` with the data `[DONE]`.',
      { ...Object.fromEntries(schemaNames), error: 'ResponseErrorEvent' },
    ),
    ...behaves('terminal-done'),
  },
  ResponseSocketRequest: {
    allOf: [ref('ResponseInput'), object('A request over WebSocket.', { type: constant('response.create') })],
  },
  ResponseSocketMessage: choice('An event, or a refusal.', ['ResponseStreamEvent', 'ResponseSocketError']),
  ResponseSocketError: object('A request over WebSocket was refused, or its response cannot go on.', {
    type: constant('error'),
    status: integer('The status that the same refusal has over HTTP.'),
    ...error,
  }),
};
