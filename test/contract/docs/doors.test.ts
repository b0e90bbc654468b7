import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

// docs/doors.md says what each protocol loses: every row of its table is tried here.

const { make, upstream } = await withService('model');
let api: ApiServer;
let ann: Person;
let agentId: string;
const model = 'openai/test-model';
const user = { role: 'user', content: 'Hi' };
// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape; what is found in them is what is checked.
type Wire = any;

beforeAll(async () => {
  api = await startApiServer();
  ann = await make.person();
  agentId = (await make.agent({ owner: ann, modelId: model })).id;
  const data = { description: 'Looks it up', parameters: { type: 'object' }, method: 'GET', url: `${api.url}/it` };
  expect((await ann.post(`/api/v1/ais/${agentId}/tools`, { name: 'look_up', type: 'API_FUNCTION', data })).status).toBe(200);
  return () => api.close();
});

const say = async (more: object): Promise<Wire> =>
  (await ann.post('/api/v1/messages', { model, max_tokens: 100, messages: [user], ...more })).body;
const refuses = async (more: object, name: string) => {
  const { type, error } = await say(more);
  expect([type, error?.message]).toEqual(['error', expect.stringMatching(new RegExp(`^${name}[.:]`))]);
};
const warns = async (more: object, param: string) => expect((await say(more)).warnings).toMatchObject([{ param }]);
const events = async (path: string, body: object): Promise<readonly Wire[]> =>
  (await ann.stream(path, body)).map(({ data }) => JSON.parse(data));
const run = (more: object) => events(`/api/v1/ag-ui/${agentId}`, { threadId: 't', runId: 'r', messages: [user], ...more });
const looksUp = () => upstream.next({ toolCalls: [{ id: 'call_1', name: 'look_up', arguments: '{}' }] }, { text: 'Found.' });

const rpc = async (method: string, params: object): Promise<Wire> => {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  return JSON.parse(await (await ann.fetch('POST', `/a2a/${agentId}`, body, { 'a2a-version': '1.0' })).text());
};
const send = async (part: object, more: object = {}, params: object = {}) =>
  rpc('SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [part], ...more }, ...params });

const rows: Readonly<Record<string, () => Promise<void>>> = {
  'a conversation that the service keeps (`thread`)': async () => {
    await refuses({ thread: { type: 'create' } }, 'thread');
    expect((await say({ thread: { type: 'create' } })).error.details).toMatchObject({ error_code: 'thread_unsupported_request' });
  },
  'servers of MCP, containers and `fallbacks` of a request': async () => {
    for (const name of ['mcp_servers', 'container', 'fallbacks']) await refuses({ [name]: [{}] }, name);
  },
  'tools of the vendor other than the search of the web': () =>
    refuses({ tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'tools.0.type'),
  'citations of documents and search results of the request': async () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'A' };
    const document = { type: 'document', source, citations: { enabled: true } };
    await refuses({ messages: [{ role: 'user', content: [document] }] }, 'messages.0.content.0.citations.enabled');
  },
  'thoughts that another service signed': () => {
    const thought = { type: 'thinking', thinking: 'Hm', signature: 'EqQB' };
    return warns(
      { messages: [user, { role: 'assistant', content: [thought, { type: 'text', text: 'Hi.' }] }, user] },
      'messages',
    );
  },
  '`context_management`, `speed` and other members about cost': async () => {
    await warns({ context_management: {} }, 'context_management');
    await warns({ speed: 'fast' }, 'speed');
  },
  'calls of tools of the service other than searches of the web': async () => {
    looksUp();
    expect((await say({ model: agentId })).content).toEqual([{ type: 'text', text: 'Found.', citations: null }]);
  },
  'the code of an error': async () =>
    expect(Object.keys((await say({ model: 'none' })).error).toSorted()).toEqual(['message', 'type']),
  'input tokens before the end of a stream': async () => {
    const body = { model, max_tokens: 100, messages: [user], stream: true };
    const stream = await events('/api/v1/messages', body);
    expect(stream[0].message.usage.input_tokens).toBe(0);
    expect(stream.find(({ type }) => type === 'message_delta').usage.input_tokens).toBeGreaterThan(0);
  },
  'the stop sequence, where the provider does not name it': async () =>
    expect(await say({ stop_sequences: ['END'] })).toMatchObject({ stop_reason: 'end_turn', stop_sequence: null }),
  'audio and video': async () => {
    for (const type of ['audio', 'video']) {
      const content = [{ type, source: { type: 'url', value: 'https://a.example' } }];
      const { status, body } = await ann.post(`/api/v1/ag-ui/${agentId}`, {
        ...{ threadId: 't', runId: 'r', messages: [{ role: 'user', content }] },
      });
      expect([status, body.error.param]).toEqual([400, 'messages[0].content[0].type']);
    }
  },
  'changes by the agent of a state that is no object, or has no members': async () => {
    for (const state of [{}, [1], 'open']) {
      upstream.reset();
      await run({ state });
      expect(JSON.stringify(upstream.requests[0]?.body?.tools ?? [])).not.toContain('update_state');
    }
    upstream.reset();
    await run({ state: { step: 1 } });
    expect(JSON.stringify(upstream.requests[0]?.body?.tools)).toContain('update_state');
    upstream.reset();
  },
  '`forwardedProps` other than `secrets`': async () => {
    const told = await run({ forwardedProps: { theme: 'dark' } });
    expect(told.find(({ name }) => name === 'warnings').value).toMatchObject([{ param: 'forwardedProps' }]);
    const text = await run({ forwardedProps: 'dark' });
    expect(text.find(({ name }) => name === 'warnings').value).toMatchObject([{ param: 'forwardedProps' }]);
  },
  'arguments and results of tools of the service': async () => {
    looksUp();
    const told = await run({});
    expect(told.filter(({ type }) => /^(STEP|TOOL)/.test(type))).toEqual([
      { type: 'STEP_STARTED', stepName: 'look_up' },
      { type: 'STEP_FINISHED', stepName: 'look_up' },
    ]);
  },
  'versions other than 1.0': async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: {} };
    const reply = await ann.fetch('POST', `/a2a/${agentId}`, body, {});
    expect(JSON.parse(await reply.text()).error).toMatchObject({ code: -32009, message: expect.stringContaining('1.0') });
  },
  'audio and video, also as output': async () => {
    for (const mediaType of ['audio/wav', 'video/mp4']) {
      expect((await send({ raw: 'AA==', mediaType })).error.code).toBe(-32005);
      const configuration = { acceptedOutputModes: [mediaType] };
      expect((await send({ text: 'Hi' }, {}, { configuration })).error.code).toBe(-32005);
    }
  },
  '`referenceTaskIds`, extensions and metadata other than `tools` and `secrets`': async () => {
    const { result } = await send({ text: 'Hi' }, { referenceTaskIds: ['t'], extensions: ['urn:a'] }, { metadata: { theme: 1 } });
    expect(result.task.metadata.warnings.map(({ param }: Wire) => param)).toEqual([
      ...['message.extensions', 'message.referenceTaskIds', 'metadata.theme'],
    ]);
  },
  'thoughts, and calls of tools of the service': async () => {
    looksUp();
    const { task } = (await send({ text: 'Look' })).result;
    expect(task.artifacts).toMatchObject([{ name: 'answer', parts: [{ text: 'Found.' }] }]);
  },
  'artifacts in push notifications': async () => {
    const taskPushNotificationConfig = { url: `${api.url}/told` };
    await send({ text: 'Hi' }, {}, { configuration: { taskPushNotificationConfig } });
    const told = () => api.requests.filter(({ path }) => path === '/told');
    await expect.poll(() => told().length, { timeout: 10_000 }).toBe(1);
    expect(Object.keys(JSON.parse(told()[0]?.body ?? '').statusUpdate)).toEqual(['taskId', 'contextId', 'status']);
  },
};

it('tries every row of the table', () => {
  const table = readFileSync('docs/doors.md', 'utf8').split('## What is lost')[1] ?? '';
  const lost = table.split('\n').flatMap((line) => (/^\| (?:Messages|AG-UI|A2A) /.test(line) ? [line.split(' | ')[1]] : []));
  expect(lost).toEqual(Object.keys(rows));
});

it.each(Object.entries(rows))('%s', (_row, tried) => tried());
