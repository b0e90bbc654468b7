import { describe, expect, it } from 'vitest';
import { samplingOptionList } from '../../../src/entities/agents/options.ts';
import { DomainError } from '../../../src/entities/ground/errors.ts';
import { toSnakeCase } from '../../../src/lib/text/text.ts';
import { chatEventEncoder } from '../../../src/wire/chats.ts';
import { completionEncoder } from '../../../src/wire/completions/chunks.ts';
import { unservedInCompletions } from '../../../src/wire/ground/unserved-members.ts';
import { expectComponent, openapi } from '../../support/apis/described.ts';
import {
  addCall,
  agentOf,
  endless,
  knowing,
  python,
  scenarios,
  testModel,
  withDescribed,
} from '../../support/apis/described-bench.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { sampled } from '../../support/property/sample.ts';
import type { UpstreamScript } from '../../support/upstream.ts';

/** Every reply of a running service follows openapi.json, without further members: completions and chats. */

const bench = await withDescribed();
const { upstream, client } = bench;

const completions = '/api/v1/chat/completions';
const messages = [{ role: 'user', content: 'What is 1 + 2?' }];
const completion = { model: testModel, messages };

describe.each(sampled(scenarios))('a completion of %s', (name, script, { tools: serviceTools } = {}) => {
  it('is as described, streamed and whole', async () => {
    const question = [{ role: 'user', content: 'What does a puncture repair cost?' }];
    const ask = {
      ...completion,
      ...(name === knowing ? { messages: question } : {}),
      model: agentOf(bench, name) ?? testModel,
      tools: serviceTools ?? [{ type: 'function', function: { name: 'add' } }],
      stream_options: { include_usage: true },
    };
    for (const stream of [false, true]) {
      upstream.reset();
      upstream.next(script);
      upstream.otherwise({ text: 'It is 3.' });
      if (stream) await client.stream('POST', completions, { ...ask, stream });
      else await client.post(completions, { ...ask, stream });
    }
  });
});

it('a completion with every member is taken as described', async () => {
  const add = { name: 'add', description: 'Adds', parameters: {}, strict: false };
  const body = {
    ...completion,
    messages: [
      { role: 'developer', content: 'Be kind' },
      { role: 'system', content: [{ type: 'text', text: 'Be brief' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: '3' },
    ],
    stream: false,
    stream_options: { include_usage: false },
    options: { flow: { override: { force: false } } },
    tools: [{ type: 'function', function: add }, { type: 'python' }],
    tool_choice: { type: 'function', function: { name: 'add' } },
    parallel_tool_calls: true,
    generateCitations: false,
    ...Object.fromEntries(samplingOptionList.map(({ name, isWhole }) => [toSnakeCase(name), isWhole ? 5 : 1])),
    max_completion_tokens: 5,
    stop: ['x'],
    seed: 5,
    n: 1,
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {}, strict: false } },
    reasoning_effort: 'low',
    secrets: { KEY: 'value' },
    user: 'u',
    safety_identifier: 's',
    prompt_cache_key: 'k',
    ...{ logprobs: true, top_logprobs: 1, logit_bias: { 1: 5 }, verbosity: 'low', service_tier: 'auto' },
  };
  // Members that are refused or only warned about: test/contract/members/request-members.test.ts.
  const said = [...Object.keys(body), ...unservedInCompletions.map(({ name }) => name)];
  const described = Object.keys(openapi.components.schemas.CompletionInput.properties);
  expect(described.filter((name) => !said.includes(name))).toEqual([]);
  upstream.next({ toolCalls: [{ id: 'c2', name: 'add', arguments: '{}' }] });
  expect((await client.post(completions, body)).status).toBe(200);
  await client.get('/api/v1/models');
});

it('a chat is as described: its messages, its events, its refusals', async () => {
  const { body: chat } = await client.post(`/api/v1/ais/${bench.agentId}/chats`, {});
  const place = `/api/v1/chats/${chat.id}`;
  const prompt = [{ type: 'text', text: 'What does a puncture repair cost?' }];
  const add = { type: 'function', function: { name: 'add', parameters: {} } };
  const answers: readonly UpstreamScript[] = [
    { text: 'It costs 15 € [1].' },
    { toolCalls: python },
    { text: 'It', finish: 'length' },
    { status: 500 },
  ];
  for (const answer of answers) {
    for (const stream of [true, false]) {
      upstream.reset();
      upstream.next(answer);
      const ask = { prompt, tools: [add, { type: 'python' }], secrets: {}, options: {}, threadMode: 'collect' };
      if (stream) await client.stream('POST', `${place}/messages`, { ...ask, stream });
      else await client.post(`${place}/messages`, { ...ask, stream });
    }
  }
  for (const stream of [false, true]) {
    upstream.next({ toolCalls: [addCall('call_1')] });
    const { body: asked } = await client.post(`${place}/messages`, { prompt, tools: [add] });
    const outputs = [{ toolCallId: 'call_1', status: 'success', output: '3' }];
    const submission = { systemMessageId: asked.systemMessageId, outputs, stream };
    if (stream) await client.stream('POST', `${place}/tool-outputs`, submission);
    else await client.post(`${place}/tool-outputs`, submission);
    await client.stream('GET', `${place}/runs/${asked.runId}/events`);
  }
  upstream.next(endless);
  const [{ body: cancelled }] = await Promise.all([client.post(`${place}/messages`, { prompt }), cancelSoon(place)]);
  expect(cancelled.status).toBe('cancelled');
  await client.stream('GET', `${place}/runs/${cancelled.runId}/events`);
  await client.get(place);
  expect((await client.post(`${place}/messages`, { prompt: '' })).status).toBe(400);
  expect((await client.post(`${place}/tool-outputs`, { systemMessageId: 'x', outputs: [] })).status).toBe(400);
});

async function cancelSoon(place: string): Promise<void> {
  let runId: string | null = null;
  await eventually(async () => {
    runId = (await client.get(place)).body.activeRunId;
    expect(runId).not.toBe(null);
  });
  await client.post(`${place}/runs/${runId}/cancel`);
}
it('a completion refused by the upstream is as described', async () => {
  upstream.otherwise({ status: 500 });
  expect((await client.post(completions, completion)).status).toBe(502);
});

it.each([
  ['CompletionFrame', completionEncoder({ input: completion }, { nowMs: 0, takesExtensions: true })],
  ['ChatStreamEvent', chatEventEncoder({ chatId: 'chat_1', runId: 'run_1' }, { nowMs: 0, takesExtensions: true })],
])('the failure that ends a stream is a %s', (name, encoder) => {
  const [frame = ''] = encoder.fail(new DomainError('OVERLOADED', 'The service is stopping')).split('\n\n');
  expectComponent(JSON.parse(frame.slice(frame.indexOf('data: ') + 6)), name);
});

it('every event that is described was seen', () => {
  const types = Object.keys(openapi.components.schemas.ChatStreamEvent.discriminator.mapping);
  expect(types.filter((type) => !client.seen.has(type) && type !== 'error')).toEqual([]);
});
