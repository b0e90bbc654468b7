import { messagesError } from '../../../wire/messages/errors.ts';
import { messagesEncoder } from '../../../wire/messages/events.ts';
import { countReply, messagesReply } from '../../../wire/messages/reply.ts';
import { countForm, messagesForm } from '../../../wire/messages/request.ts';
import type { HeaderClient } from '../../header-client.ts';
import type { DeclaredRoute } from '../../route.ts';

/** The Messages format over completions: the same input, planner and limits, in other words. */

export const messagesClient: HeaderClient = {
  versionHeader: 'anthropic-version',
  // The newer one differs in what it refuses: sampling options, which models of others take, are served in both.
  versions: ['2023-06-01', '2026-10-21'],
  keyHeader: 'x-api-key',
  requestIdHeader: 'request-id',
  errorForm: messagesError,
};

const path = '/api/v1/messages';
const tools = [
  {
    name: 'get_weather',
    description: 'Tells the weather of a city',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];
const messages = [
  { role: 'user', content: 'What is the weather in Paris?' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '12 °C' }] },
];

const rows: readonly DeclaredRoute[] = [
  {
    operationId: 'createMessage',
    method: 'post',
    path,
    summary: 'Create a message',
    description:
      'Answers a conversation in the Messages format, as one JSON body or as an event stream (`stream`). `model` names a model or an agent. Keys come in `x-api-key` or as Bearer; errors have the form of the format.',
    tag: 'Messages',
    document: 'subscription ($input: CompletionInput!) { completionEvents(input: $input) { sequence } }',
    body: 'input',
    form: messagesForm,
    reply: messagesReply,
    stream: {
      when: 'stream',
      document: 'subscription ($input: CompletionInput!) { completionEvents(input: $input) { sequence } }',
      encoder: messagesEncoder,
      event: 'MessagesEvent',
    },
    example: {
      model: 'parley/offline',
      max_tokens: 1_024,
      system: [{ type: 'text', text: 'You are helpful.', cache_control: { type: 'ephemeral' } }],
      messages,
      tools,
      tool_choice: { type: 'auto', disable_parallel_tool_use: false },
      stop_sequences: ['END'],
      temperature: 0.5,
      metadata: { user_id: 'user-1' },
      stream: false,
    },
  },
  {
    operationId: 'countMessageTokens',
    method: 'post',
    path: `${path}/count_tokens`,
    summary: 'Count the tokens of a message',
    description:
      'Takes the members that make the prompt. The service estimates its tokens; no model is asked, and nothing is stored.',
    tag: 'Messages',
    document: 'query ($input: CompletionInput!) { completionInputTokens(input: $input) }',
    body: 'input',
    form: countForm,
    reply: countReply,
    example: { model: 'parley/offline', system: 'You are helpful.', messages, tools },
  },
];

export const messagesRoutes: readonly DeclaredRoute[] = rows.map((row) => ({
  ...row,
  client: messagesClient,
  errorForm: messagesError,
}));
