import { z } from 'zod';
import { flowStep } from '../ground/run-parts.ts';
import {
  behaves,
  choice,
  choiceByType,
  component,
  constant,
  integer,
  isExtension,
  list,
  named,
  number,
  object,
  oneOfTexts,
  reference,
  text,
} from '../ground/schema.ts';
import { outputItem } from './output-items.ts';
import { annotation, logprob, outputContent, summaryTextPart } from './parts.ts';
import { response, usage } from './reply.ts';

/** The schemas of the events of the responses format, as frames of a stream and as messages of a socket. */

const sequenceNumber = integer('Numbers the events of a response, from 0, without gaps; also over a pause.');
const outputIndex = integer('The place of the item in the output, from 0.');
const ofItem = { item_id: text('The id of the item.'), output_index: outputIndex };
const ofPart = { ...ofItem, content_index: integer('The place of the part in the item, from 0.') };
const ofSummary = { ...ofItem, summary_index: integer('The place of the part in the summary, from 0.') };
const logprobs = list('How likely its tokens were, when the request asks and the provider tells.', logprob);
const piece = text('What is added to it.');

const subagent = {
  id: text('The same in all its events.'),
  name: text('What it is, for people.'),
  agent_id: text('The agent whose knowledge it has; null for a bare model.').nullable(),
  parent_id: text('The subagent that started it; null: the run itself.').nullable(),
  task: text('The question that it works on.'),
};
const depth = integer('1 below the run itself.', 1);
const soFar = (description: string) => usage.meta({ description }).nullable();

const error = {
  code: text('What went wrong, for programs.'),
  message: text('What went wrong, for a person to read.'),
  param: text('The member of the request that was wrong.').nullable(),
  error: object('The same as the error object of replies.', {
    type: text('The kind of failure.'),
    code: text('What went wrong, for programs.'),
    message: text('For a person to read.'),
    param: text('The member of the request that was wrong.').nullable(),
  }),
};

/** What each event says besides its type and its number. */
const events: Readonly<Record<string, readonly [description: string, members: z.ZodRawShape, isAdded?: true]>> = {
  'response.created': ['The first event.', { response: response.meta({ description: 'As it begins: without output.' }) }],
  'response.in_progress': [
    'The response is at work; again when a paused one goes on.',
    { response: response.meta({ description: 'As it is now.' }) },
  ],
  'response.output_item.added': [
    'An item begins.',
    {
      output_index: outputIndex,
      item: outputItem.meta({ description: 'With status `in_progress`, still without what its events will say.' }),
      status_hints: list('Short texts that a user interface may show meanwhile.', z.string())
        .meta({ ...isExtension, ...behaves('status-hints') })
        .optional(),
    },
  ],
  'response.content_part.added': [
    'A part of a message begins.',
    { ...ofPart, part: outputContent.meta({ description: 'Still without text.' }) },
  ],
  'response.output_text.delta': ['A piece of text.', { ...ofPart, delta: piece, logprobs }],
  'response.output_text.annotation.added': [
    'A source of the text.',
    {
      ...ofPart,
      annotation_index: integer('The place among the annotations of the part, from 0.'),
      annotation,
    },
  ],
  'response.output_text.done': ['A text is whole.', { ...ofPart, text: text('The whole text.'), logprobs }],
  'response.content_part.done': [
    'A part of a message is whole.',
    { ...ofPart, part: outputContent.meta({ description: 'The whole part.' }) },
  ],
  'response.refusal.delta': ['A piece of what the model says in place of an answer.', { ...ofPart, delta: piece }],
  'response.refusal.done': ['A refusal is whole.', { ...ofPart, refusal: text('The whole text.') }],
  'response.function_call_arguments.delta': ['A piece of the arguments of a call.', { ...ofItem, delta: piece }],
  'response.function_call_arguments.done': [
    'The arguments of a call are whole.',
    { ...ofItem, name: text('The name of the function.'), arguments: text('The arguments as JSON text.') },
  ],
  'response.reasoning_summary_part.added': [
    'A part of the thinking begins.',
    { ...ofSummary, part: summaryTextPart.meta({ description: 'Still without text.' }) },
  ],
  'response.reasoning_summary_text.delta': ['A piece of the thinking.', { ...ofSummary, delta: piece }],
  'response.reasoning_summary_text.done': ['The thinking is whole.', { ...ofSummary, text: text('The whole text.') }],
  'response.reasoning_summary_part.done': [
    'A part of the thinking is whole.',
    { ...ofSummary, part: summaryTextPart.meta({ description: 'The whole part.' }) },
  ],
  'response.web_search_call.in_progress': ['A search of the web, or the reading of a page, begins.', ofItem],
  'response.web_search_call.searching': ['The web is searched, or the page is read.', ofItem],
  'response.web_search_call.completed': ['It is over; the status of the item says how it went.', ofItem],
  'response.file_search_call.in_progress': ['A search of documents begins.', ofItem],
  'response.file_search_call.searching': ['The documents are searched.', ofItem],
  'response.file_search_call.completed': ['It is over; the status of the item says how it went.', ofItem],
  'response.mcp_list_tools.in_progress': ['The tools of an MCP server are asked for.', ofItem],
  'response.mcp_list_tools.completed': ['They are known.', ofItem],
  'response.mcp_list_tools.failed': ['The server did not say them; the item says why.', ofItem],
  'response.mcp_call.in_progress': ['A tool of an MCP server is called.', ofItem],
  'response.mcp_call_arguments.delta': ['A piece of the arguments of that call.', { ...ofItem, delta: piece }],
  'response.mcp_call_arguments.done': [
    'The arguments of that call are whole.',
    { ...ofItem, arguments: text('The arguments as JSON text.') },
  ],
  'response.mcp_call.completed': ['The tool gave its output, which is in the item.', ofItem],
  'response.mcp_call.failed': ['The call failed; the item says why.', ofItem],
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
  'response.flow.step': ['A step of the flow that answers is finished.', { step: flowStep }, true],
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
      message: text('A description of the work, for a user interface to show.'),
      progress: number('The progress; null where it is unknown.').min(0).max(1).nullable(),
      usage: soFar('The tokens used so far.'),
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
        usage: soFar('The tokens used, a part of the usage of the response.'),
      }),
    },
    true,
  ],
  'response.output_item.done': [
    'An item is whole.',
    { output_index: outputIndex, item: outputItem.meta({ description: 'As it stays.' }) },
  ],
  'response.completed': ['The response is over.', { response: response.meta({ description: 'As it stays.' }) }],
  'response.failed': ['The response broke off; `error` says why.', { response: response.meta({ description: 'As it stays.' }) }],
  'response.incomplete': [
    'The response was cut, cancelled or paused. One that was paused may go on.',
    { response: response.meta({ description: 'As it is.', ...behaves('cancelled-is-incomplete') }) },
  ],
  error: ['The stream cannot go on. The failure of a run is told by `response.failed` instead.', error],
};

const eventSchemas = Object.entries(events).map(([type, [description, members, isAdded]]) =>
  component(
    eventName(type),
    description,
    { type: constant(type), sequence_number: sequenceNumber, ...members },
    isAdded === true ? isExtension : {},
  ),
);

/** `response.output_item.added` → `ResponseOutputItemAddedEvent`. */
function eventName(type: string): string {
  if (type === 'error') return 'ResponseErrorEvent';
  return `${type.replaceAll(/(?:^|[._])([a-z])/g, (_match, letter: string) => letter.toUpperCase())}Event`;
}

const streamEvent = named(
  'ResponseStreamEvent',
  choiceByType(
    'The `data` of a frame, whose `event` is its `type`. Behind the last one stands `event: done` with the data `[DONE]`.',
    eventSchemas,
  ).meta(behaves('terminal-done')),
);

named(
  'ResponseSocketRequest',
  z.intersection(reference('ResponseInput'), object('A request over WebSocket.', { type: constant('response.create') })),
);
const socketError = component('ResponseSocketError', 'A request over WebSocket was refused, or its response cannot go on.', {
  type: constant('error'),
  status: integer('The status that the same refusal has over HTTP.'),
  ...error,
});
named('ResponseSocketMessage', choice('An event, or a refusal.', [streamEvent, socketError]));
