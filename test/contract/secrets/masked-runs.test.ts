import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../fixtures/upstreams/mcp/server.ts';
import { html, startWeb } from '../../fixtures/upstreams/web.ts';
import { type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import { addFile, indexed } from '../../support/knowledge/knowledge.ts';
import type { Person } from '../../support/make.ts';
import { inTurn } from '../../support/property/sample.ts';
import { messagesOf } from '../../support/runs/research.ts';
import { withService } from '../../support/service.ts';
import { databaseText } from '../../support/storage/dump.ts';
import { graphqlInput } from '../../support/tools/graphql-tool.ts';
import type { UpstreamScript } from '../../support/upstream.ts';

/**
 * A secret of a request leaves its run in no form: every tool, document and model tells it in every member that it has, and no reply, stream, stored
 * row, log line or later model request shows it.
 */
const secret = 'sk-CANARY/17+"ö"';
const bytes = Buffer.from(secret);
const forms = [secret, encodeURIComponent(secret), bytes.toString('base64'), bytes.toString('hex')];
/** All forms, as one text that may stand in JSON, addresses and names. */
const told = [encodeURIComponent(secret), bytes.toString('base64url'), bytes.toString('hex')].join(' ');
const inAddress = encodeURIComponent(secret);
/** The middle of each form, as it would stand in any further quoting. */
const traces = ['CANARY', bytes.toString('base64').slice(2, 14), bytes.toString('hex').slice(4, 24)];

const web = await startWeb({
  '/found': {
    title: `Title ${told} ${secret}`,
    snippet: `Snippet ${forms.join(' ')}`,
    reply: html(`Head ${secret}`, `<p>Page ${forms.map((form) => form.replaceAll('"', '&quot;')).join(' ')}</p>`),
  },
});
const server = await startMcpUpstream();
const lines: string[] = [];
const { service, make, upstream } = await withService('model', {
  env: { SEARCH_URL: web.url, EGRESS_ALLOW: '127.0.0.1', LOG_LEVEL: 'trace' },
  onLog: (line) => void lines.push(line),
});
const model = 'openai/test-model';
let api: ApiServer;
let ann: Person;
let agentId: string;
let askedId: string;

beforeAll(async () => {
  api = await startApiServer();
  api.answer(() => ({ body: JSON.stringify({ forms, nested: { text: secret } }) }));
  server.tools.push({ name: 'told', description: `Tells ${secret}`, inputSchema: { type: 'object', description: secret } });
  ann = await make.person();
  askedId = (await make.agent({ owner: ann, name: 'Desk', modelId: model, instructions: 'DESK RULES' })).id;
  agentId = (await make.agent({ owner: ann, modelId: model, generateCitations: true, intermediateStepsVisible: true })).id;
  const parameters = { type: 'object', properties: {} };
  const tools = [
    { name: 'lookup', type: 'API_FUNCTION', data: { method: 'GET', url: `${api.url}/lookup`, parameters } },
    { name: 'tickets', type: 'MCP_SERVER', data: { url: server.url } },
  ];
  for (const tool of tools) expect((await ann.post(`/api/v1/ais/${agentId}/tools`, tool)).status).toBe(200);
  const { body } = await addFile(ann, agentId, 'keys.md', `# Keys ${secret}\n\nThe key is ${forms.join(' ')}.`, 'text/markdown');
  expect(await indexed(ann, body.id)).toMatchObject({ indexStatus: 'INDEXED' });
});
afterAll(async () => {
  await Promise.all([api.close(), web.close(), server.close()]);
});

const call = (name: string, args: object, id = `call_${name}`): UpstreamScript => ({
  toolCalls: [{ id, name, arguments: JSON.stringify(args) }],
});
/** A text in pieces that cut every form in its middle. */
const pieces = (text: string) => text.match(/[\s\S]{1,5}/g) ?? [];
const lately = (text: string): UpstreamScript => ({ text: pieces(text), reasoning: `Thinking ${secret}` });
const last: UpstreamScript = lately(`It is ${forms.join(' and ')} [1], sk-CANAR`);

/** What a model does in one run, and the tools of its request. */
const scenarios: readonly (readonly [string, readonly object[], readonly UpstreamScript[]])[] = [
  ['web_search', [{ type: 'web_search' }], [call('web_search', { query: `Who has ${secret}?` })]],
  [
    'open_page',
    [{ type: 'web_search' }],
    [call('web_search', { query: 'keys' }), call('open_page', { url: `${web.url}/found` })],
  ],
  ['open_page of an address with it', [{ type: 'web_search' }], [call('open_page', { url: `${web.url}/${inAddress}` })]],
  ['file_search', [{ type: 'file_search' }], [call('search_knowledge', { query: `The key ${secret}` })]],
  ['an API function', [], [call('lookup', { secret })]],
  ['a tool of an MCP server', [], [call('tickets__echo', { text: forms.join(' ') })]],
  ['python', [{ type: 'python' }], [call('python', { code: `print(${JSON.stringify(forms.join(' '))})` })]],
  [
    'memory',
    [{ type: 'memory' }],
    [call('remember', { text: `The key is ${secret}`, key: secret }), call('recall', { query: 'key' })],
  ],
];

type Asked = { readonly tools: readonly object[]; readonly input: string };
const secrets = { KEY: secret };
/** Each answers all that its reader received. */
const surfaces: Readonly<Record<string, (asked: Asked) => Promise<unknown>>> = {
  async responses({ tools, input }) {
    const { status, body } = await ann.post('/api/v2/responses', { model: agentId, input, tools, user_secrets: secrets });
    expect(status, JSON.stringify(body)).toBe(200);
    const log = await Array.fromAsync(ann.sse('GET', `/api/v2/responses/${body.id}?stream=true`));
    return [body, log];
  },
  'responses, streamed': ({ tools, input }) =>
    ann.stream('/api/v2/responses', { model: agentId, input, tools, user_secrets: secrets, stream: true, store: false }),
  completions: async ({ tools, input }) => (await ann.post('/api/v1/chat/completions', completion(tools, input))).body,
  'completions, streamed': ({ tools, input }) =>
    ann.stream('/api/v1/chat/completions', { ...completion(tools, input), stream: true }),
  'chats, streamed': async ({ tools, input }) => {
    const chat = await make.chat({ owner: ann, agentId });
    const events = await ann.stream(`/api/v1/chats/${chat.id}/messages`, { prompt: input, tools, secrets, stream: true });
    return [events, (await ann.get(`/api/v1/chats/${chat.id}`)).body];
  },
  GraphQL: async ({ tools, input }) => {
    const chat = await make.chat({ owner: ann, agentId });
    const sent = await ann.graphql(
      'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id } }',
      { chatId: chat.id, input: graphqlInput({ prompt: input, tools, secrets }) },
    );
    expect(sent.errors).toBeUndefined();
    const { id } = sent.data.sendMessage;
    const events = await Array.fromAsync(
      ann.subscribe(
        `subscription ($id: ID!) { runEvents(runId: $id) {
          ... on TextDelta { delta } ... on CitationAdded { citation { name url snippet } }
          ... on ItemDone { item { ...Told } }
          ... on ToolCallStarted { call { ...Told } } ... on ToolCallCompleted { call { ...Told } } ... on ToolCallFailed { call { ...Told } }
          ... on RunEnded { run { output { ...Told } } }
        } }
        fragment Told on RunItem {
          ... on MessageItem { text citations { name url snippet } } ... on ReasoningItem { text }
          ... on CallItem { name arguments } ... on ToolOutputItem { output error { message } }
          ... on WebSearchItem { action query url sources { url title } output error { message } }
          ... on FileSearchItem { queries results { filename text } output error { message } }
          ... on McpCallItem { tool output error { message } } ... on McpToolsItem { unavailableReason tools { description } }
        }`,
        { id },
      ),
    );
    expect(JSON.stringify(events)).not.toContain('"errors"');
    return [events, (await ann.get(`/api/v1/runs/${id}/trace`)).body];
  },
};
const completion = (tools: readonly object[], input: string) => ({
  ...{ model: agentId, messages: [{ role: 'user', content: input }], tools, secrets, generateCitations: true },
});

const shows = (place: unknown) => {
  const text = typeof place === 'string' ? place : JSON.stringify(place);
  return traces
    .filter((trace) => text.includes(trace))
    .map((trace) => text.slice(text.indexOf(trace) - 300, text.indexOf(trace) + 30));
};

describe.each(Object.entries(surfaces).map(([name, ask], turn) => [name, ask, turn] as const))('%s', (_surface, ask, turn) => {
  it.each(inTurn(scenarios, turn))('shows no secret that %s tells', async (_name, tools, script) => {
    upstream.next(...script, last);
    const reply = await ask({ tools, input: 'What is the key?' });
    expect(shows(reply)).toEqual([]);
    expect(JSON.stringify(reply)).toContain('[secret]');
    expect(upstream.requests.length).toBe(script.length + 1);
    expect(upstream.requests.flatMap(({ body }) => shows(body))).toEqual([]);
    expect(messagesOf(upstream.requests.at(-1)).filter(({ role }) => role === 'tool')).toHaveLength(script.length);
  });

  it('shows no secret that a subagent and a client function tell', async () => {
    const add = { type: 'function', function: { name: 'add', parameters: { type: 'object' } } };
    upstream.otherwise((request) => {
      const messages = messagesOf(request);
      if (messages.some(({ content }) => content?.includes('DESK RULES') === true))
        return lately(`The desk says ${forms.join(' ')}.`);
      return messages.some(({ role }) => role === 'tool')
        ? call('add', { key: secret, all: forms })
        : call('ask_Desk', { question: `What is ${secret}?` });
    });
    const reply = await ask({ tools: [{ type: 'subagent', agents: [askedId] }, add], input: 'Ask the desk' });
    expect(shows(reply)).toEqual([]);
    expect(JSON.stringify(reply)).toContain('[secret]');
  });
});

/** Doors whose requests name functions of the client, and none of the tools of the service. */
const messages = [{ role: 'user', content: 'What is the key?' }];
function toRpc(method: string): object {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'What is the key?' }] };
  return { jsonrpc: '2.0', id: 1, method, params: { message, metadata: { secrets } } };
}
const doors = {
  Messages: ['/api/v1/messages', { max_tokens: 100, messages, secrets }],
  'Messages, streamed': ['/api/v1/messages', { max_tokens: 100, messages, secrets, stream: true }],
  A2A: ['/a2a/', toRpc('SendMessage')],
  'A2A, streamed': ['/a2a/', toRpc('SendStreamingMessage')],
  'AG-UI': ['/api/v1/ag-ui/', { threadId: 't', runId: 'r', messages, forwardedProps: { secrets } }],
} as const;

it.each(Object.entries(doors))('%s shows no secret that tools and the model tell', async (_door, [path, body]) => {
  upstream.next(call('lookup', { secret }), call('tickets__echo', { text: forms.join(' ') }), last);
  const reply = await ann.fetch(
    'POST',
    path.endsWith('/') ? path + agentId : path,
    path.endsWith('/') ? body : { model: agentId, ...body },
    { 'a2a-version': '1.0' },
  );
  const text = await reply.text();
  expect([reply.status, shows(text)]).toEqual([200, []]);
  expect(text).toContain('[secret]');
  expect(upstream.requests).toHaveLength(3);
});

it('keeps none of them in the event log, the messages, memories and the log of the service', async () => {
  expect(lines.flatMap(shows)).toEqual([]);
  // A person put the document there, with all that it tells.
  const rows = (await databaseText(service, /knowledge_items|chunks|chunk_texts|lexeme_/)).split('\n');
  expect(rows.flatMap(shows)).toEqual([]);
});
