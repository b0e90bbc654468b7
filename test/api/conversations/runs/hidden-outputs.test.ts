import { afterAll, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../fixtures/upstreams/mcp/server.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import { messagesOf } from '../../../support/runs/research.ts';
import { withService } from '../../../support/service.ts';
import { graphqlInput } from '../../../support/tools/graphql-tool.ts';
import type { UpstreamScript } from '../../../support/upstream.ts';

/** An agent with `intermediateStepsVisible: false` shows what its tools return to its model only, on every API, streamed, whole and replayed. */
const { make, upstream } = await withService('model');
const server = await startMcpUpstream();

const api = await startApiServer();
api.answer(() => ({ body: '{"raw":"RAW-OUTPUT"}' }));
const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });

afterAll(() => Promise.all([api.close(), server.close()]));

async function agentThat(intermediateStepsVisible: boolean): Promise<string> {
  const agent = await make.agent({
    ...{ owner: ann, modelId: 'openai/test-model', visibility: 'ORGANIZATION', intermediateStepsVisible },
    enabledTools: [{ type: 'file_search' }],
  });
  const parameters = { type: 'object', properties: {} };
  const data = { method: 'GET', url: `${api.url}/raw`, parameters };
  expect((await ann.post(`/api/v1/ais/${agent.id}/tools`, { name: 'lookup', type: 'API_FUNCTION', data })).status).toBe(200);
  const { body } = await addFile(ann, agent.id, 'raw.md', 'The passage is RAW-OUTPUT.', 'text/markdown');
  expect(await indexed(ann, body.id)).toMatchObject({ indexStatus: 'INDEXED' });
  return agent.id;
}

const call = (name: string, args: object): UpstreamScript => ({
  toolCalls: [{ id: `call_${name}`, name, arguments: JSON.stringify(args) }],
});
/** One run that calls a function, a tool of a server in the form of the common format, and a search. */
const tools = [{ type: 'mcp', server_label: 'desk', server_url: server.url, require_approval: 'never' }];
const script = () =>
  upstream.next(
    call('lookup', {}),
    call('desk__echo', { text: 'RAW-OUTPUT'.toLowerCase() }),
    call('search_knowledge', { query: 'passage' }),
    { text: 'Done.' },
  );

type Ask = (agentId: string) => Promise<unknown>;
const include = ['file_search_call.results'];
const messages = [{ role: 'user', content: 'Hi' }];
const camelTools = [{ type: 'mcp', serverLabel: 'desk', serverUrl: server.url, requireApproval: 'never' }];
const item =
  '{ ... on MessageItem { text } ... on ToolOutputItem { output } ... on McpCallItem { output } ... on FileSearchItem { output results { text } } }';
const surfaces: Readonly<Record<string, Ask>> = {
  responses: async (model) => (await bob.post('/api/v2/responses', { model, input: 'Hi', tools, include })).body,
  'responses, streamed': (model) => bob.stream('/api/v2/responses', { model, input: 'Hi', tools, include, stream: true }),
  'responses, not stored': (model) =>
    bob.stream('/api/v2/responses', { model, input: 'Hi', tools, include, stream: true, store: false }),
  'responses, replayed': async (model) => {
    const { id } = (await bob.post('/api/v2/responses', { model, input: 'Hi', tools, include })).body;
    return [
      await Array.fromAsync(bob.sse('GET', `/api/v2/responses/${id}?stream=true`)),
      (await bob.get(`/api/v2/responses/${id}`)).body,
    ];
  },
  completions: async (model) => (await bob.post('/api/v1/chat/completions', { model, messages, tools })).body,
  'completions, streamed': (model) => bob.stream('/api/v1/chat/completions', { model, messages, tools, stream: true }),
  'chats, streamed and replayed': async (agentId) => {
    const chat = await make.chat({ owner: bob, agentId });
    const events = await bob.stream(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi', tools: camelTools, stream: true });
    const { runId } = JSON.parse(events[0]?.data ?? '{}');
    const replay = bob.sse('GET', `/api/v1/chats/${chat.id}/runs/${runId}/events`, undefined, { 'last-event-id': `${runId}:0` });
    return [events, await Array.fromAsync(replay), (await bob.get(`/api/v1/chats/${chat.id}`)).body];
  },
  chats: async (agentId) => {
    const chat = await make.chat({ owner: bob, agentId });
    return (await bob.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi', tools: camelTools })).body;
  },
  GraphQL: async (agentId) => {
    const chat = await make.chat({ owner: bob, agentId });
    const query = `subscription ($chatId: ID!, $input: SendMessageInput!) { messageEvents(chatId: $chatId, input: $input) {
      ... on ItemDone { item ${item} } ... on RunEnded { run { status output ${item} } } } }`;
    return Array.fromAsync(bob.subscribe(query, { chatId: chat.id, input: graphqlInput({ prompt: 'Hi', tools }) }));
  },
};

describe.each(Object.entries(surfaces))('%s', (_surface, ask) => {
  it('shows no output of a tool where the agent hides its steps, and the model reads them all', async () => {
    const agentId = await agentThat(false);
    script();
    const reply = JSON.stringify(await ask(agentId));
    expect(reply).toContain('Done.');
    expect(reply.toLowerCase()).not.toContain('raw-output"}');
    expect(reply).not.toContain('RAW-OUTPUT');
    const read = messagesOf(upstream.requests.at(-1)).flatMap(({ role, content }) =>
      role === 'tool' ? [content?.toLowerCase()] : [],
    );
    expect(read).toHaveLength(3);
    for (const output of read) expect(output).toContain('raw-output');
  });
});

it('shows them where the agent shows its steps', async () => {
  const agentId = await agentThat(true);
  script();
  const events = JSON.stringify(await surfaces['responses, streamed']?.(agentId));
  expect(events.match(/RAW-OUTPUT/g)?.length).toBeGreaterThan(1);
});

it('shows them to an editor who asks for a trace', async () => {
  const agentId = await agentThat(false);
  upstream.next(call('lookup', {}), { text: 'Done.' });
  const request = { model: agentId, input: 'Hi', options: { tracing: { enabled: true } } };
  expect(JSON.stringify((await ann.post('/api/v2/responses', request)).body)).toContain('RAW-OUTPUT');
  upstream.next(call('lookup', {}), { text: 'Done.' });
  expect(JSON.stringify((await bob.post('/api/v2/responses', request)).body)).not.toContain('RAW-OUTPUT');
});
