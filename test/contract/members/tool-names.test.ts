import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../fixtures/upstreams/mcp/server.ts';
import { faultParam } from '../../support/apis/fault-params.ts';
import { graphqlCompletion, graphqlResponse } from '../../support/apis/graphql-inputs.ts';
import { type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import type { Person } from '../../support/make.ts';
import { toolsOf } from '../../support/runs/research.ts';
import { ResponseSocket } from '../../support/runs/responses.ts';
import { withService } from '../../support/service.ts';
import { type EquippedAgent, equippedAgent } from '../../support/tools/equipped-agent.ts';
import { graphqlTool } from '../../support/tools/graphql-tool.ts';

/** No API takes a function that is named like anything that the agent brings and that is known before the run. */
const bench = await withService('model');
const { service, make, upstream } = bench;
const server = await startMcpUpstream();
let api: ApiServer;
let ann: Person;
let agent: EquippedAgent;
let chatId: string;

beforeAll(async () => {
  api = await startApiServer();
  ann = await make.person();
  agent = await equippedAgent(bench, ann, { apiUrl: api.url, mcpUrl: server.url });
  chatId = (await make.chat({ owner: ann, agentId: agent.id })).id;
});
afterAll(() => Promise.all([api.close(), server.close()]));

const parameters = { type: 'object', properties: {} };
const flat = (name: string) => ({ type: 'function', name, parameters });
const nested = (name: string) => ({ type: 'function', function: { name, parameters } });
// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape.
type Body = any;
const failureOf = ({ status, body }: { readonly status: number; readonly body: Body }) => [
  status,
  body.error?.code,
  body.error?.param,
];
const graphqlFailure = ({ errors }: Body) => [400, errors?.[0].extensions.code.toLowerCase(), faultParam(errors?.[0])];
const messages = [{ role: 'user', content: 'Hi' }];
const responses = '/api/v2/responses';

type Send = (tools: readonly object[], name: string) => Promise<readonly unknown[]>;
/** Each sends a request with tools and a function of a name. @returns status, code and param of the failure. */
const surfaces: Readonly<Record<string, Send>> = {
  chats: async (tools, name) =>
    failureOf(await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', tools: [...tools, nested(name)] })),
  completions: async (tools, name) =>
    failureOf(await ann.post('/api/v1/chat/completions', { model: agent.id, messages, tools: [...tools, nested(name)] })),
  'completions, streamed': async (tools, name) =>
    failureOf(
      await ann.post('/api/v1/chat/completions', { model: agent.id, messages, tools: [...tools, nested(name)], stream: true }),
    ),
  responses: async (tools, name) =>
    failureOf(await ann.post(responses, { model: agent.id, input: 'Hi', tools: [...tools, flat(name)] })),
  'responses, not stored': async (tools, name) =>
    failureOf(await ann.post(responses, { model: agent.id, input: 'Hi', tools: [...tools, flat(name)], store: false })),
  'input tokens': async (tools, name) =>
    failureOf(await ann.post(`${responses}/input_tokens`, { model: agent.id, input: 'Hi', tools: [...tools, flat(name)] })),
  WebSocket: async (tools, name) => {
    const socket = await ResponseSocket.connect(service.url, ann.key);
    const [event] = await socket.ask({ model: agent.id, input: 'Hi', tools: [...tools, flat(name)] });
    socket.close();
    return [event.status, event.error?.code, event.error?.param];
  },
  'completions on GraphQL': async (tools, name) =>
    graphqlFailure(
      await ann.graphql('mutation ($input: CompletionInput!) { createCompletion(input: $input) { id } }', {
        input: graphqlCompletion({ model: agent.id, messages, tools: [...tools, nested(name)] }),
      }),
    ),
  'chats on GraphQL': async (tools, name) =>
    graphqlFailure(
      await ann.graphql(
        'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id } }',
        {
          chatId,
          input: { prompt: { text: 'Hi' }, tools: [...tools, nested(name)].map(graphqlTool) },
        },
      ),
    ),
  'responses on GraphQL': async (tools, name) =>
    graphqlFailure(
      await ann.graphql('mutation ($input: ResponseInput!) { createResponse(input: $input) { id } }', {
        input: graphqlResponse({ model: agent.id, input: 'Hi', tools: [...tools, flat(name)] }),
      }),
    ),
};

describe.each(Object.entries(surfaces))('%s', (surface, send) => {
  it('refuses more than 128 tools', async () => {
    const form = /^(?:chats|completions)/.test(surface) ? nested : flat;
    const tools = Array.from({ length: 128 }, (_, place) => form(`f${place}`));
    const [status, , param] = await send(tools, 'one_too_many');
    expect([status, param]).toEqual([400, 'tools']);
  });

  it('refuses a function named like anything that the agent brings', async () => {
    for (const name of [...agent.functions, 'tickets']) {
      const [status, code, param] = await send([], name);
      expect([name, status, code]).toEqual([name, 400, 'tool_name_conflict']);
      expect(param).toMatch(/^tools\[0\]\.(?:function\.)?name$/);
    }
    expect(upstream.requests).toEqual([]);
  });

  it('refuses one named like an agent that the request itself lets the model ask', async () => {
    const asked = await make.agent({ owner: ann, name: 'Wine cellar' });
    const [status, code, param] = await send([{ type: 'subagent', agents: [asked.id] }], 'ask_Wine_cellar');
    expect([status, code]).toEqual([400, 'tool_name_conflict']);
    expect(param).toMatch(/^tools\[1\]\.(?:function\.)?name$/);
  });
});

it('gives a tool that a server lists another name where a function of the request has its own', async () => {
  const { status } = await ann.post(responses, { model: agent.id, input: 'Hi', tools: [flat('tickets__echo')] });
  expect([status, toolsOf(upstream.requests[0])]).toEqual([200, expect.arrayContaining(['tickets__echo', 'tickets__echo_2'])]);
});
