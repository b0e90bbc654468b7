import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../fixtures/upstreams/mcp/server.ts';
import { faultParam } from '../../../support/apis/fault-params.ts';
import { graphqlResponse } from '../../../support/apis/graphql-inputs.ts';
import { type ApiServer, startApiServer } from '../../../support/egress/api-server.ts';
import type { Person } from '../../../support/make.ts';
import { messagesOf, toolsOf } from '../../../support/runs/research.ts';
import { ResponseSocket } from '../../../support/runs/responses.ts';
import { withService } from '../../../support/service.ts';
import { type EquippedAgent, equippedAgent } from '../../../support/tools/equipped-agent.ts';

/** What each chat mode offers and runs of an agent that brings tools of every kind. */
const bench = await withService('model');
const { service, make, upstream } = bench;
const path = '/api/v2/responses';
const server = await startMcpUpstream();
const own = { type: 'function', name: 'add', parameters: { type: 'object', properties: {} } };
let api: ApiServer;
let ann: Person;
let agent: EquippedAgent;

beforeAll(async () => {
  api = await startApiServer();
  ann = await make.person();
  agent = await equippedAgent(bench, ann, { apiUrl: api.url, mcpUrl: server.url });
});
beforeEach(() => {
  api.reset();
  server.reset();
});
afterAll(async () => {
  await api.close();
  await server.close();
});

const ask = (members: object) => ann.post(path, { model: agent.id, input: 'Hi', tools: [own], ...members });
const offered = () => toolsOf(upstream.requests.at(-1));
const ofServer = (name: string) => name.startsWith('tickets__');
const call = (name: string, args: object = {}) => ({
  toolCalls: [{ id: `call_${name}`, name, arguments: JSON.stringify(args) }],
});

describe('an agent with tools of every kind', () => {
  it('offers all of them in execute, those that read in plan, and none in chat', async () => {
    await ask({ chat_mode: 'execute' });
    expect(
      offered()
        .filter((name) => !ofServer(name))
        .sort(),
    ).toEqual([...agent.functions, 'add'].sort());
    expect(offered().some(ofServer)).toBe(true);
    await ask({ chat_mode: 'plan' });
    expect([...offered()].sort()).toEqual(['deep_research', 'search_knowledge', 'use_skill']);
    await ask({ chat_mode: 'chat' });
    expect(offered()).toEqual(['add']);
    expect(messagesOf(upstream.requests.at(-1)).map(({ content }) => content)).not.toContainEqual(
      expect.stringContaining('use_skill'),
    );
  });

  it.each(['order', 'tickets__add', 'python', 'ask_Travel_desk', 'use_skill'])(
    'makes no call of %s in chat, although the model asks for one',
    async (name) => {
      upstream.next(call(name, { code: '1', question: 'Q', name: 'Pirate talk' }), { text: 'Done.' });
      const { body } = await ask({ chat_mode: 'chat' });
      expect(body.output.map(({ type }: { type: string }) => type)).not.toContain('server_tool_call');
      expect([api.requests, server.calls, upstream.requests.length]).toEqual([[], [], 1]);
    },
  );

  it('changes its offer with the mode of each turn of a thread', async () => {
    upstream.next(call('order'), { text: 'Ordered.' });
    const first = await ask({ chat_mode: 'execute' });
    expect(api.requests).toHaveLength(1);
    const second = await ask({ chat_mode: 'chat', previous_response_id: first.body.id });
    expect(offered()).toEqual(['add']);
    await ask({ chat_mode: 'execute', previous_response_id: second.body.id });
    expect(offered()).toContain('order');
  });

  it('makes no call in chat that waits for approval since a turn in execute', async () => {
    const approving = await make.agent({ owner: ann, modelId: 'openai/test-model' });
    const data = { method: 'POST', url: `${api.url}/orders`, requireApproval: true, parameters: own.parameters };
    await ann.post(`/api/v1/ais/${approving.id}/tools`, { name: 'order', type: 'API_FUNCTION', data });
    upstream.next(call('order'));
    const asked = (await ask({ model: approving.id, chat_mode: 'execute' })).body;
    const answer = (status: string) => ({
      ...{ model: approving.id, previous_response_id: asked.id },
      input: [{ type: 'mcp_approval_response', approval_request_id: asked.output[0].id, approve: status === 'success' }],
    });
    const refused = await ask({ ...answer('success'), chat_mode: 'chat' });
    expect([refused.status, refused.body.error?.code, refused.body.error?.param]).toEqual([400, 'unsupported_value', 'input']);
    expect(api.requests).toEqual([]);
    expect((await ask({ ...answer('success'), chat_mode: 'execute' })).status).toBe(200);
    expect(api.requests).toHaveLength(1);
  });
});

/** A forced call that the mode does not offer, on each API that knows modes. */
const forced = [
  { type: 'python' },
  { type: 'mcp_server' },
  { type: 'function', name: 'order' },
  { type: 'function', name: 'ask_Travel_desk' },
  { type: 'function', name: 'use_skill' },
];
const surfaces: Readonly<Record<string, (members: Readonly<Record<string, unknown>>) => Promise<readonly unknown[]>>> = {
  async REST(members) {
    const { status, body } = await ask(members);
    return [status, body.error?.code, body.error?.param];
  },
  async 'REST, streamed'(members) {
    const { status, body } = await ask({ ...members, stream: true });
    return [status, body.error?.code, body.error?.param];
  },
  async WebSocket(members) {
    const socket = await ResponseSocket.connect(service.url, ann.key);
    const [event] = await socket.ask({ model: agent.id, input: 'Hi', ...members });
    socket.close();
    return [event.status, event.error.code, event.error.param];
  },
  async GraphQL(members) {
    const mutation = 'mutation ($input: ResponseInput!) { createResponse(input: $input) { id } }';
    const { errors } = await ann.graphql(mutation, {
      input: graphqlResponse({ model: agent.id, input: 'Hi', ...members }),
    });
    const param = faultParam(errors?.[0]);
    return [400, errors?.[0]?.extensions.code.toLowerCase(), param?.startsWith('toolChoice') === true ? 'tool_choice' : param];
  },
};
describe.each(Object.entries(surfaces))('a forced call, %s', (_surface, send) => {
  it.each(forced.map((choice) => [JSON.stringify(choice), choice] as const))(
    'of %s is refused in chat',
    async (_shown, choice) => {
      expect(await send({ chat_mode: 'chat', tool_choice: choice })).toEqual([400, 'invalid_value', 'tool_choice']);
      expect(upstream.requests).toEqual([]);
    },
  );
});

it('refuses a forced call that plan does not offer, and keeps to one of the agent that it does', async () => {
  const { status, body } = await ask({ chat_mode: 'plan', tool_choice: { type: 'python' } });
  expect([status, body.error?.param]).toEqual([400, 'tool_choice']);
  upstream.next(call('search_knowledge', { query: 'tea' }), { text: 'Nothing.' });
  expect((await ask({ chat_mode: 'plan', tool_choice: { type: 'file_search' } })).status).toBe(200);
  expect([upstream.requests[0]?.body?.tool_choice, toolsOf(upstream.requests[0])]).toEqual(['required', ['search_knowledge']]);
});
