import type { RouteExample } from '../../route.ts';

/** The examples of the responses operations in OpenAPI; test/contract/openapi/examples.test.ts compares them with a running service. */

const id = 'resp_01ke2s7d4vfzgv0b4xw2q9a1bc';
const message = {
  id: 'msg_01ke2s7d4wfzgv0b4xw2q9a1bd',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'It is 3.', annotations: [], logprobs: [] }],
};
const response = {
  id,
  object: 'response',
  created_at: 1795235197,
  completed_at: 1795235199,
  status: 'completed',
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: 'parley/offline',
  output: [message],
  parallel_tool_calls: true,
  previous_response_id: null,
  conversation: { id: 'chat_01ke2s7d4vfzgv0b4xw2q9a1be' },
  reasoning: { effort: null, summary: null },
  store: true,
  background: false,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  truncation: 'disabled',
  service_tier: 'default',
  metadata: {},
  user: null,
  safety_identifier: null,
  prompt_cache_key: null,
  usage: makeUsage(10, 1),
  selection_metadata: {
    provider: 'parley',
    model: 'offline',
    fallback_chain: [],
    latency_hints: { queue_ms: 0, first_token_ms: 120 },
  },
};
/** A background response whose model has not finished. */
const cut = {
  ...response,
  completed_at: null,
  background: true,
  usage: { ...makeUsage(4, 2), estimated: true },
  output: [{ ...message, status: 'incomplete', content: [{ ...message.content[0], text: 'It is' }] }],
};
function makeUsage(read: number, writtenTokens: number) {
  return {
    input_tokens: read,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: writtenTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: read + writtenTokens,
  };
}
const question = { model: 'parley/offline', input: 'What is 1 + 2?' };
const messageExample = {
  id: 'msg_01ke2s7d4wfzgv0b4xw2q9a1bf',
  type: 'message',
  status: 'completed',
  role: 'user',
  content: [{ type: 'input_text', text: 'What is 1 + 2?' }],
};
const delta = {
  type: 'response.output_text.delta',
  sequence_number: 4,
  item_id: message.id,
  output_index: 0,
  content_index: 0,
  delta: 'It is 3.',
  logprobs: [],
};

export const responseExamples = {
  create: { body: question, reply: response, event: delta },
  compact: {
    body: question,
    reply: {
      id: 'cmp_01ke2s7d4vfzgv0b4xw2q9a1bg',
      object: 'response.compaction',
      created_at: 1795235197,
      output: [
        messageExample,
        {
          id: 'cmp_01ke2s7d4vfzgv0b4xw2q9a1bg',
          type: 'compaction',
          status: 'completed',
          encrypted_content: 'Notes of the conversation so far:\nIt is 3.',
        },
      ],
      usage: response.usage,
    },
  },
  inputTokens: { body: question, reply: { object: 'response.input_tokens', input_tokens: 14 } },
  get: { reply: response, event: delta },
  delete: { reply: { id, object: 'response', deleted: true } },
  pause: { reply: { ...cut, status: 'incomplete', incomplete_details: { reason: 'paused' } } },
  cancel: { reply: { ...cut, status: 'cancelled' } },
  resume: {
    body: { input: 'Go on.' },
    reply: { ...response, background: true, output: [...cut.output, message], usage: { ...makeUsage(14, 3), estimated: true } },
    event: delta,
  },
  inputItems: {
    reply: { object: 'list', data: [messageExample], first_id: messageExample.id, last_id: messageExample.id, has_more: false },
  },
} as const satisfies Record<string, RouteExample>;
