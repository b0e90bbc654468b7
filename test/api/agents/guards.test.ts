import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import type { Person } from '../../support/make.ts';
import { keepWithinDay } from '../../support/processes/days.ts';
import { withService } from '../../support/service.ts';
import { heldAnswer } from '../../support/upstream.ts';

/** What a guard masks: no model gets a value, answers have it where it is put back, and nothing that leaves has it where it is not. */
const { service, make, upstream } = await withService('model');
const modelId = 'openai/test-model';
const values = ['ann@example.com', '+49 30 901820', 'DE89 3704 0044 0532 0130 00', '4111 1111 1111 1111', '192.168.7.20'];
const labels = ['EMAIL', 'PHONE', 'IBAN', 'CARD', 'IP_ADDRESS'];
const text = `Reach me: ${values.join('; ')}. Order A-12345.`;
let api: ApiServer;
let boss: Person;
let agentId: string;

beforeAll(async () => {
  api = await startApiServer();
  return () => api.close();
});
beforeEach(keepWithinDay);
beforeEach(async () => {
  upstream.reset();
  api.reset();
  boss = await make.person({ role: 'ADMIN' });
  agentId = (await make.agent({ owner: boss, modelId })).id;
  const parameters = { type: 'object', properties: { who: { type: 'string' } } };
  const data = { description: 'Finds', parameters, method: 'GET', url: `${api.url}/find/{who}` };
  expect((await boss.post(`/api/v1/ais/${agentId}/tools`, { name: 'find', type: 'API_FUNCTION', data })).status).toBe(200);
});
afterAll(() => api.close().catch(() => undefined));

const setAgent = `mutation ($agentId: ID!, $input: GuardInput!) { setAgentGuard(agentId: $agentId, input: $input) { kinds patterns { name lengthMax } putsBack } }`;
const setOwn = `mutation ($input: GuardInput!) { setOrganizationGuard(input: $input) { kinds putsBack modelId } }`;
const kinds = [...labels, 'API_KEY', 'PRIVATE_KEY'];
const asked = (index = 0) => JSON.stringify(upstream.requests[index]?.body?.messages);
const shows = (shown: string) => values.filter((value) => shown.includes(value));
const ways: Readonly<Record<string, (who: Person, question: string) => Promise<string>>> = {
  completion: async (who, content) =>
    JSON.stringify((await who.post('/api/v1/chat/completions', { model: agentId, messages: [{ role: 'user', content }] })).body),
  'completion stream': async (who, content) => {
    const body = { model: agentId, stream: true, messages: [{ role: 'user', content }] };
    const frames = (await who.stream('/api/v1/chat/completions', body)).filter(({ data }) => data !== '[DONE]');
    return frames.map(({ data }) => JSON.parse(data).choices[0]?.delta.content ?? '').join('');
  },
  response: async (who, input) => JSON.stringify((await who.post('/api/v2/responses', { model: agentId, input })).body.output),
  message: async (who, content) =>
    JSON.stringify(
      (await who.post('/api/v1/messages', { model: agentId, max_tokens: 100, messages: [{ role: 'user', content }] })).body,
    ),
  A2A: async (who, question) => {
    const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: question }] } };
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params };
    const reply = await who.fetch('POST', `/a2a/${agentId}`, body, { 'a2a-version': '1.0' });
    return JSON.stringify(JSON.parse(await reply.text()).result.task.artifacts);
  },
};

describe.each(Object.entries(ways))('%s', (_way, ask) => {
  it('gives the model names in place of values, and the reader the values', async () => {
    const patterns = [{ name: 'ORDER', pattern: 'A-[0-9]{5}', lengthMax: 7 }];
    expect((await boss.graphql(setAgent, { agentId, input: { kinds, patterns } })).errors).toBeUndefined();
    // In pieces that cut the names in two.
    upstream.next({ text: ['I will write to [EMA', 'IL_1] and call [PHONE_', '1], about [ORDER_1', '].'] });
    const answer = await ask(boss, text);
    expect([shows(asked()), asked().includes('A-12345')]).toEqual([[], false]);
    for (const label of [...labels, 'ORDER']) expect(asked()).toContain(`[${label}_1]`);
    expect(answer).toContain('write to ann@example.com and call +49 30 901820, about A-12345.');
  });

  it('shows nobody a value where none is put back, also what the model and tools tell', async () => {
    expect((await boss.graphql(setOwn, { input: { kinds, putsBack: false } })).errors).toBeUndefined();
    api.answer(() => ({ body: JSON.stringify({ owner: values[0], at: values[4] }) }));
    upstream.next(
      { toolCalls: [{ id: 'c', name: 'find', arguments: '{"who":"[EMAIL_1]"}' }] },
      { text: ['Ask bob@exam', 'ple.org or +49 30', ' 901820 at once', '.'] },
    );
    const answer = await ask(boss, text);
    expect([shows(asked(0)), shows(asked(1)), shows(answer)]).toEqual([[], [], []]);
    expect(answer).not.toContain('bob@');
    expect(answer).toMatch(/Ask \[EMAIL_\d\] or \[PHONE_1\] at once\./);
    expect(decodeURIComponent(api.requests[0]?.path ?? '')).toBe('/find/[EMAIL_1]');
  });
});

it('gives tools the values where they are put back, and models what tools tell without them', async () => {
  await boss.graphql(setAgent, { agentId, input: { kinds: ['EMAIL'] } });
  api.answer(() => ({ body: '{"boss":"carl@example.com"}' }));
  upstream.next({ toolCalls: [{ id: 'c', name: 'find', arguments: '{"who":"[EMAIL_1]"}' }] }, { text: 'It is [EMAIL_2].' });
  const answer = await ways.response?.(boss, 'Who is the boss of ann@example.com?');
  expect(decodeURIComponent(api.requests[0]?.path ?? '')).toBe('/find/ann@example.com');
  expect(asked(1)).not.toContain('carl@');
  expect(answer).toContain('It is carl@example.com.');
});

it('masks a chat alike in each turn, and counts by kind without a value', async () => {
  await boss.graphql(setOwn, { input: { kinds } });
  const chat = await make.chat({ owner: boss, agentId });
  upstream.next({ text: 'Noted [EMAIL_1].' }, { text: 'Yes.' });
  await boss.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'I am ann@example.com' });
  await boss.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Also eve@example.com' });
  const [first, second] = [0, 1].map((index) => upstream.requests[index]?.body?.messages as readonly { content: string }[]);
  expect(second?.slice(0, first?.length)).toEqual(first);
  expect(JSON.stringify(second)).toContain('Also [EMAIL_2]');
  expect(JSON.stringify((await boss.get(`/api/v1/chats/${chat.id}`)).body)).toContain('Noted ann@example.com.');
  const counts = `query { guardCounts(since: "2020-01-01T00:00:00Z", until: "2020-12-31T00:00:00Z") { kind count } }`;
  expect((await boss.graphql(counts)).data.guardCounts).toEqual([]);
  const day = service.deps.now().toISOString();
  const today = counts.replace('2020-01-01T00:00:00Z', `${day.slice(0, 10)}T00:00:00Z`).replace('2020-12-31T00:00:00Z', day);
  await expect
    .poll(async () => (await boss.graphql(today)).data?.guardCounts, { timeout: 10_000 })
    .toEqual([{ kind: 'EMAIL', count: 3 }]);
});

it.each([
  ['days that end before they begin', '2026-02-01', '2026-01-01', 'until'],
  ['more than 400 days', '2020-01-01', '2026-01-01', 'since'],
])('counts no values of %s', async (_case, since, until, path) => {
  const counts = 'query ($since: DateTime!, $until: DateTime!) { guardCounts(since: $since, until: $until) { kind } }';
  const { errors } = await boss.graphql(counts, { since: `${since}T00:00:00Z`, until: `${until}T00:00:00Z` });
  expect(errors?.[0]?.extensions.faults).toMatchObject([{ path }]);
});

it('asks its model for names, and asks nothing where that does not answer', async () => {
  await boss.graphql(setOwn, { input: { modelId } });
  upstream.next({ text: '["Ann Lee"]' }, { text: 'Hello [PERSONAL_1].' });
  expect(await ways.completion?.(boss, 'I am Ann Lee')).toContain('Hello Ann Lee.');
  expect(asked(1)).toContain('I am [PERSONAL_1]');
  upstream.reset();
  upstream.next({ text: 'no list' });
  expect(await ways.completion?.(boss, 'I am Ann Lee')).toContain('did not answer');
  expect(upstream.requests).toHaveLength(1);
});

it('ends a message of a chat and a background response where the model of its guard does not answer', async () => {
  await boss.graphql(setOwn, { input: { modelId } });
  const chat = await make.chat({ owner: boss, agentId });
  upstream.next({ text: 'no list' }, { text: 'no list' });
  const reply = await boss.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'I am Ann Lee' });
  expect(JSON.stringify(reply.body)).toContain('did not answer');
  const { body } = await boss.post('/api/v2/responses', { model: agentId, input: 'I am Ann Lee', background: true });
  const shown = () => boss.get(`/api/v2/responses/${body.id}`).then((got) => got.body.status);
  await expect.poll(shown, { timeout: 10_000 }).toBe('failed');
  expect(upstream.requests).toHaveLength(2);
});

it('has its model read all that users say, also in a message that joins a run, and refuses what is more', async () => {
  await boss.graphql(setOwn, { input: { modelId } });
  const filler = 'word '.repeat(6_000);
  upstream.next({ text: '["Eve Roe"]' }, { text: '["Ann Lee"]' }, { text: 'Done.' });
  expect(await ways.completion?.(boss, `Ann Lee and Eve Roe ${filler} Ann Lee and Eve Roe`)).toContain('Done.');
  expect(upstream.requests).toHaveLength(3);
  expect([asked(0).includes('Ann Lee'), asked(1).includes('Eve Roe')]).toEqual([true, true]);
  expect(asked(2)).not.toMatch(/Ann Lee|Eve Roe/);
  upstream.reset();
  expect(await ways.completion?.(boss, 'word '.repeat(50_000))).toContain('context_length_exceeded');
  expect(upstream.requests).toEqual([]);
  const chat = await make.chat({ owner: boss, agentId });
  const { script, goOn } = heldAnswer({ text: ['one ', 'two'] });
  upstream.next({ text: '[]' }, script, { text: '["Ann Lee"]' }, { text: 'Hello [PERSONAL_1].' });
  const path = `/api/v1/chats/${chat.id}/messages`;
  const first = boss.stream(path, { prompt: 'A', stream: true });
  await expect.poll(() => upstream.requests.length).toBe(2);
  const joining = await boss.fetch('POST', path, { prompt: 'I am Ann Lee', threadMode: 'steer', stream: true }, {});
  goOn();
  expect((await first).map(({ data }) => data).join()).toContain('Ann Lee');
  expect(asked(3)).toContain('I am [PERSONAL_1]');
  expect(await joining.text()).toContain('event: done');
});

it('takes no answer of its model but an array of strings', async () => {
  await boss.graphql(setOwn, { input: { modelId } });
  upstream.next({ text: '[{"name":"Ann Lee"}]' });
  expect(await ways.completion?.(boss, 'I am Ann Lee')).toContain('did not answer');
  expect(upstream.requests).toHaveLength(1);
});

it('names what is wrong with a guard, and is off where all is empty', async () => {
  const faultsOf = async (guard: object) => {
    const { errors } = await boss.graphql(setAgent, { agentId, input: guard });
    return errors?.[0].extensions.faults.map(({ path }: { path: string }) => path.replace('input.', ''));
  };
  expect(await faultsOf({ patterns: [{ name: 'a b', pattern: 'x' }] })).toEqual(['patterns.0.name']);
  expect(await faultsOf({ patterns: [{ name: 'A', pattern: '(' }] })).toEqual(['patterns.0.pattern']);
  expect(await faultsOf({ patterns: [{ name: 'A', pattern: '(a)\\1' }] })).toEqual(['patterns.0.pattern']);
  expect(await faultsOf({ patterns: [{ name: 'A', pattern: 'a*' }] })).toEqual(['patterns.0.pattern']);
  expect(await faultsOf({ patterns: [{ name: 'A', pattern: 'a', lengthMax: 0 }] })).toEqual(['patterns.0.lengthMax']);
  expect(await faultsOf({ modelId: 'none/none' })).toEqual(['modelId']);
  expect(await faultsOf({})).toBeUndefined();
  upstream.next({ text: 'Fine.' });
  await ways.completion?.(boss, text);
  expect(shows(asked())).toEqual(values);
});
