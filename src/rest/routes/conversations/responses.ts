import { servedIncludes } from '../../../entities/conversations/runs/response.ts';
import { responseError } from '../../../wire/responses/errors.ts';
import { responseEncoder } from '../../../wire/responses/events.ts';
import { compactionReply, deletedReply, inputTokensReply, itemListReply, responseReply } from '../../../wire/responses/reply.ts';
import type { DeclaredRoute } from '../../route.ts';
import { responseExamples } from './response-examples.ts';

const base = '/api/v2/responses';
const one = `${base}/{responseId}`;

/** The second document is that of a stream. */
const creating = [
  'subscription ($input: ResponseInput!) { newResponseEvents(input: $input) { sequence } }',
  'subscription ($input: ResponseInput!) { newResponseEvents(input: $input) { sequence } }',
] as const;
/** The encoder numbers events over the whole log. */
const resuming = [
  `subscription ($responseId: ID!, $input: ResumeResponseInput) {
    resumedResponseEvents(id: $responseId, input: $input, after: -1) { sequence }
  }`,
  `subscription ($responseId: ID!, $input: ResumeResponseInput) {
    resumedResponseEvents(id: $responseId, input: $input, after: -1) { sequence }
  }`,
] as const;

const rows: readonly DeclaredRoute[] = [
  {
    operationId: 'createResponse',
    method: 'post',
    path: base,
    summary: 'Create a response',
    description:
      'Runs a model or an agent in the common responses format: as one JSON body, as an event stream (`stream`), or in the background. Stored responses are turns of a thread, which is a chat. ' +
      'The same path as a WebSocket takes `{"type": "response.create", …}` with the members of a request and answers each event as one message, without an end mark; requests of a connection are answered one after the other.',
    replyHeaders: { 'x-thread-attached': 'The request became part of another response: `collect` or `steer`.' },
    socket: { request: 'ResponseSocketRequest', event: 'ResponseSocketMessage' },
    shown: responseExamples.create,
    tag: 'Responses',
    spec: 'Responses-style API (v2)',
    document: creating[0],
    body: 'input',
    bodyCase: 'snake',
    camelMembers: ['includeXSearch'],
    reply: responseReply,
    stream: { when: 'stream', document: creating[1], encoder: responseEncoder, event: 'ResponseStreamEvent' },
    example: {
      model: 'parley/offline',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'What is the weather in Paris?' }] },
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' },
        { type: 'function_call_output', call_id: 'call_1', status: 'success', output: '{"celsius":12}' },
      ],
      instructions: 'Answer briefly.',
      tools: [
        {
          type: 'function',
          name: 'get_weather',
          description: 'Tells the weather of a city',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          strict: false,
        },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      text: { format: { type: 'text' } },
      reasoning: { effort: 'low', summary: 'auto' },
      include: [],
      truncation: 'disabled',
      max_output_tokens: 200,
      max_tool_calls: 5,
      temperature: 0.5,
      metadata: { topic: 'weather' },
      store: true,
      background: false,
      stream: false,
      stream_options: { include_extensions: true },
      chat_mode: 'execute',
      thread_mode: 'collect',
      user_secrets: {},
      options: {},
    },
  },
  {
    operationId: 'compactResponse',
    method: 'post',
    path: `${base}/compact`,
    summary: 'Compact a conversation',
    description:
      'Answers with items that a new chain can begin with: what the user said, and one item that stands for the rest. Nothing is stored.',
    asksModel: true,
    shown: responseExamples.compact,
    tag: 'Responses',
    document: 'mutation ($input: ResponseInput!) { compactResponse(input: $input) { runId } }',
    reply: compactionReply,
    body: 'input',
    bodyCase: 'snake',
    camelMembers: ['includeXSearch'],
    example: { model: 'parley/offline', input: [{ role: 'user', content: 'My name is Ada and I like tea.' }] },
  },
  {
    operationId: 'countResponseInputTokens',
    method: 'post',
    path: `${base}/input_tokens`,
    summary: 'Count the input tokens of a request',
    description:
      'Takes the body of a request for a response and answers how many tokens its model would get first: with the thread, the files, the tools and the passages of an agent. The service estimates them; no model is asked, and nothing is stored.',
    shown: responseExamples.inputTokens,
    tag: 'Responses',
    document: 'query ($input: ResponseInput!) { responseInputTokens(input: $input) }',
    reply: inputTokensReply,
    body: 'input',
    bodyCase: 'snake',
    camelMembers: ['includeXSearch'],
    example: { model: 'parley/offline', input: [{ role: 'user', content: 'What is the weather in Paris?' }] },
  },
  {
    operationId: 'getResponse',
    method: 'get',
    path: one,
    summary: 'Retrieve a response',
    description:
      'As it is now; with `stream=true` its whole log as an event stream, then what happens. A reader that comes back gives the last number it knows.',
    shown: responseExamples.get,
    tag: 'Responses',
    document: 'query ($responseId: ID!) { response(id: $responseId) { id } }',
    terms: { isResponse: true, stream: 'Boolean', starting_after: 'Int', include_obfuscation: 'Boolean', include: 'String[]' },
    reply: responseReply,
    query: {
      stream: 'Whether to answer as an event stream.',
      starting_after: 'With `stream`: only events with a greater `sequence_number`.',
      include_obfuscation: 'Ignored: nothing is obfuscated.',
      include: `Optional members, beside those that the request for the response named: ${servedIncludes.join(', ')}.`,
    },
    stream: {
      when: 'query',
      document: 'subscription ($responseId: ID!) { runEvents(runId: $responseId) { sequence } }',
      encoder: responseEncoder,
      event: 'ResponseStreamEvent',
    },
  },
  {
    operationId: 'deleteResponse',
    method: 'delete',
    path: one,
    summary: 'Delete a response',
    description: 'With what it left in its thread. One at work is stopped first.',
    shown: responseExamples.delete,
    tag: 'Responses',
    document: 'mutation ($responseId: ID!) { deleteResponse(id: $responseId) }',
    reply: deletedReply,
  },
  {
    operationId: 'cancelResponse',
    method: 'post',
    path: `${one}/cancel`,
    summary: 'Cancel a response',
    description: 'Answers when it is over. One that is over comes back unchanged; a paused one becomes cancelled.',
    shown: responseExamples.cancel,
    tag: 'Responses',
    document: 'mutation ($responseId: ID!) { cancelResponse(id: $responseId) { id } }',
    reply: responseReply,
  },
  {
    operationId: 'pauseResponse',
    method: 'post',
    path: `${one}/pause`,
    summary: 'Pause a response',
    description: 'At its next boundary; answers when it is paused. 409 `response_not_active` when it is over.',
    shown: responseExamples.pause,
    extension: 'pause-and-resume',
    tag: 'Responses',
    document: 'mutation ($responseId: ID!) { pauseResponse(id: $responseId) { id } }',
    reply: responseReply,
  },
  {
    operationId: 'resumeResponse',
    method: 'post',
    path: `${one}/resume`,
    summary: 'Resume a paused response',
    description:
      'Under the same id; the numbers of its events go on. A stream carries only the new events. 409 `response_not_paused` when it is not paused.',
    shown: responseExamples.resume,
    extension: 'pause-and-resume',
    tag: 'Responses',
    document: resuming[0],
    body: 'input',
    bodyCase: 'snake',
    reply: responseReply,
    stream: { when: 'stream', document: resuming[1], encoder: responseEncoder, event: 'ResponseStreamEvent' },
    example: { stream: false, background: false, user_secrets: {}, input: 'Go on, but shorter.' },
  },
  {
    operationId: 'listResponseInputItems',
    method: 'get',
    path: `${one}/input_items`,
    summary: 'List the input items of a response',
    description: 'What the request of a response gave the model, newest first unless `order` says otherwise.',
    shown: responseExamples.inputItems,
    tag: 'Responses',
    document: `query ($responseId: ID!, $after: String, $limit: Int, $order: ItemOrder) {
      responseInputItems(id: $responseId, after: $after, first: $limit, order: $order) { nodes { id } }
    }`,
    reply: itemListReply,
    query: {
      after: 'The id of the item before the page.',
      limit: 'From 1 to 100; default 20.',
      order: 'asc or desc (default).',
    },
  },
];

export const responseRoutes: readonly DeclaredRoute[] = rows.map((row) => ({
  ...row,
  forClients: true,
  errorForm: responseError,
}));
