import { EventType, HttpAgent, type RunAgentParameters } from '@ag-ui/client';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import { indexed } from '../../support/knowledge/knowledge.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

/** The stock client of the AG-UI protocol, unchanged, against a running service. */
const { service, make, upstream } = await withService('model');
let api: ApiServer;
let ann: Person;
let agentId: string;
const modelId = 'openai/test-model';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' };

beforeAll(async () => {
  api = await startApiServer();
  ann = await make.person();
  agentId = (await make.agent({ owner: ann, modelId, instructions: 'Be brief.', generateCitations: true })).id;
  const data = { description: 'Weather', parameters, method: 'GET', url: `${api.url}/{city}`, requireApproval: true };
  const tool = { name: 'ask_weather', type: 'API_FUNCTION', data };
  expect((await ann.post(`/api/v1/ais/${agentId}/tools`, tool)).status).toBe(200);
  const source = await make.apiDataSource({ owner: ann, agentId, name: 'Prices', data: { repair: 'A repair costs 15 €' } });
  await indexed(ann, source.id);
});
beforeEach(() => upstream.reset());
afterAll(() => api.close());

const client = (more: object = {}) =>
  new HttpAgent({ url: `${service.url}/api/v1/ag-ui/${agentId}`, headers: { authorization: `Bearer ${ann.key}` }, ...more });

/** Runs to the end. @returns the events. */
async function run(agent: HttpAgent, more: RunAgentParameters = {}) {
  // biome-ignore lint/suspicious/noExplicitAny: events of any type; what is found in them is what is checked.
  const events: any[] = [];
  const { newMessages } = await agent.runAgent(more, { onEvent: ({ event }) => void events.push(event) });
  return { events, newMessages, last: events.at(-1) };
}
const says = (agent: HttpAgent, content: string) => agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
const asked = (index = 0) => upstream.requests[index]?.body?.messages as readonly { role: string; content: unknown }[];

it('shows a text with its citations, and the tokens', async () => {
  upstream.next({ text: ['It costs 15 € [1].', ' Ask us.'] });
  const agent = client();
  says(agent, 'What does a repair cost?');
  const { events, newMessages, last } = await run(agent);
  expect(newMessages).toMatchObject([{ role: 'assistant', content: 'It costs 15 € [1]. Ask us.' }]);
  expect(events.filter(({ name }) => name === 'citation')).toMatchObject([{ value: { title: 'Prices' } }]);
  expect(last).toMatchObject({ type: EventType.RUN_FINISHED, outcome: { type: 'success' }, usage: [{ model: 'test-model' }] });
});

it('has the client run its tools, and goes on with what they gave', async () => {
  const tools = [{ name: 'get_weather', description: 'Tells the weather', parameters }];
  upstream.next({ text: 'One moment', toolCalls: [call, { ...call, id: 'call_2' }] }, { text: 'It rains.' });
  const agent = client();
  says(agent, 'What is the weather?');
  const { newMessages, last } = await run(agent, { tools });
  expect(newMessages).toMatchObject([
    { role: 'assistant', content: 'One moment', toolCalls: [{ id: 'call_1' }, { id: 'call_2' }] },
  ]);
  expect(last.outcome).toEqual({ type: 'success', pendingToolCallIds: ['call_1', 'call_2'] });
  agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'call_1', content: 'rain' });
  agent.addMessage({ id: 'r2', role: 'tool', toolCallId: 'call_2', content: '', error: 'It broke' });
  expect((await run(agent, { tools })).newMessages).toMatchObject([{ role: 'assistant', content: 'It rains.' }]);
  expect(asked(1).slice(-2)).toMatchObject([{ content: 'rain' }, { content: 'It broke' }]);
});

it.each([
  [{ status: 'resolved' as const, payload: { approved: true } }, 1, '/Paris'],
  [{ status: 'resolved' as const, payload: { approved: true, arguments: { city: 'Rome' } } }, 1, '/Rome'],
  [{ status: 'resolved' as const, payload: { approved: false } }, 0, ''],
  [{ status: 'cancelled' as const }, 0, ''],
])('interrupts a run for approval, and resumes it: %j', async (answer, made, path) => {
  api.reset();
  upstream.next({ toolCalls: [{ ...call, name: 'ask_weather' }] }, { text: 'It is done.' });
  const agent = client();
  says(agent, 'Ask for the weather');
  const { last } = await run(agent);
  expect(last.outcome).toMatchObject({ type: 'interrupt', interrupts: [{ reason: 'tool_call' }] });
  expect(api.requests).toHaveLength(0);
  const [{ id: interruptId }] = last.outcome.interrupts;
  const resumed = await run(agent, { resume: [{ interruptId, ...answer }] });
  expect(resumed.newMessages).toMatchObject([{ role: 'assistant', content: 'It is done.' }]);
  expect(api.requests).toHaveLength(made);
  if (made > 0) expect(JSON.stringify(api.requests[0])).toContain(path);
});

it('takes clients from before 1.0, which know fewer members of an outcome and add the answer of a person as a result', async () => {
  const events = async (body: object) => {
    const headers = { authorization: `Bearer ${ann.key}`, 'content-type': 'application/json' };
    const run = { threadId: 't', runId: 'r', tools: [{ name: 'get_weather', description: '', parameters }], ...body };
    const path = `${service.url}/api/v1/ag-ui/${agentId}`;
    const text = await (await fetch(path, { method: 'POST', headers, body: JSON.stringify(run) })).text();
    return text.split('\n\n').flatMap((frame) => (frame.startsWith('data: ') ? [JSON.parse(frame.slice(6))] : []));
  };
  const messages: object[] = [{ id: 'm1', role: 'user', content: 'Ask for the weather' }];
  upstream.next({ toolCalls: [call] }, { toolCalls: [{ ...call, name: 'ask_weather' }] }, { text: 'It is done.' });
  expect((await events({ messages })).at(-1).outcome).toEqual({ type: 'success' });
  const { interrupts } = (await events({ messages })).at(-1).outcome;
  api.reset();
  const [{ id }] = interrupts;
  messages.push({
    id,
    role: 'assistant',
    toolCalls: [{ id, type: 'function', function: { name: 'ask_weather', arguments: '{"city":"Paris"}' } }],
  });
  messages.push({ id: 'm3', role: 'tool', toolCallId: id, content: '{"approved":true}' });
  const resumed = await events({ messages, resume: [{ interruptId: id, status: 'resolved', payload: { approved: true } }] });
  expect(resumed.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  expect(api.requests).toHaveLength(1);
});

it('lets the model read state and context', async () => {
  upstream.next({ text: 'I see.' });
  const agent = client({ initialState: { step: 'packing' } });
  says(agent, 'Where are we?');
  const { events } = await run(agent, { context: [{ description: 'Page', value: 'Orders' }] });
  expect(events[1]).toMatchObject({ type: EventType.STATE_SNAPSHOT, snapshot: { step: 'packing' } });
  expect(agent.state).toEqual({ step: 'packing' });
  const told = JSON.stringify(asked());
  expect([told.includes('Page: Orders'), told.includes('packing')]).toEqual([true, true]);
});

it('has the model change the state, which the client sees at once', async () => {
  const args = JSON.stringify({ changes: { step: 'sent', items: { 'a/b': 2, old: null }, note: { text: 'Done' } } });
  upstream.next({ toolCalls: [{ id: 'call_s', name: 'update_state', arguments: args }] }, { text: 'It is sent.' });
  const agent = client({ initialState: { step: 'packing', items: { 'a/b': 1, old: true }, kept: [1] } });
  says(agent, 'Send it');
  const { events } = await run(agent);
  const state = { step: 'sent', items: { 'a/b': 2 }, note: { text: 'Done' }, kept: [1] };
  expect(agent.state).toEqual(state);
  expect(events.filter(({ type }) => type === EventType.STATE_DELTA).map(({ delta }) => delta)).toEqual([
    [
      { op: 'add', path: '/step', value: 'sent' },
      { op: 'add', path: '/items/a~1b', value: 2 },
      { op: 'remove', path: '/items/old' },
      { op: 'add', path: '/note', value: { text: 'Done' } },
    ],
  ]);
  // The next run has it.
  says(agent, 'And now?');
  await run(agent);
  expect(JSON.stringify(asked(2))).toContain('\\"step\\":\\"sent\\"');
});

it('tells the model what is wrong with a change of the state, and leaves the state', async () => {
  upstream.next(
    { toolCalls: [{ id: 'call_1', name: 'update_state', arguments: '{"changes":[1]}' }] },
    { toolCalls: [{ id: 'call_2', name: 'update_state', arguments: '{"changes":{"__proto__":{"a":1}}}' }] },
    { text: 'I cannot.' },
  );
  const agent = client({ initialState: { step: 'packing' } });
  says(agent, 'Send it');
  const { events } = await run(agent);
  expect(agent.state).toEqual({ step: 'packing' });
  expect(events.some(({ type }) => type === EventType.STATE_DELTA)).toBe(false);
  expect(JSON.stringify(asked(2))).toContain('changes must be an object');
  expect(JSON.stringify(asked(2))).toContain('No member can be called __proto__');
});

it('leaves a tool of the client that changes the state in its place', async () => {
  upstream.next({ toolCalls: [{ id: 'call_1', name: 'update_state', arguments: '{"changes":{"step":"sent"}}' }] });
  const agent = client({ initialState: { step: 'packing' } });
  says(agent, 'Send it');
  const { last } = await run(agent, { tools: [{ name: 'update_state', description: 'Mine', parameters: { type: 'object' } }] });
  expect(last.outcome).toMatchObject({ type: 'success', pendingToolCallIds: ['call_1'] });
  expect(agent.state).toEqual({ step: 'packing' });
});

it('gives thoughts back, and warns of what has no effect', async () => {
  upstream.next({ reasoning: 'Let me see', text: 'Yes.' }, { text: 'Again.' });
  const agent = client();
  says(agent, 'Is it?');
  const { events } = await run(agent, { forwardedProps: { theme: 'dark' } });
  const types = events.map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(['REASONING_START', 'REASONING_MESSAGE_CONTENT', 'REASONING_ENCRYPTED_VALUE']));
  expect(events.find(({ name }) => name === 'warnings')).toMatchObject({ value: [{ param: 'forwardedProps' }] });
  expect(agent.messages.find(({ role }) => role === 'reasoning')).toMatchObject({ content: 'Let me see' });
  says(agent, 'Sure?');
  expect((await run(agent)).last.type).toBe(EventType.RUN_FINISHED);
});

it('ends with an error event once the stream is open, and refuses before', async () => {
  const agent = client();
  says(agent, 'Hi');
  upstream.next({ text: ['a', 'b', 'c'], chunkDelayMs: 10, cutAtByte: 500 });
  expect((await run(agent)).last).toMatchObject({ type: EventType.RUN_ERROR, code: 'upstream_error' });
  const post = async (body: object, path = agentId) => {
    const { status, body: reply } = await ann.post(`/api/v1/ag-ui/${path}`, { threadId: 't', runId: 'r', messages: [], ...body });
    return [status, reply.error.code, reply.error.param];
  };
  const user = [{ id: 'm', role: 'user', content: 'Hi' }];
  expect(await post({ messages: user, protocolVersion: '2.0' })).toEqual([400, 'invalid_value', 'protocolVersion']);
  expect(await post({ messages: [{ role: 'user', content: [{ type: 'audio' }] }] })).toEqual([
    ...[400, 'invalid_value', 'messages[0].content[0].type'],
  ]);
  expect(await post({ messages: [{ role: 'user', content: [] }] })).toEqual([400, 'invalid_value', 'messages[0].content']);
  expect(await post({ messages: user, extra: 1 })).toEqual([400, 'invalid_value', 'extra']);
  expect(await post({ messages: user, resume: [{ interruptId: 'none', status: 'resolved' }] })).toEqual([
    ...[400, 'invalid_value', 'resume[0].interruptId'],
  ]);
  expect((await post({ messages: user }, 'ai_none'))[0]).toBe(404);
});
