import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import type { Person } from '../../support/make.ts';
import { startThinkingProvider } from '../../support/runs/thinking-providers.ts';
import { withService } from '../../support/service.ts';

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
