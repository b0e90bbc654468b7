import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Collector, startCollector } from '../../support/apis/collector.ts';
import { graphqlResponse } from '../../support/apis/graphql-inputs.ts';
import { startApiServer } from '../../support/egress/api-server.ts';
import { eventually } from '../../support/processes/eventually.ts';
import type { WireEvent } from '../../support/runs/response-walk.ts';
import { endedResponse } from '../../support/runs/responses.ts';
import { withService } from '../../support/service.ts';
import { databaseText } from '../../support/storage/dump.ts';
import { never } from '../../support/upstream.ts';

/** Every place that accepts a secret, each with a value of its own; and every place that might reveal it. */
const planted = new Map<string, string>();
function plant(place: string): string {
  const value = `CANARY${planted.size}z-${Buffer.from(place).toString('hex').slice(0, 24)}`;
  planted.set(place, value);
  return value;
}
/** Places whose secrets a tool must have received, so that there was something to leak. */
const reaching = [
  ...['a chat turn', 'outputs of tools', 'a response', 'a response that is not stored', 'a stream', 'a steering request'],
  ...['a response that waits', 'resume', 'a variable of GraphQL', 'a socket'],
];
/** Secrets that were revealed, by place. */
const seen = new Map<string, string[]>();
function note(place: string, text: unknown): void {
  seen.set(place, [...(seen.get(place) ?? []), typeof text === 'string' ? text : JSON.stringify(text)]);
}

const responses = '/api/v2/responses';
const model = 'openai/test-model';
const collector: Collector = await startCollector();
const { service, make, upstream } = await withService('model', {
  env: {
    LOG_LEVEL: 'trace',
    OPENAI_API_KEY: plant('the key of a model provider'),
    ANTHROPIC_API_KEY: plant('the key of another model provider'),
    PARLEY_MASTER_KEY: plant('the master key'),
    PARLEY_ADMIN_KEY: plant('the first key'),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `api-key=${plant('the key of a collector')}`,
    OTEL_BSP_SCHEDULE_DELAY: '20',
  },
  onLog: (line) => note('the log', line),
});

const api = await startApiServer();
const ann = await make.person();
planted.set('the key of a caller', ann.key);
const agentId = (await make.agent({ owner: ann })).id;
// An API that returns everything it received, in valid and invalid replies.
api.answer(({ path, headers, body }) => ({
  status: path.includes('fails') ? 500 : 200,
  body: JSON.stringify({ path, headers, body, hex: Buffer.from(String(headers.authorization)).toString('hex') }),
}));

afterAll(() => Promise.all([api.close(), collector.close()]));

const posted = async (place: string, path: string, body: unknown, who = ann): Promise<WireEvent> => {
  const reply = await who.post(path, body);
  note(place, reply.body);
  return reply.body;
};
const calls = (name: string, args = '{}') => ({ toolCalls: [{ id: `call_${name}`, name, arguments: args }] });

it('secrets of callers are accepted in every place', async () => {
  const wrong = service.client(plant('a wrong key'));
  note('a refusal', (await wrong.get('/api/v1/groups')).body);
  note('a refusal', (await ann.get(`/api/v1/ais?cursor=${plant('a query')}`)).body);
  note('a refusal', (await service.nobody.post(responses, { user_secrets: { A: plant('a body without a key') } })).body);
  const made = (await ann.post('/api/v1/api-keys', { name: 'Another', scopes: ['CHATS:READ'] })).body;
  planted.set('a key that was made', made.key);
  await ann.delete(`/api/v1/api-keys/${made.id}`);
  note('a refusal', (await service.client(made.key).get('/api/v1/groups')).body);

  // Credentials that are stored encrypted.
  const tool = (name: string, data: object) =>
    posted('a tool', `/api/v1/ais/${agentId}/tools`, { name, type: 'API_FUNCTION', data: { method: 'POST', ...data } });
  await tool('echo', {
    url: `${api.url.replace('//', `//user:${plant('the password of an address')}@`)}/echo?token=${plant('the query of an address')}`,
    headers: { authorization: `Bearer ${plant('a header of a tool')}`, 'x-user': '{{secret:USER_TOKEN}}' },
    body: { api_key: plant('the body of a tool') },
  });
  await tool('fails', { url: `${api.url}/fails`, headers: { 'x-user': '{{secret:USER_TOKEN}}' } });
  await tool('auth', { url: `${api.url}/auth`, auth: { type: 'bearerToken', token: plant('the credential of a tool') } });
  await posted('a secret', `/api/v1/ais/${agentId}/secrets`, { key: 'SPARE', value: plant('a secret of an agent') });
  const connection = { provider: 'WIKI', accountName: 'Ann', scopes: [], baseUrl: 'https://wiki.example.com' };
  const tokens = { accessToken: plant('an access token'), refreshToken: plant('a refresh token') };
  await posted('a connection', '/api/v1/connections', { ...connection, ...tokens });
  await posted('a connection', '/api/v1/connections/mcp-servers', {
    ...{ name: 'Weather', url: 'https://mcp.example.com/mcp' },
    headers: { authorization: `Bearer ${plant('a header of an MCP server')}` },
  });
  const upload = (
    await ann.post(`/api/v1/ais/${agentId}/data-sources/upload-token`, {
      filename: 'a.md',
      contentType: 'text/markdown',
      size: 2,
    })
  ).body;
  planted.set('the ticket of an upload', new URL(upload.url).searchParams.get('ticket') ?? '');
  await service.nobody.put(upload.url.slice(service.url.length), 'Hi', { 'content-type': 'text/markdown' });

  // Secrets of one request: of chats and completions …
  const chat = (await ann.post(`/api/v1/ais/${agentId}/chats`)).body;
  const turns = `/api/v1/chats/${chat.id}/messages`;
  const secrets = (place: string) => ({ USER_TOKEN: plant(place) });
  upstream.next(calls('echo'), calls('fails'), calls('auth'), { text: 'Done.' });
  await posted('a chat', turns, { prompt: 'Hi', secrets: secrets('a chat turn') });
  upstream.next({ status: 500 });
  await posted('a refusal', turns, { prompt: 'Hi', secrets: secrets('a chat turn whose model fails') });
  await posted('a refusal', turns, { prompt: 'Hi', secrets: plant('secrets of a wrong type') });
  const add = { type: 'function', function: { name: 'add', parameters: { type: 'object' } } };
  upstream.next(calls('add'), calls('echo'), { text: 'Done.' });
  const asking = await posted('a chat', turns, { prompt: 'Add', tools: [add] });
  const outputs = [{ toolCallId: 'call_add', status: 'success', output: '3' }];
  await posted('a chat', `/api/v1/chats/${chat.id}/tool-outputs`, {
    ...{ systemMessageId: asking.message.id, outputs },
    secrets: secrets('outputs of tools'),
  });

  // … and of responses, in each way to begin and continue one.
  const begin = (place: string, members: object = {}) =>
    posted('a response', responses, { model: agentId, input: 'Hi', user_secrets: secrets(place), ...members });
  upstream.next(calls('echo'), calls('fails'), { text: 'Done.' });
  const first = await begin('a response');
  upstream.next(calls('echo'));
  await begin('a response that is not stored', { store: false });
  upstream.next(calls('echo'));
  note('a stream', await ann.stream(responses, { model: agentId, input: 'Hi', stream: true, user_secrets: secrets('a stream') }));
  upstream.next(calls('python', JSON.stringify({ code: `print("${plant('a program of a model')}"[::1])` })));
  await begin('unused', { tools: [{ type: 'python' }], user_secrets: { P: planted.get('a program of a model') } });
  let open = () => {};
  upstream.next(
    { gate: new Promise<void>((resolve) => (open = resolve)), text: 'First.' },
    calls('echo'),
    { text: 'Steered.' },
    calls('echo'),
  );
  const before = upstream.requests.length;
  const busy = await begin('a response in the background', { background: true });
  await upstream.until(({ requests }) => requests.length > before);
  const conversation = busy.conversation.id;
  const waiting = await begin('a response that waits', { background: true, conversation });
  const other = await begin('a response that is cancelled before its turn', { background: true, conversation });
  await ann.post(`${responses}/${other.id}/cancel`);
  await begin('a steering request', { background: true, conversation, thread_mode: 'steer' });
  open();
  await endedResponse(ann, waiting.id);
  upstream.next({ text: ['x ', 'x '], restGate: never });
  const paused = await begin('a response that is paused', { background: true });
  await eventually(async () => expect((await ann.get(`${responses}/${paused.id}`)).body.output).toHaveLength(1));
  await ann.post(`${responses}/${paused.id}/pause`);
  upstream.next(calls('echo'));
  await posted('a response', `${responses}/${paused.id}/resume`, { user_secrets: secrets('resume') });
  await posted('a refusal', responses, { model, input: 'Hi', user_secrets: { A: [plant('a secret that is no text')] } });
  await posted('a refusal', responses, {
    model,
    input: 'Hi',
    user_secrets: { A: plant('a secret that is too long').repeat(200) },
  });
  upstream.next(calls('echo'));
  note(
    'graphql',
    await ann.graphql(
      'mutation ($input: ResponseInput!) { createResponse(input: $input) { id text output { ... on MessageItem { text } ... on CallItem { arguments } } request { format { schema } functions { name } } } }',
      {
        input: graphqlResponse({ model: agentId, input: 'Hi', store: false, user_secrets: secrets('a variable of GraphQL') }),
      },
    ),
  );
  note('graphql', await ann.graphql(`mutation { nonsense(secret: "${plant('a document of GraphQL')}") }`));
  note('a socket', await overSocket({ model: agentId, input: 'Hi', user_secrets: secrets('a socket') }));
  planted.delete('unused');
  const reached = new Set(api.requests.map(({ headers }) => String(headers['x-user'])));
  for (const place of reaching) expect(reached, place).toContain(planted.get(place));

  for (const { id } of [first, busy, waiting, other, paused]) {
    for (const path of ['', '/input_items', '?stream=true']) {
      const reply = await ann.get(`${responses}/${id}${path}`, path === '?stream=true' ? { accept: 'text/event-stream' } : {});
      note('what is kept of a response', reply.body);
    }
  }
  expect(JSON.stringify(seen.get('what is kept of a response'))).toContain('[secret]');
  for (const path of [
    ...[`/api/v1/chats/${chat.id}`, `/api/v1/chats/${chat.id}/export`, '/api/v1/chats', `/api/v1/ais/${agentId}/export`],
    ...[
      `/api/v1/ais/${agentId}/tools`,
      `/api/v1/ais/${agentId}/secrets`,
      '/api/v1/connections',
      '/api/v1/usage',
      '/api/v1/api-keys',
    ],
    ...['/openapi.json', '/healthz', '/readyz'],
  ]) {
    const reply = await ann.get(path);
    expect(reply.status, path).toBe(200);
    note(path.includes('export') ? 'an export' : 'a list', reply.body);
  }
  note('the audit log', (await service.client().get('/api/v1/admin/audit-log?limit=100')).body);
  note('the metrics', (await service.nobody.get('/metrics')).body);
  await eventually(async () => expect(collector.spans.some(({ name }) => name.startsWith('GET /api/v1/admin'))).toBe(true));
  expect(collector.faults).toEqual([]);
  for (const name of ['invoke_agent', 'execute_tool', 'chat', 'WS']) expect(collector.bodies).toContain(`"name":"${name}`);
  note('the traces', collector.bodies);
  note(
    'the model',
    upstream.requests.map(({ body }) => body),
  );
  note('the database', await databaseText(service));
  note('the data folder', filesOf(service.deps.settings.DATA_DIR));
});

it('and revealed in none', () => {
  expect([...planted.values()].every((value) => value.length > 12)).toBe(true);
  expect(planted.size).toBeGreaterThanOrEqual(25);
  expect([...seen.keys()].sort()).toMatchInlineSnapshot(`
    [
      "a chat",
      "a connection",
      "a list",
      "a refusal",
      "a response",
      "a secret",
      "a socket",
      "a stream",
      "a tool",
      "an export",
      "graphql",
      "the audit log",
      "the data folder",
      "the database",
      "the log",
      "the metrics",
      "the model",
      "the traces",
      "what is kept of a response",
    ]
  `);
  for (const [place, texts] of seen) {
    const text = texts.join('\n');
    expect(text.length, place).toBeGreaterThan(0);
    for (const [name, value] of planted) {
      for (const form of [value, Buffer.from(value).toString('base64').slice(0, -4), Buffer.from(value).toString('hex')]) {
        expect(text.includes(form), `${name}, in ${place}`).toBe(false);
      }
    }
  }
});

async function overSocket(members: object): Promise<string> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}${responses}`, {
    headers: { authorization: `Bearer ${ann.key}` },
  });
  upstream.next(calls('echo'));
  let text = '';
  await new Promise<void>((resolve, reject) => {
    socket.on('open', () => socket.send(JSON.stringify({ type: 'response.create', ...members })));
    socket.on('message', (data) => {
      text += String(data);
      if (/"type":"response\.(?:completed|failed)"/.test(String(data))) resolve();
    });
    socket.on('error', reject);
  });
  socket.close();
  return text;
}

/** All files of a folder, also those of the embedded database. */
function filesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => `${name}\n${readFileSync(join(folder, name), 'latin1')}`)
    .join('\n');
}
