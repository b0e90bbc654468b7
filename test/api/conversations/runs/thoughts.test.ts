import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../../support/egress/api-server.ts';
import type { Person } from '../../../support/make.ts';
import { startThinkingProvider } from '../../../support/runs/thinking-providers.ts';
import { withService } from '../../../support/service.ts';

/** Models that think get their thoughts back, on every API. The stand-ins refuse a conversation without them, as the vendors do. */
const providers = {
  anthropic: await startThinkingProvider('anthropic'),
  google: await startThinkingProvider('google'),
  deepSeek: await startThinkingProvider('deepSeek'),
};
const env = Object.assign({}, ...Object.values(providers).map((provider) => provider.env));
const { make } = await withService('plain', {
  env: { ...env, EGRESS_ALLOW: '127.0.0.1', MODEL_RETRIES_MAX: '0', DEFAULT_MODEL: 'openai/model-one' },
});
let api: ApiServer;
let ann: Person;
const agents = new Map<string, { readonly plain: string; readonly approved: string }>();
const parameters = { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] };

beforeAll(async () => {
  api = await startApiServer();
  ann = await make.person();
  for (const { modelId } of Object.values(providers)) {
    const agentWith = async (more: object) => {
      const { id } = await make.agent({ owner: ann, modelId });
      const data = { description: 'Looks it up', parameters, method: 'POST', url: `${api.url}/it`, ...more };
      const made = await ann.post(`/api/v1/ais/${id}/tools`, { name: 'look_up', type: 'API_FUNCTION', data });
      expect(made.status, JSON.stringify(made.body)).toBe(200);
      return id;
    };
    agents.set(modelId, { plain: await agentWith({}), approved: await agentWith({ requireApproval: true }) });
  }
});
beforeEach(() => {
  api.reset();
  for (const provider of Object.values(providers)) provider.reset();
});
afterAll(async () => {
  await api.close();
  await Promise.all(Object.values(providers).map((provider) => provider.close()));
});

const done = 'It is done.';
const functionTool = { type: 'function', name: 'look_up', parameters };
const textOf = (output: { type: string; content?: { text: string }[] }[]) =>
  output.flatMap(({ type, content = [] }) => (type === 'message' ? content.map(({ text }) => text) : [])).join('');

describe.each(Object.entries(providers))('%s', (_name, provider) => {
  const { modelId } = provider;
  const agentId = () => agents.get(modelId)?.plain ?? '';
  const approvedAgentId = () => agents.get(modelId)?.approved ?? '';
  /** Thoughts of a turn whose three answers, or their first two, are in the conversation. */
  const expectReturned = (count: number) => {
    expect(provider.refusals).toEqual([]);
    expect(provider.returned).toBeGreaterThanOrEqual(count);
  };

  it('thinks between calls of the service in chat completions', async () => {
    const { status, body } = await ann.post('/api/v1/chat/completions', {
      model: agentId(),
      messages: [{ role: 'user', content: 'Look it up' }],
    });
    expectReturned(2);
    expect([status, body.choices?.[0].message.content]).toEqual([200, done]);
    expect(api.requests).toHaveLength(3);
  });

  it('goes on with its thoughts in later messages of a chat', async () => {
    const chat = await make.chat({ owner: ann, agentId: agentId() });
    for (const prompt of ['Look it up', 'And again', 'Once more']) {
      const { body } = await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt });
      expectReturned(2);
      expect(body.message.content).toBe(done);
    }
    expectReturned(6);
  });

  it('goes on with its thoughts in responses, stored and not', async () => {
    const first = await ann.post('/api/v2/responses', { model: agentId(), input: 'Look it up' });
    expectReturned(2);
    expect(textOf(first.body.output)).toBe(done);
    const next = await ann.post('/api/v2/responses', { model: agentId(), input: 'Again', previous_response_id: first.body.id });
    expectReturned(4);
    expect(textOf(next.body.output)).toBe(done);
    const stateless = await ann.post('/api/v2/responses', { model: agentId(), input: 'Look it up', store: false });
    expect(textOf(stateless.body.output)).toBe(done);
    expectReturned(2);
  });

  it('gets the outputs of functions of the caller with its thoughts', async () => {
    const request = { model: modelId, tools: [functionTool] };
    let { body } = await ann.post('/api/v2/responses', { ...request, input: 'Look it up' });
    for (const count of [1, 2]) {
      const input = body.output.flatMap((item: { type: string; call_id: string }) =>
        item.type === 'function_call' ? [{ type: 'function_call_output', call_id: item.call_id, output: 'found' }] : [],
      );
      ({ body } = await ann.post('/api/v2/responses', { ...request, input, previous_response_id: body.id }));
      expectReturned(count);
    }
    expect(textOf(body.output)).toBe(done);
  });

  it.each([
    ['as include gives them', { include: ['reasoning.encrypted_content'], store: false }],
    ['by their ids', {}],
  ])('gets its thoughts from a history that the caller keeps, %s', async (_kind, members) => {
    const request = { model: modelId, tools: [functionTool], ...members };
    const input: object[] = [{ role: 'user', content: 'Look it up' }];
    for (const count of [0, 1, 2]) {
      const { body } = await ann.post('/api/v2/responses', { ...request, input });
      if (count > 0) expectReturned(count);
      input.push(...body.output);
      for (const item of body.output) {
        if (item.type === 'function_call') input.push({ type: 'function_call_output', call_id: item.call_id, output: 'found' });
      }
      if (count === 2) expect(textOf(body.output)).toBe(done);
    }
  });

  it('gets its thoughts from messages of chat completions that come back whole', async () => {
    const request = { model: modelId, tools: [{ type: 'function', function: { name: 'look_up', parameters } }] };
    const messages: object[] = [{ role: 'user', content: 'Look it up' }];
    for (const count of [0, 1, 2]) {
      const { body } = await ann.post('/api/v1/chat/completions', { ...request, messages });
      if (count > 0) expectReturned(count);
      const { message } = body.choices[0];
      messages.push(message);
      for (const { id } of message.tool_calls ?? []) messages.push({ role: 'tool', tool_call_id: id, content: 'found' });
      if (count === 2) expect(message.content).toBe(done);
    }
  });

  it('gets its thoughts with calls that a person approved', async () => {
    const chat = await make.chat({ owner: ann, agentId: approvedAgentId() });
    let { body } = await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Look it up' });
    for (const count of [1, 2]) {
      expect(Object.keys(body.toolCalls[0]).toSorted()).toEqual(['approval', 'arguments', 'id', 'name']);
      const outputs = body.toolCalls.map(({ id }: { id: string }) => ({ toolCallId: id, status: 'success', output: '' }));
      ({ body } = await ann.post(`/api/v1/chats/${chat.id}/tool-outputs`, { systemMessageId: body.systemMessageId, outputs }));
      expectReturned(count);
    }
    expect(body.message.content).toBe(done);
    expect(api.requests).toHaveLength(3);
  });
});

it('a history of calls without thoughts ends the thinking of a model with a budget, with a warning', async () => {
  const { modelId, refusals, bodies } = providers.anthropic;
  const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"item":"tea"}' } };
  const messages = [
    { role: 'user', content: 'Look it up' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'found' },
  ];
  const tools = [{ type: 'function', function: { name: 'look_up', parameters } }];
  const { status, body } = await ann.post('/api/v1/chat/completions', {
    model: modelId,
    messages,
    tools,
    reasoning_effort: 'low',
  });
  expect([status, refusals]).toEqual([200, []]);
  expect(bodies.at(-1)?.thinking).toEqual({ type: 'disabled' });
  expect(body.warnings[0]).toMatchObject({ code: 'option_not_supported', param: 'reasoning_effort' });
  expect(body.choices[0].message.reasoning_content).toMatch(/\.$/);
});

it('the page on runs has a row for each way that is tried here', () => {
  const [, section = ''] = readFileSync('docs/runs.md', 'utf8').split('\n## Thoughts\n');
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
  expect(cells[0]?.slice(2, 5)).toEqual(['Anthropic', 'Google', 'OpenAI-compatible (DeepSeek)']);
  const ways = [
    'tools of the service',
    'later messages',
    'functions of the caller',
    '`reasoning` items',
    'assistant messages',
    'calls that a person',
  ];
  for (const [place, way] of ways.entries()) {
    const row = cells[place + 2] ?? [];
    expect(row[1]).toContain(way);
    for (const cell of row.slice(2, 5)) expect(cell).toMatch(/^given back|^`reasoning_(details|content)`$/);
  }
});
