import { CancelTaskRequest, SendMessageRequest, Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import { indexed } from '../../support/knowledge/knowledge.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

/** The stock client of the A2A protocol, unchanged, against a running service. */
const { service, make, upstream } = await withService('model');
let api: ApiServer;
let ann: Person;
let agentId: string;
const modelId = 'openai/test-model';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
// biome-ignore lint/suspicious/noExplicitAny: what the protocol sends, of any shape; what is found in it is what is checked.
type Wire = any;

beforeAll(async () => {
  api = await startApiServer();
  ann = await make.person({ role: 'ADMIN' });
  agentId = (await make.agent({ owner: ann, modelId, name: 'Desk', generateCitations: true })).id;
  const data = { description: 'Weather', parameters, method: 'GET', url: `${api.url}/{city}`, requireApproval: true };
  expect((await ann.post(`/api/v1/ais/${agentId}/tools`, { name: 'ask_weather', type: 'API_FUNCTION', data })).status).toBe(200);
  const skill = { name: 'returns', description: 'How goods come back', content: 'By post.' };
  expect((await ann.post(`/api/v1/ais/${agentId}/skills`, skill)).status).toBe(200);
  const source = await make.apiDataSource({ owner: ann, agentId, name: 'Prices', data: { repair: 'A repair costs 15 €' } });
  await indexed(ann, source.id);
});
beforeEach(() => {
  upstream.reset();
  api.reset();
});
afterAll(() => api.close());

const fetchAs =
  (key: string): typeof fetch =>
  (input, init) =>
    fetch(input, { ...init, headers: { ...init?.headers, authorization: `Bearer ${key}` } });

/** A client that has only the address of the agent, and a key. */
async function connect(who: Person, id = agentId) {
  const fetchImpl = fetchAs(who.key);
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return new ClientFactory(options).createFromUrl(`${service.url}/a2a/${id}/`);
}
const say = (content: string | readonly object[], more: object = {}, request: object = {}) =>
  SendMessageRequest.fromJSON({
    message: {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      parts: typeof content === 'string' ? [{ text: content }] : content,
      ...more,
    },
    ...request,
  });
const json = (task: unknown): Wire => Task.toJSON(task as Task);
/** The body of a call as it is, past the client. */
const rpc = async (method: string, params: unknown, headers: object = {}, who = ann, id = agentId): Promise<Wire> => {
  const reply = await who.fetch(
    'POST',
    `/a2a/${id}`,
    { jsonrpc: '2.0', id: 1, method, params },
    { 'a2a-version': '1.0', ...headers },
  );
  return { status: reply.status, ...(JSON.parse(await reply.text()) as object) };
};
const message = (more: object = {}) => ({ messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hi' }], ...more });

it('shows its card: to everybody only where the agent does, with its skills to who may use it', async () => {
  const path = `/a2a/${agentId}/.well-known/agent-card.json`;
  const bare = () => fetch(`${service.url}${path}`);
  expect((await bare()).status).toBe(404);
  const client = await connect(ann);
  const card = await client.getAgentCard();
  expect(card).toMatchObject({ name: 'Desk', capabilities: { streaming: true, pushNotifications: true } });
  expect(card.supportedInterfaces).toMatchObject([{ protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]);
  expect(card.skills.map(({ name }) => name)).toEqual(['Desk', 'returns']);
  expect((await ann.patch(`/api/v1/ais/${agentId}`, { visibility: 'ANYONE_WITH_LINK' })).status).toBe(200);
  const open = await bare();
  const body = (await open.json()) as Wire;
  expect([open.status, body.skills.length, open.headers.get('cache-control')]).toEqual([200, 1, 'public, max-age=60']);
  const etag = open.headers.get('etag') ?? '';
  expect((await fetch(`${service.url}${path}`, { headers: { 'if-none-match': etag } })).status).toBe(304);
  expect((await ann.patch(`/api/v1/ais/${agentId}`, { visibility: 'PRIVATE' })).status).toBe(200);
  const eve = await make.person();
  await expect(connect(eve)).rejects.toThrow(/404/);
});

it('answers a message with a task, its artifacts and its history, and goes on in its context', async () => {
  upstream.next({ text: ['It costs 15 € [1].', ' Ask us.'] }, { text: 'Gladly.' });
  const client = await connect(ann);
  const first = json(await client.sendMessage(say('What does a repair cost?', { messageId: 'm-1' })));
  expect(first).toMatchObject({
    status: { state: 'TASK_STATE_COMPLETED' },
    history: [{ messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'What does a repair cost?' }] }],
    metadata: { usage: { outputTokens: expect.any(Number) } },
  });
  expect(first.artifacts).toMatchObject([
    { parts: [{ text: 'It costs 15 € [1]. Ask us.' }, { data: { citations: [{ title: 'Prices' }] } }] },
  ]);
  const second = json(await client.sendMessage(say('Thanks', { contextId: first.contextId })));
  expect([second.contextId, second.id === first.id]).toEqual([first.contextId, false]);
  expect(upstream.requests[1]?.body?.messages).toMatchObject([
    {},
    { role: 'user' },
    { role: 'assistant' },
    { content: expect.stringMatching(/^Thanks/) },
  ]);
  expect(json(await client.getTask({ tenant: '', id: first.id, historyLength: 0 }))).toEqual({ ...first, history: undefined });
  expect((await ann.get(`/api/v2/responses/${first.id}`)).body).toMatchObject({
    id: first.id,
    conversation: { id: first.contextId },
  });
});

it('streams a task: its beginning, its text as it comes, its end; and lets others follow it', async () => {
  upstream.next({ text: ['One', ' two [1]', ' three'], chunkDelayMs: 150 });
  const client = await connect(ann);
  const events: Wire[] = [];
  let followed: Promise<readonly Wire[]> | undefined;
  for await (const { payload } of client.sendMessageStream(say('Count'))) {
    events.push(payload);
    if (payload?.$case === 'artifactUpdate') followed ??= collect(client.resubscribeTask({ tenant: '', id: events[0].value.id }));
  }
  expect(events.map(({ $case }) => $case).filter((kind, index, all) => kind !== all[index - 1])).toEqual([
    ...['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate'],
  ]);
  expect(textOf(events)).toBe('One two [1] three');
  expect(events.at(-1).value.status.state).toBe(3);
  const seen = (await followed) ?? [];
  expect(seen[0]).toMatchObject({ $case: 'task', value: { id: events[0].value.id } });
  const begun = seen[0].value.artifacts.flatMap(({ parts }: Wire) => parts.map(({ content }: Wire) => content.value)).join('');
  expect(begun + textOf(seen)).toBe('One two [1] three');
  await expect(collect(client.resubscribeTask({ tenant: '', id: events[0].value.id }))).rejects.toThrow(/completed/);
});
async function collect(stream: AsyncIterable<{ readonly payload?: Wire }>): Promise<readonly Wire[]> {
  const events: Wire[] = [];
  for await (const { payload } of stream) events.push(payload);
  return events;
}
const textOf = (events: readonly Wire[]): string =>
  events
    .flatMap(({ $case, value }) => ($case === 'artifactUpdate' ? value.artifact.parts : []))
    .flatMap(({ content }: Wire) => (content.$case === 'text' ? [content.value] : []))
    .join('');

it.each([
  [true, '/Paris'],
  [false, ''],
])('waits for its client where a call needs approval: %s', async (approved, path) => {
  const call = { id: 'call_1', name: 'ask_weather', arguments: '{"city":"Paris"}' };
  upstream.next({ toolCalls: [call] }, { text: 'It is done.' });
  const client = await connect(ann);
  const asked = json(await client.sendMessage(say('Ask for the weather')));
  expect(asked.status).toMatchObject({
    state: 'TASK_STATE_INPUT_REQUIRED',
    message: { role: 'ROLE_AGENT', parts: [{ data: { kind: 'approval', name: 'ask_weather', arguments: '{"city":"Paris"}' } }] },
  });
  expect(api.requests).toHaveLength(0);
  const { callId } = asked.status.message.parts[0].data;
  const done = json(await client.sendMessage(say([{ data: { callId, approved } }], { taskId: asked.id })));
  expect(done).toMatchObject({
    id: asked.id,
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ parts: [{ text: 'It is done.' }] }],
  });
  expect(api.requests.map((request) => request.path).join()).toContain(path);
  expect(api.requests).toHaveLength(approved ? 1 : 0);
  await expect(client.sendMessage(say('More', { taskId: asked.id }))).rejects.toThrow(/is completed/);
});

it('has its client run functions of the message, and takes what they gave', async () => {
  const call = { id: 'call_1', name: 'get_stock', arguments: '{"city":"Rome"}' };
  upstream.next({ text: 'One moment', toolCalls: [call] }, { text: 'Three are left.' });
  const tools = [{ name: 'get_stock', description: 'Looks it up', parameters }];
  const client = await connect(ann);
  const asked = json(await client.sendMessage(say('How many?', {}, { metadata: { tools } })));
  expect(asked.status.message.parts).toMatchObject([{ data: { kind: 'function', callId: 'call_1', name: 'get_stock' } }]);
  const answer = say([{ data: { callId: 'call_1', output: { left: 3 } } }], { taskId: asked.id }, { metadata: { tools } });
  const done = json(await client.sendMessage(answer));
  expect(done.artifacts.map(({ parts }: Wire) => parts[0].text)).toEqual(['One moment', 'Three are left.']);
  expect(done.history.map(({ parts }: Wire) => parts[0])).toMatchObject([{ text: 'How many?' }, { data: { callId: 'call_1' } }]);
});

it('works on when its client has left, is canceled, and is listed by its state and its context', async () => {
  const bob = await make.person();
  const own = (await make.agent({ owner: bob, modelId })).id;
  const client = await connect(bob, own);
  upstream.next({ text: ['a', 'b', 'c', 'd'], chunkDelayMs: 3_000 }, { text: 'Quick.' });
  const begun = json(await client.sendMessage(say('Slowly', {}, { configuration: { returnImmediately: true } })));
  expect(begun.status.state).toMatch(/WORKING|SUBMITTED/);
  const canceled = json(await client.cancelTask(CancelTaskRequest.fromJSON({ id: begun.id })));
  expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
  await expect(client.cancelTask(CancelTaskRequest.fromJSON({ id: begun.id }))).rejects.toThrow(/canceled already/);
  const quick = json(await client.sendMessage(say('Quickly')));
  const list = async (params: object) => (await rpc('ListTasks', params, {}, bob, own)).result;
  const ids = ({ tasks }: Wire) => tasks.map(({ id }: Wire) => id);
  const all = await list({});
  expect([ids(all), all.totalSize, all.nextPageToken, all.tasks[0].artifacts]).toEqual([[quick.id, begun.id], 2, '', undefined]);
  const page = await list({ pageSize: 1 });
  expect([ids(page), ids(await list({ pageSize: 1, pageToken: page.nextPageToken }))]).toEqual([[quick.id], [begun.id]]);
  expect(ids(await list({ status: 'TASK_STATE_CANCELED' }))).toEqual([begun.id]);
  expect(ids(await list({ contextId: quick.contextId, includeArtifacts: true }))).toEqual([quick.id]);
  expect(ids(await list({ statusTimestampAfter: '2999-01-01T00:00:00Z' }))).toEqual([]);
  expect(await list({ status: 'TASK_STATE_REJECTED' })).toMatchObject({ tasks: [], totalSize: 0 });
  // Of a person and an agent alone.
  expect((await rpc('GetTask', { id: quick.id })).error.code).toBe(-32001);
  expect((await rpc('GetTask', { id: quick.id }, {}, ann, own)).error.code).toBe(-32001);
});

it('takes what is said to a task that waits for another one of its context, and has it among those that wait', async () => {
  const bob = await make.person();
  const own = (await make.agent({ owner: bob, modelId })).id;
  const call = async (method: string, params: object) => rpc(method, params, {}, bob, own);
  const send = async (more: object) =>
    (await call('SendMessage', { message: message(more), configuration: { returnImmediately: true } })).result.task;
  upstream.next({ text: ['a', 'b', 'c', 'd'], chunkDelayMs: 3_000 }, { text: 'Both.' });
  const busy = await send({});
  await expect.poll(() => upstream.requests.length).toBe(1);
  const waiting = await send({ contextId: busy.contextId, messageId: 'm2' });
  expect(waiting.status.state).toBe('TASK_STATE_SUBMITTED');
  const listed = (await call('ListTasks', { status: 'TASK_STATE_SUBMITTED' })).result.tasks;
  expect(listed.map(({ id }: Wire) => id)).toEqual([waiting.id]);
  expect(await send({ taskId: waiting.id, messageId: 'm3', parts: [{ text: 'And this' }] })).toMatchObject({ id: waiting.id });
  await call('CancelTask', { id: busy.id });
  const ended = async () => (await call('GetTask', { id: waiting.id })).result;
  await expect.poll(async () => (await ended()).status.state).toBe('TASK_STATE_COMPLETED');
  expect((await ended()).artifacts.map(({ parts }: Wire) => parts[0].text)).toEqual(['Both.']);
  expect(upstream.requests).toHaveLength(2);
});

it('tells an address where a task stops, with the token and the credentials of its client', async () => {
  const client = await connect(ann);
  const authentication = { scheme: 'Bearer', credentials: 'of-mine' };
  const config = { url: `${api.url}/hook`, token: 'tok', authentication };
  upstream.next({ toolCalls: [{ id: 'c', name: 'ask_weather', arguments: '{"city":"Paris"}' }] }, { text: 'Done.' });
  const task = json(await client.sendMessage(say('Go', {}, { configuration: { taskPushNotificationConfig: config } })));
  const told = () => api.requests.filter(({ path }) => path === '/hook');
  await expect.poll(() => told().length, { timeout: 10_000 }).toBe(1);
  expect(told()[0]?.headers).toMatchObject({ authorization: 'Bearer of-mine', 'x-a2a-notification-token': 'tok' });
  expect(JSON.parse(told()[0]?.body ?? '')).toMatchObject({
    statusUpdate: { taskId: task.id, contextId: task.contextId, status: { state: 'TASK_STATE_INPUT_REQUIRED' } },
  });
  const own = TaskPushNotificationConfig.fromJSON({ taskId: task.id, id: 'second', url: `${api.url}/second` });
  expect(await client.createTaskPushNotificationConfig(own)).toMatchObject({ id: 'second', taskId: task.id });
  const named = { tenant: '', taskId: task.id, id: 'second' };
  expect(await client.getTaskPushNotificationConfig(named)).toMatchObject({ url: `${api.url}/second` });
  const all = { tenant: '', taskId: task.id, pageSize: 0, pageToken: '' };
  expect((await client.listTaskPushNotificationConfig(all)).configs).toMatchObject([
    { token: 'tok', authentication },
    { id: 'second' },
  ]);
  await client.deleteTaskPushNotificationConfig(named);
  await client.deleteTaskPushNotificationConfig(named);
  await expect(client.getTaskPushNotificationConfig(named)).rejects.toThrow(/no such configuration/);
  expect(json(await client.cancelTask(CancelTaskRequest.fromJSON({ id: task.id }))).status.state).toBe('TASK_STATE_CANCELED');
  await expect.poll(() => told().length, { timeout: 10_000 }).toBe(2);
  expect(JSON.parse(told()[1]?.body ?? '').statusUpdate.status.state).toBe('TASK_STATE_CANCELED');
  // No administrator sees them among the webhooks.
  expect((await ann.graphql('{ webhooks(first: 50) { nodes { url } } }')).data.webhooks.nodes).toEqual([]);
});

it.each([
  ['of no version', 'GetTask', { id: 'resp_x' }, { 'a2a-version': '' }, -32009, 'A2A-Version'],
  ['of another version', 'GetTask', { id: 'resp_x' }, { 'a2a-version': '0.3' }, -32009, 'A2A-Version'],
  ['of an unknown method', 'message/send', {}, {}, -32601, 'method'],
  ['without a message', 'SendMessage', {}, {}, -32602, 'message'],
  ['without parts', 'SendMessage', { message: message({ parts: [] }) }, {}, -32602, 'message.parts'],
  [
    'with two contents',
    'SendMessage',
    { message: message({ parts: [{ text: 'a', url: 'http://a.example' }] }) },
    {},
    -32602,
    'message.parts[0]',
  ],
  ['of the agent', 'SendMessage', { message: message({ role: 'ROLE_AGENT' }) }, {}, -32602, 'message.role'],
  [
    'with audio',
    'SendMessage',
    { message: message({ parts: [{ raw: 'AA==', mediaType: 'audio/wav' }] }) },
    {},
    -32005,
    'message.parts[0].mediaType',
  ],
  [
    'for audio',
    'SendMessage',
    { message: message(), configuration: { acceptedOutputModes: ['audio/wav'] } },
    {},
    -32005,
    'configuration.acceptedOutputModes',
  ],
  ['of an unknown task', 'SendMessage', { message: message({ taskId: 'none' }) }, {}, -32001, 'message.taskId'],
  ['of an unknown context', 'SendMessage', { message: message({ contextId: 'chat_none' }) }, {}, -32602, 'message.contextId'],
  [
    'with a faulty function',
    'SendMessage',
    { message: message(), metadata: { tools: [{ name: 'a b' }] } },
    {},
    -32602,
    'metadata.tools[0].name',
  ],
  [
    'for no call',
    'SendMessage',
    { message: message({ parts: [{ data: { callId: 'x', output: '' } }] }) },
    {},
    -32602,
    'message.parts[0].data',
  ],
  ['with a tenant', 'GetTask', { id: 'resp_x', tenant: 't' }, {}, -32602, 'tenant'],
  ['with a wrong page', 'ListTasks', { pageSize: 101 }, {}, -32602, 'pageSize'],
  ['with a wrong token', 'ListTasks', { pageToken: 'x' }, {}, -32602, 'pageToken'],
  [
    'of a user in its address',
    'CreateTaskPushNotificationConfig',
    { taskId: 'resp_x', url: 'http://a:b@c.example' },
    {},
    -32602,
    'url',
  ],
])('refuses a request %s, in the form of the protocol', async (_case, method, params, headers, code, field) => {
  const { error } = await rpc(method, params, headers);
  expect(error.code).toBe(code);
  expect(error.data.at(-1).fieldViolations.map((one: Wire) => one.field)).toContain(field);
});

it('refuses what is no request, a key that may not, and an agent that is not there', async () => {
  const post = async (body: string, headers: object = {}) => {
    const init = {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${ann.key}`, 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    };
    const reply = await fetch(`${service.url}/a2a/${agentId}`, init);
    const { error, id } = (await reply.json()) as Wire;
    return [reply.status, error.code, id];
  };
  expect(await post('{')).toEqual([200, -32700, null]);
  expect(await post('[]')).toEqual([200, -32600, null]);
  expect(await post('{"jsonrpc":"2.0","method":"GetTask"}')).toEqual([200, -32600, null]);
  expect(await post('{"jsonrpc":"2.0","id":"a","method":"GetTask","params":[]}')).toEqual([200, -32600, 'a']);
  expect(await post('{}', { authorization: 'Bearer none' })).toEqual([401, -32000, null]);
  const reader = await make.withKey(ann, { scopes: ['CHATS:READ'] });
  expect(await rpc('SendMessage', { message: message() }, {}, reader)).toMatchObject({ status: 403, error: { code: -32000 } });
  expect(await rpc('SendMessage', { message: message() }, {}, ann, 'ai_none')).toMatchObject({ status: 404 });
  const unserved = await rpc('SendMessage', { message: message({ referenceTaskIds: ['resp_x'] }), metadata: { theme: 'dark' } });
  expect(unserved.result.task.metadata.warnings).toMatchObject([
    { param: 'message.referenceTaskIds' },
    { param: 'metadata.theme' },
  ]);
});
