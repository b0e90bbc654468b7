import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startApiServer } from '../../../support/egress/api-server.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';
import { databaseText } from '../../../support/storage/dump.ts';

/** A service that may call no address of this machine. */
const strict = await withService('model', { env: { EGRESS_ALLOW: '' } });
const log: string[] = [];
const { service, make, upstream } = await withService('model', {
  env: { LOG_LEVEL: 'debug', TOOL_RESULT_MAX_CHARS: '500' },
  onLog: (line) => void log.push(line),
});

const api = await startApiServer();
const organization = await make.organization();
const ann = await make.person({ organization });
const colleague = await make.person({ organization });

beforeEach(() => api.reset());
afterAll(() => api.close());

const secret = 'CANARY-tool-4711';
const parameters = {
  type: 'object',
  properties: { city: { type: 'string', maxLength: 40 } },
  required: ['city'],
  additionalProperties: false,
};
const weather = () => ({
  description: 'Tells the weather of a city',
  parameters,
  method: 'GET',
  url: `${api.url}/weather/{city}?units=metric`,
  headers: { 'X-Api-Key': secret },
});

async function agentWith(data: object = weather(), owner: Person = ann, by = make) {
  const agent = await by.agent({
    ...{ owner, visibility: 'ORGANIZATION', instructions: 'Be brief.', intermediateStepsVisible: true },
  });
  const tool = await owner.post(`/api/v1/ais/${agent.id}/tools`, { name: 'get_weather', type: 'API_FUNCTION', data });
  expect(tool.status).toBe(200);
  return agent;
}
const call = (args: string) => ({ toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: args }] });
// biome-ignore lint/suspicious/noExplicitAny: what the stand-in for a model was sent, of any shape.
const asked = (index: number): any => upstream.requests[index]?.body;
const complete = (who: Person, model: string, more: object = {}) =>
  who.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'How is Paris?' }], ...more });

describe('an API_FUNCTION of an agent', () => {
  it('is offered to the model, called, and answered from, in a completion', async () => {
    const agent = await agentWith();
    api.answer(() => ({ body: '{"celsius":12}' }));
    upstream.next(call('{"city":"Paris/x"}'), { text: 'It is 12 degrees.' });
    const reply = await complete(colleague, agent.id);
    expect(reply.body.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'It is 12 degrees.' } });
    expect(reply.body.choices[0].message.tool_calls).toBeUndefined();
    expect(asked(0).tools).toEqual([
      { type: 'function', function: { name: 'get_weather', description: 'Tells the weather of a city', parameters } },
    ]);
    expect(api.requests).toMatchObject([
      { method: 'GET', path: '/weather/Paris%2Fx?units=metric', headers: { 'x-api-key': secret } },
    ]);
    expect(asked(1).messages.at(-1)).toEqual({ role: 'tool', tool_call_id: 'call_1', content: '{"celsius":12}' });
  });

  it('shows in the events of a chat, and stands in the log of the run', async () => {
    const agent = await agentWith();
    const chat = await make.chat({ owner: colleague, agentId: agent.id });
    api.answer(() => ({ body: '{"celsius":12}' }));
    upstream.next(call('{"city":"Paris"}'), { text: 'It is 12 degrees.' });
    const frames = await colleague.stream(`/api/v1/chats/${chat.id}/messages`, { prompt: 'How is Paris?', stream: true });
    const events = frames.map(({ data }) => JSON.parse(data));
    expect(events.find(({ type }) => type === 'tool.started')).toMatchObject({
      name: 'get_weather',
      arguments: '{"city":"Paris"}',
    });
    expect(events.find(({ type }) => type === 'tool.completed')).toMatchObject({
      status: 'completed',
      output: '{"celsius":12}',
      error: null,
    });
    expect(events.at(-1)).toMatchObject({ type: 'done' });
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  it('is not offered by other agents, nor to a bare model', async () => {
    await agentWith();
    const other = await make.agent({ owner: ann });
    await complete(ann, other.id);
    await complete(ann, 'openai/test-model');
    expect([asked(0).tools ?? [], asked(1).tools ?? []]).toEqual([[], []]);
  });

  it('follows its changes at once', async () => {
    const agent = await agentWith();
    const [tool] = (await ann.get(`/api/v1/ais/${agent.id}/tools`)).body.data;
    await complete(ann, agent.id);
    await ann.patch(`/api/v1/ais/${agent.id}/tools/${tool.id}`, { name: 'forecast' });
    await complete(ann, agent.id);
    await ann.delete(`/api/v1/ais/${agent.id}/tools/${tool.id}`);
    await complete(ann, agent.id);
    const names = [0, 1, 2].map((index) =>
      (asked(index).tools ?? []).map((one: { function: { name: string } }) => one.function.name),
    );
    expect(names).toEqual([['get_weather'], ['forecast'], []]);
  });

  it('tells the model what is wrong with the arguments, and makes no call', async () => {
    const agent = await agentWith();
    upstream.next(call('{"town":"Paris"}'), call('{"city":'), { text: 'Sorry.' });
    expect((await complete(ann, agent.id)).body.choices[0].message.content).toBe('Sorry.');
    expect(asked(1).messages.at(-1).content).toMatch(/^Error: The arguments do not fit the parameters: /);
    expect(asked(2).messages.at(-1).content).toBe('Error: The arguments are not a JSON object');
    expect(api.requests).toEqual([]);
  });

  it.each([
    [
      'a failure of the service',
      { status: 500, body: `broken, your key ${secret}` },
      'Error: The service answered 500: broken, your key [secret]',
    ],
    ['an echo of its own key', { body: JSON.stringify({ you: secret, b: btoa(secret) }) }, '{"you":"[secret]","b":"[secret]"}'],
    [
      'a redirect to another host',
      { status: 302, headers: { location: 'http://localhost:1/x' } },
      'Error: The service answered 302: and leads to another host',
    ],
    ['too much', { body: 'x'.repeat(1_000) }, `${'x'.repeat(500)}\n[cut: 500 more characters]`],
    ['bytes', { body: 'PNG', headers: { 'content-type': 'image/png' } }, '[3 bytes of image/png]'],
    ['nothing', { status: 204 }, ''],
  ])('hands the model, of %s, what it may have', async (_case, answer, content) => {
    const agent = await agentWith();
    api.answer(() => answer);
    upstream.next(call('{"city":"Paris"}'), { text: 'Done.' });
    expect((await complete(ann, agent.id)).status).toBe(200);
    expect(asked(1).messages.at(-1).content).toBe(content);
  });

  it('reaches no private address that the operator has not allowed', async () => {
    const { make: there } = strict;
    const owner = await there.person();
    const agent = await agentWith(weather(), owner, there);
    upstream.next(call('{"city":"Paris"}'), { text: 'Sorry.' });
    expect((await complete(owner, agent.id)).body.choices[0].message.content).toBe('Sorry.');
    expect(asked(1).messages.at(-1).content).toContain('is not an address of the public internet');
    expect(api.requests).toEqual([]);
  });

  it('takes the secrets of a message before its own, and says which is missing', async () => {
    const agent = await agentWith({ ...weather(), headers: { 'X-Api-Key': '{{secret:WEATHER}}' } });
    const chat = await make.chat({ owner: colleague, agentId: agent.id });
    const path = `/api/v1/chats/${chat.id}/messages`;
    upstream.next(call('{"city":"Paris"}'), { text: 'No.' });
    await colleague.post(path, { prompt: 'How is Paris?' });
    expect(asked(1).messages.at(-1).content).toBe('Error: The secret WEATHER of this tool has no value');
    const [row] = (await ann.get(`/api/v1/ais/${agent.id}/secrets`)).body.data;
    await ann.patch(`/api/v1/ais/${agent.id}/secrets/${row.id}`, { value: 'of-the-agent' });
    upstream.next(call('{"city":"Paris"}'), { text: 'Yes.' }, call('{"city":"Paris"}'), { text: 'Yes.' });
    await colleague.post(path, { prompt: 'And now?' });
    await colleague.post(path, { prompt: 'And with mine?', secrets: { WEATHER: 'CANARY-of-mine' } });
    expect(api.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['of-the-agent', 'CANARY-of-mine']);
    expect(await databaseText(service)).not.toContain('CANARY-of-mine');
  });

  it('cannot be shadowed by a function of the request: 400 in completions and chats', async () => {
    const agent = await agentWith();
    const chat = await make.chat({ owner: colleague, agentId: agent.id });
    const tools = [
      { type: 'function', function: { name: 'other' } },
      { type: 'function', function: { name: 'get_weather' } },
    ];
    for (const reply of [
      await complete(colleague, agent.id, { tools }),
      await colleague.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi', tools }),
    ]) {
      expect([reply.status, reply.body.error.code, reply.body.error.param]).toEqual([
        400,
        'tool_name_conflict',
        'tools[1].function.name',
      ]);
    }
    expect(upstream.requests).toEqual([]);
  });

  it('and a CLIENT_FUNCTION beside it is left to the caller', async () => {
    const agent = await agentWith();
    const data = { description: 'Asks the user', parameters: { type: 'object', properties: {} } };
    await ann.post(`/api/v1/ais/${agent.id}/tools`, { name: 'ask_user', type: 'CLIENT_FUNCTION', data });
    upstream.next({ toolCalls: [{ id: 'call_2', name: 'ask_user', arguments: '{}' }] });
    const reply = await complete(ann, agent.id);
    expect(reply.body.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [{ id: 'call_2' }] } });
    expect(
      asked(0)
        .tools.map((one: { function: { name: string } }) => one.function.name)
        .sort(),
    ).toEqual(['ask_user', 'get_weather']);
  });
});

describe('user inputs', () => {
  it('are asked when a chat begins, and fill the instructions', async () => {
    const agent = await make.agent({
      owner: ann,
      visibility: 'ORGANIZATION',
      instructions: 'You help {{ name }} of {{dept}}, {{unknown}}. Since {{since}}.',
    });
    const inputs = `/api/v1/ais/${agent.id}/user-inputs`;
    const asks = [
      { variableName: 'name', type: 'SHORT_TEXT', label: 'Name', configuration: { required: true, maxLength: 30 } },
      {
        variableName: 'dept',
        type: 'SELECT',
        label: 'Department',
        configuration: { options: ['Sales', 'Support'], default: 'Support' },
        orderIndex: 1,
      },
      { variableName: 'age', type: 'NUMBER', label: 'Age', configuration: { min: 18, max: 99 } },
      { variableName: 'since', type: 'DATE', label: 'Since', configuration: { min: '2020-01-01' } },
      { variableName: 'ok', type: 'BOOLEAN', label: 'Agreed' },
      { variableName: 'note', type: 'LONG_TEXT', label: 'Note' },
    ];
    for (const body of asks) expect((await ann.post(inputs, body)).status).toBe(200);
    const create = (userInputs?: unknown) =>
      colleague.post(`/api/v1/ais/${agent.id}/chats`, userInputs === undefined ? {} : { userInputs });
    const wrong: readonly (readonly [unknown, string])[] = [
      [undefined, 'userInputs.name'],
      [{ name: ' ' }, 'userInputs.name'],
      [{ name: 'x'.repeat(31) }, 'userInputs.name'],
      [{ name: 'Ann', dept: 'Kitchen' }, 'userInputs.dept'],
      [{ name: 'Ann', age: 17 }, 'userInputs.age'],
      [{ name: 'Ann', age: '20' }, 'userInputs.age'],
      [{ name: 'Ann', since: '2021-02-30' }, 'userInputs.since'],
      [{ name: 'Ann', ok: 'yes' }, 'userInputs.ok'],
      [{ name: 'Ann', other: 1 }, 'userInputs.other'],
      ['Ann', 'userInputs'],
    ];
    for (const [given, param] of wrong) {
      const reply = await create(given);
      expect([reply.status, reply.body.error?.param], JSON.stringify(given)).toEqual([400, param]);
    }
    const chat = await create({ name: 'Ann {{dept}}', since: '2024-02-29' });
    expect(chat.status).toBe(200);
    await colleague.post(`/api/v1/chats/${chat.body.id}/messages`, { prompt: 'Hello' });
    expect(asked(0).messages[0]).toEqual({
      role: 'system',
      content: expect.stringMatching(
        /^You help Ann \{\{dept\}\} of Support, \{\{unknown\}\}\. Since 2024-02-29\.\n\nCurrent date: /,
      ),
    });
    const shown = await colleague.graphql('query ($id: ID!) { chat(id: $id) { userInputs { name value } } }', {
      id: chat.body.id,
    });
    expect(shown.data.chat.userInputs).toEqual([
      { name: 'dept', value: 'Support' },
      { name: 'name', value: 'Ann {{dept}}' },
      { name: 'since', value: '2024-02-29' },
    ]);
    const overGraphql = (userInputs: readonly object[]) =>
      colleague.graphql(
        'mutation ($id: ID!, $input: CreateChatInput!) { createChat(agentId: $id, input: $input) { userInputs { name value } } }',
        { id: agent.id, input: { userInputs } },
      );
    const values = [
      { name: 'age', value: 20 },
      { name: 'dept', value: 'Sales' },
      { name: 'name', value: 'Ann' },
      { name: 'ok', value: false },
    ];
    const { userInputs } = (await overGraphql(values)).data.createChat;
    expect(userInputs).toHaveLength(values.length);
    expect(userInputs).toEqual(expect.arrayContaining(values));
    const refused = await overGraphql([
      { name: 'name', value: 'Ann' },
      { name: 'age', value: 17 },
    ]);
    expect(refused.errors?.[0].extensions.faults).toMatchObject([{ path: 'input.userInputs.1.value' }]);
  });
});

it('no secret of a tool is kept readable or logged', async () => {
  const agent = await agentWith();
  await complete(ann, agent.id);
  expect(await databaseText(service)).not.toContain('CANARY');
  expect(log.join('').split('\n').length).toBeGreaterThan(10);
  expect(log.join('\n')).not.toContain('CANARY');
});
