import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { sampled } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';

// A number outside of its bounds is refused with the bounds from both sides, however far it lies outside: never with those of 32 bits.

const { make } = await withService('model');
let ann: Person;
let agentId = '';
let chatId = '';

beforeAll(async () => {
  ann = await make.person();
  agentId = (await make.agent({ owner: ann })).id;
  chatId = (await make.chat({ owner: ann, agentId })).id;
  await make.apiDataSource({ owner: ann, agentId, data: { a: 1 } });
});

const model = 'openai/test-model';
const completion = { model, messages: [{ role: 'user', content: 'Hi' }] };
const response = { model, input: 'Hi' };
const web = { url: 'https://example.com', dataRefreshPeriod: 'NEVER', includeFiles: false, includedFileTypes: [] };
const asked = { variableName: 'a', type: 'SHORT_TEXT', label: 'A' };
type Send = (
  value: number,
) => Promise<{ readonly status: number; readonly body: { error?: { message: string; param: string } } }>;

const query =
  (path: () => string, name: string): Send =>
  (value) =>
    ann.get(`${path()}${path().includes('?') ? '&' : '?'}${name}=${value}`);
const body =
  (method: string, path: () => string, make_: (value: number) => object): Send =>
  (value) =>
    ann.call(method, path(), make_(value));

const members: readonly (readonly [string, Send])[] = [
  ...['ais', 'chats', 'connections', 'api-keys', 'memories', 'data-sources'].map(
    (path) => [`limit of ${path}`, query(() => `/api/v1/${path}`, 'limit')] as const,
  ),
  ['limit of files', query(() => '/api/v1/files', 'limit')],
  ['limit of vector stores', query(() => '/api/v1/vector_stores', 'limit')],
  [
    'max_tokens',
    body(
      'POST',
      () => '/api/v1/chat/completions',
      (value) => ({ ...completion, max_tokens: value }),
    ),
  ],
  [
    'max_completion_tokens',
    body(
      'POST',
      () => '/api/v1/chat/completions',
      (value) => ({ ...completion, max_completion_tokens: value }),
    ),
  ],
  [
    'top_k',
    body(
      'POST',
      () => '/api/v1/chat/completions',
      (value) => ({ ...completion, top_k: value }),
    ),
  ],
  [
    'n',
    body(
      'POST',
      () => '/api/v1/chat/completions',
      (value) => ({ ...completion, n: value }),
    ),
  ],
  [
    'temperature',
    body(
      'POST',
      () => '/api/v1/chat/completions',
      (value) => ({ ...completion, temperature: value }),
    ),
  ],
  [
    'max_output_tokens',
    body(
      'POST',
      () => '/api/v2/responses',
      (value) => ({ ...response, max_output_tokens: value }),
    ),
  ],
  [
    'max_tool_calls',
    body(
      'POST',
      () => '/api/v2/responses',
      (value) => ({ ...response, max_tool_calls: value }),
    ),
  ],
  [
    'top_logprobs',
    body(
      'POST',
      () => '/api/v2/responses',
      (value) => ({ ...response, top_logprobs: value }),
    ),
  ],
  [
    'maxTokens of an agent',
    body(
      'PATCH',
      () => `/api/v1/ais/${agentId}`,
      (value) => ({ options: { maxTokens: [value] } }),
    ),
  ],
  [
    'max_num_results',
    body(
      'POST',
      () => '/api/v2/responses',
      (value) => ({ ...response, tools: [{ type: 'file_search', max_num_results: value }] }),
    ),
  ],
  [
    'subagents',
    body(
      'POST',
      () => '/api/v2/responses',
      (value) => ({ ...response, tools: [{ type: 'deep_research', budget: { subagents: value } }] }),
    ),
  ],
  [
    'pinPosition',
    body(
      'PATCH',
      () => `/api/v1/chats/${chatId}`,
      (value) => ({ pinPosition: value }),
    ),
  ],
  [
    'rating',
    body(
      'PUT',
      () => `/api/v1/ais/${agentId}/rating`,
      (value) => ({ rating: value }),
    ),
  ],
  [
    'orderIndex',
    body(
      'POST',
      () => `/api/v1/ais/${agentId}/user-inputs`,
      (value) => ({ ...asked, orderIndex: value }),
    ),
  ],
  [
    'version',
    body(
      'POST',
      () => `/api/v1/ais/${agentId}/flows`,
      (value) => ({ name: 'F', versions: [{ version: value, data: { steps: [] } }] }),
    ),
  ],
  [
    'limit of a search',
    body(
      'POST',
      () => '/api/v1/search',
      (value) => ({ query: 'a', agentId, limit: value }),
    ),
  ],
  ...['maxPages', 'maxMemory', 'timeout'].map(
    (name) =>
      [
        name,
        body(
          'POST',
          () => `/api/v1/ais/${agentId}/data-sources/web-url`,
          (value) => ({ ...web, [name]: value }),
        ),
      ] as const,
  ),
];

describe.each(sampled(members))('%s', (_name, send) => {
  it.each([-3_000_000_000, -2, 3_000_000_000, 1e15])('%d is refused with both bounds', async (value) => {
    const { status, body: reply } = await send(value);
    expect(status, JSON.stringify(reply)).toBe(400);
    expect(reply.error?.message).toMatch(/from -?\d+ to \d+/);
    expect(reply.error?.message).not.toMatch(/2147483647|2147483648/);
  });
});
