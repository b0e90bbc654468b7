import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { DomainError } from '../../../src/entities/ground/errors.ts';
import { unservedInResponses } from '../../../src/wire/ground/unserved-members.ts';
import { responseEncoder } from '../../../src/wire/responses/events.ts';
import { DescribedClient, expectComponent, expectDescribed, openapi } from '../../support/apis/described.ts';
import { agentOf, endless, python, scenarios, testModel, withDescribed } from '../../support/apis/described-bench.ts';
import { makeFor } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { sampled, triesAll } from '../../support/property/sample.ts';
import { scriptResearch } from '../../support/runs/research.ts';

/** Every reply of a running service follows openapi.json, without further members: responses. */

const bench = await withDescribed();
const { upstream, client } = bench;
const path = '/api/v2/responses';
const tools = [{ type: 'function', name: 'add', parameters: { type: 'object' } }];
const request = { model: testModel, input: 'What is 1 + 2?', tools };

describe.each(sampled(scenarios))('a response of %s', (name, script, members = {}) => {
  it.each([true, false])('is as described, streamed and whole (store %s)', async (store) => {
    const answer = () => {
      upstream.reset();
      upstream.next(script);
      upstream.otherwise({ text: 'It is 3.' });
    };
    const ask = { ...request, ...members, model: agentOf(bench, name) ?? testModel, store };
    for (const headers of [{}, { 'x-parley-extensions': 'off' }]) {
      answer();
      const frames = await client.stream('POST', path, { ...ask, stream: true }, headers);
      const { response } = JSON.parse(frames.at(-2)?.data ?? '');
      answer();
      await client.post(path, ask, headers);
      if (!store) continue;
      await client.get(`${path}/${response.id}`, headers);
      await client.stream('GET', `${path}/${response.id}?stream=true&starting_after=1`, undefined, headers);
      await client.get(`${path}/${response.id}/input_items`);
      await client.post(`${path}/${response.id}/cancel`, undefined, headers);
      await client.delete(`${path}/${response.id}`);
    }
  });
});

it('subagents are as described', async () => {
  scriptResearch(upstream, ['What is red?', 'What is green?'], (question) =>
    question === 'What is red?' ? { text: 'A colour.' } : { status: 400 },
  );
  const ask = { ...request, tools: [{ type: 'deep_research' }] };
  const frames = await client.stream('POST', path, { ...ask, stream: true });
  const { response } = JSON.parse(frames.at(-2)?.data ?? '');
  expect((await client.get(`${path}/${response.id}`)).body.status).toBe('completed');
  expect((await client.post(path, ask)).body.output).toHaveLength(3);
});

it('a request with every member is taken, repeated and listed as described', async () => {
  const first = await client.post(path, { ...request, instructions: 'Add.' });
  const [message] = first.body.output;
  const status = 'completed';
  const body = {
    ...request,
    input: [
      { role: 'user', content: 'Hello' },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be kind', metadata: { a: 1 } }] },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'secretly', invisible: true },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low', invisible: true },
          { type: 'input_file', filename: 'a.txt', file_data: `data:text/plain;base64,${btoa('abc')}` },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [{ token: 'Hi', logprob: 0 }] }],
      },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No' }], status: 'incomplete' },
      { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}', status },
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: '3' }], status: 'error' },
      { type: 'item_reference', id: message.id },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }] },
      { type: 'compaction', encrypted_content: 'Notes' },
      { type: 'web_search_call', id: 'ws_1', status, action: { type: 'search', query: 'x' } },
      { type: 'server_tool_call', call_id: 'call_2', name: 'python', arguments: '{}', status },
      { type: 'server_tool_call_output', call_id: 'call_2', output: '3', status, error: null },
      { type: 'file_search_call', id: 'fs_1', queries: ['x'] },
    ],
    instructions: 'Add.',
    tools: [...tools, { type: 'python', container: { type: 'auto' } }, { type: 'deep_research' }],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'add' }, { type: 'python' }] },
    parallel_tool_calls: false,
    text: { format: { type: 'json_schema', name: 'sum', schema: { type: 'object' }, strict: false }, verbosity: 'low' },
    reasoning: { effort: 'xhigh', summary: 'detailed' },
    include: ['reasoning.encrypted_content'],
    truncation: 'auto',
    max_output_tokens: 50,
    max_tool_calls: 3,
    temperature: 0.5,
    top_p: 0.5,
    top_logprobs: 0,
    presence_penalty: 1,
    frequency_penalty: -1,
    metadata: { a: 'b' },
    conversation: first.body.conversation,
    store: true,
    background: false,
    stream: false,
    stream_options: { include_extensions: true, include_obfuscation: false },
    service_tier: 'auto',
    logit_bias: { 1: 5 },
    safety_identifier: 's',
    prompt_cache_key: 'p',
    user: 'u',
    chat_mode: 'execute',
    thread_mode: 'collect',
    user_secrets: { KEY: 'value' },
    options: { flow: { override: { force: false } } },
  };
  const described = openapi.components.schemas.ResponseInput.properties;
  // Members that are refused or only warned about: test/contract/members/request-members.test.ts.
  const unserved = unservedInResponses.map(({ name }) => name);
  const unsaid = Object.keys(described).filter(
    (name) => ![...Object.keys(body), ...unserved, 'previous_response_id'].includes(name),
  );
  expect(unsaid).toEqual([]);
  upstream.next({ text: '{}' });
  const { body: response, status: code } = await client.post(path, body);
  expect([code, response.error]).toEqual([200, null]);
  const { body: items } = await client.get(`${path}/${response.id}/input_items?order=asc&limit=100`);
  expect(items.data).toHaveLength(body.input.length);
  await client.get(`${path}/${response.id}/input_items?limit=2&after=${items.data[4].id}`);
  await client.post(path, { input: 'And twice that?', previous_response_id: response.id, model: testModel });
});

it('a response in the background is as described at each of its states', async () => {
  upstream.next(endless);
  const { body: begun } = await client.post(path, { ...request, background: true });
  expect(begun.status).toBe('in_progress');
  await client.get(`${path}/${begun.id}`, { 'x-parley-extensions': 'off' });
  await eventually(async () => expect((await client.get(`${path}/${begun.id}`)).body.output).toHaveLength(1));
  const { body: paused } = await client.post(`${path}/${begun.id}/pause`);
  expect(paused.incomplete_details).toEqual({ reason: 'paused' });
  upstream.next({ text: 'More' });
  const frames = await client.stream('POST', `${path}/${begun.id}/resume`, { stream: true, input: 'Go on', user_secrets: {} });
  expect(JSON.parse(frames[0]?.data ?? '').type).toBe('response.in_progress');
  expect((await client.post(`${path}/${begun.id}/pause`)).status).toBe(409);
  expect((await client.post(`${path}/${begun.id}/resume`, {})).status).toBe(409);

  upstream.next(endless);
  const { body: second } = await client.post(path, { ...request, background: true });
  await upstream.until(({ requests }) => requests.length === 3);
  const { body: cancelled } = await client.post(`${path}/${second.id}/cancel`);
  expect(cancelled.status).toBe('cancelled');
  await client.stream('GET', `${path}/${second.id}?stream=true`);
});

it('a compaction is as described', async () => {
  upstream.next({ text: 'Ada likes tea' });
  const { body, status } = await client.post(`${path}/compact`, { model: testModel, input: 'I am Ada and like tea.' });
  expect(status).toBe(200);
  await client.post(path, { ...request, input: [...body.output, { role: 'user', content: 'Who am I?' }] });
});

it('every refusal is as described', async () => {
  const nobody = new DescribedClient(bench.service.nobody);
  const reader = new DescribedClient(await makeFor(bench.service).withKey(bench.ann, { scopes: ['CHATS:READ'] }));
  const refused: readonly (readonly [Promise<{ status: number }>, number])[] = [
    [nobody.post(path, request), 401],
    [reader.post(path, request), 403],
    [client.post(path, { ...request, model: 'openai/none' }), 404],
    [client.post(path, '{'), 415],
    [client.post(path, { ...request, temperature: 3, top_p: 'x', input: 5 }), 400],
    [client.post(path, { ...request, previous_response_id: 'resp_none' }), 400],
    [client.get(`${path}/resp_none`), 404],
    [client.delete(`${path}/resp_none`), 404],
    [client.get(`${path}/resp_none/input_items`), 404],
    [client.post(`${path}/resp_none/cancel`), 404],
  ];
  for (const [reply, status] of refused) expect((await reply).status).toBe(status);
});

it('the messages of a socket are as described', async () => {
  const socket = new WebSocket(`${bench.service.url.replace('http', 'ws')}${path}`, {
    headers: { authorization: `Bearer ${bench.ann.key}` },
  });
  const messages: { type: string }[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  await new Promise((resolve) => socket.once('open', resolve));
  const members = { ...request, store: false };
  expectComponent(members, 'ResponseInput');
  socket.send(JSON.stringify({ type: 'response.create', ...members }));
  socket.send('{"type":"response.create","input":5}');
  await eventually(() => expect(messages.at(-1)?.type).toBe('error'));
  socket.close();
  expect(messages.map(({ type }) => type)).toContain('response.completed');
  for (const one of messages) expectComponent(one, 'ResponseSocketMessage');
});

it('a run that the upstream refuses is as described', async () => {
  upstream.otherwise({ status: 500 });
  expect((await client.post(path, request)).body.error.code).toBe('upstream_error');
  await client.stream('POST', path, { ...request, stream: true });
  expect((await client.post(path, { ...request, store: false })).status).toBe(500);
  expect((await client.post(`${path}/compact`, { model: request.model, input: 'Hello' })).status).toBe(500);
});

it('the failure that ends a stream is as described', () => {
  const encoder = responseEncoder({}, { nowMs: 0, takesExtensions: true });
  const [frame = ''] = encoder.fail(new DomainError('OVERLOADED', 'The service is stopping')).split('\n\n');
  expectComponent(JSON.parse(frame.slice(frame.indexOf('data: ') + 6)), 'ResponseStreamEvent');
});

it.runIf(triesAll)('every event that is described was seen', () => {
  const types = Object.keys(openapi.components.schemas.ResponseStreamEvent.discriminator.mapping);
  expect(types.filter((type) => !client.seen.has(type) && type !== 'error')).toEqual([]);
});

it('members marked as extensions are sent, except to clients that turned them off', async () => {
  const ask = { ...request, tools: [{ type: 'python' }], stream: true };
  upstream.next({ toolCalls: python });
  const frames = await client.stream('POST', path, ask);
  const { response } = JSON.parse(frames.at(-2)?.data ?? '');
  expect(frames.map(({ event }) => event)).toContain('response.server_tool_call.in_progress');
  expect(frames.some(({ data }) => data.includes('"status_hints":["'))).toBe(true);
  for (const { data, event } of frames.slice(0, -1)) {
    const isExtended = /server_tool_call|status_hints|selection_metadata/.test(data);
    const check = () =>
      expectDescribed(JSON.parse(data), { $ref: '#/components/schemas/ResponseStreamEvent' }, String(event), false);
    if (isExtended) expect(check, data).toThrow('is not as described');
    else check();
  }
  // A client with this header gets nothing that is marked as an extension.
  const off = { 'x-parley-extensions': 'off' };
  await client.stream('GET', `${path}/${response.id}?stream=true`, undefined, off);
  await client.get(`${path}/${response.id}`, off);
  upstream.next({ toolCalls: python });
  await client.stream('POST', path, { ...ask, stream_options: { include_extensions: false } });
});

it('a member that is not described is found', () => {
  const error = { message: 'm', type: 'server_error', param: null, code: 'c' };
  expectComponent({ error }, 'Error');
  expect(() => expectComponent({ error: { ...error, more: 1 } }, 'Error')).toThrow('must NOT have additional properties');
});
