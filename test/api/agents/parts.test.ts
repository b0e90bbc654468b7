import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';

const { make } = await withService();

const organization = await make.organization();
const ann = await make.person({ organization });
const editor = await make.person({ organization });
const colleague = await make.person({ organization });
const stranger = await make.person({ role: 'ADMIN' });

const apiData = { description: 'Tells the weather', method: 'GET', url: 'https://api.example.com/{city}' };
/** A part of each kind: how it is made and changed, and which members only editors see. */
const kinds = [
  {
    path: 'tools',
    body: { name: 'weather', type: 'API_FUNCTION', data: apiData },
    change: { name: 'forecast' },
    hidden: 'data',
    bad: { name: 'two words' },
    unique: 'name',
  },
  {
    path: 'user-inputs',
    body: { variableName: 'city', type: 'SHORT_TEXT', label: 'Your city', configuration: { required: true, maxLength: 20 } },
    change: { label: 'City' },
    hidden: undefined,
    bad: { variableName: 'no dash-es' },
    unique: 'variableName',
  },
  {
    path: 'skills',
    body: { name: 'Refunds', description: 'Money back', content: 'Ask for the order.' },
    change: { content: 'Ask twice.' },
    hidden: 'content',
    bad: { name: ' ' },
    unique: 'name',
  },
  {
    path: 'flows',
    body: { name: 'Answer', versions: [{ version: 1, active: true, data: { steps: [{ type: 'prompt', text: 'Hi' }] } }] },
    change: { enabled: false },
    hidden: 'versions',
    bad: { versions: [{ version: 0, data: {} }] },
    unique: 'name',
  },
] as const;

describe.each(kinds)('$path of an agent', ({ path, body, change, hidden, bad, unique }) => {
  const base = (agentId: string, id?: string) => `/api/v1/ais/${agentId}/${path}${id === undefined ? '' : `/${id}`}`;
  const shared = () => make.agent({ owner: ann, visibility: 'ORGANIZATION', editors: [{ id: editor.userId }] });

  it('are made, listed, read, changed and deleted by editors', async () => {
    const agent = await shared();
    const made = await editor.post(base(agent.id), body);
    expect(made).toMatchObject({ status: 200, body: { ...body, id: expect.any(String) } });
    const { id } = made.body;
    expect((await ann.get(base(agent.id))).body).toEqual({ data: [made.body] });
    expect((await ann.get(base(agent.id, id))).body).toEqual(made.body);
    const changed = await editor.patch(base(agent.id, id), change);
    expect(changed).toMatchObject({ status: 200, body: { ...body, ...change, id } });
    expect((await editor.patch(base(agent.id, id), {})).body).toEqual({ ...changed.body, updatedAt: expect.any(String) });
    expect((await ann.delete(base(agent.id, id))).body).toMatchObject({ id });
    expect((await ann.get(base(agent.id))).body).toEqual({ data: [] });
    expect((await ann.delete(base(agent.id, id))).status).toBe(404);
  });

  it('are seen by who may use the agent without how they work', async () => {
    const agent = await shared();
    const { id } = (await ann.post(base(agent.id), body)).body;
    const seen = await colleague.get(base(agent.id, id));
    expect(seen.status).toBe(200);
    expect(seen.body).toMatchObject(hidden === undefined ? body : { id, [hidden]: null });
    expect((await colleague.get(base(agent.id))).body.data[0]).toEqual(seen.body);
  });

  it('are missing under another agent, whoever owns it', async () => {
    const [agent, other] = [await shared(), await shared()];
    const { id } = (await ann.post(base(agent.id), body)).body;
    expect((await ann.get(base(other.id, id))).status).toBe(404);
    expect((await ann.patch(base(other.id, id), change)).status).toBe(404);
    expect((await ann.delete(base(other.id, id))).status).toBe(404);
    expect((await ann.get(base(agent.id, id))).status).toBe(200);
  });

  it('have unique names, and refuse invalid input naming the member', async () => {
    const agent = await shared();
    expect((await ann.post(base(agent.id), body)).status).toBe(200);
    expect(await ann.post(base(agent.id), body)).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict', param: unique } },
    });
    const refused = await ann.post(base(agent.id), { ...body, ...bad });
    expect(refused.status).toBe(400);
    expect(refused.body.error.param).toMatch(new RegExp(`^${Object.keys(bad)[0]}`));
  });

  it('go with GraphQL the same way', async () => {
    const agent = await shared();
    const { id } = (await ann.post(base(agent.id), body)).body;
    const field = { tools: 'agentTools', 'user-inputs': 'userInputs', skills: 'skills', flows: 'flows' }[path];
    const reply = await ann.graphql(`query ($agentId: ID!) { list: ${field}(agentId: $agentId) { id } }`, { agentId: agent.id });
    expect(reply.data).toEqual({ list: [{ id }] });
    const other = await stranger.graphql(`query ($agentId: ID!) { list: ${field}(agentId: $agentId) { id } }`, {
      agentId: agent.id,
    });
    expect(other.errors?.[0]?.extensions.code).toBe('NOT_FOUND');
  });
});

describe('secrets of an agent', () => {
  it('are written and never read back, by editors only', async () => {
    const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const path = `/api/v1/ais/${agent.id}/secrets`;
    const made = await ann.post(path, { key: 'KEY', secretType: 'apiKey', value: 'CANARY-value-1' });
    expect(made).toMatchObject({ status: 200, body: { key: 'KEY', hasValue: true } });
    const changed = await ann.patch(`${path}/${made.body.id}`, { value: null, description: 'gone' });
    expect(changed.body).toMatchObject({ hasValue: false, description: 'gone', secretType: 'apiKey' });
    await ann.patch(`${path}/${made.body.id}`, { value: 'CANARY-value-2' });
    const shown = [made, changed, await ann.get(path), await ann.get(`${path}/${made.body.id}`)];
    expect(JSON.stringify(shown)).not.toContain('CANARY');
    expect((await colleague.get(path)).status).toBe(403);
    expect((await stranger.get(path)).status).toBe(404);
    expect((await ann.post(path, { key: '1 2', secretType: 'apiKey' })).body.error.param).toBe('key');
    expect((await ann.post(path, { key: 'BIG', secretType: 'apiKey', value: 'x'.repeat(5_000) })).body.error.param).toBe('value');
    expect((await ann.delete(`${path}/${made.body.id}`)).status).toBe(200);
    expect((await ann.get(path)).body.data).toEqual([]);
  });

  it('come and go with the tools they were found in', async () => {
    const agent = await make.agent({ owner: ann });
    const base = `/api/v1/ais/${agent.id}`;
    const data = { ...apiData, headers: { Authorization: 'Bearer CANARY-9' } };
    const tool = await ann.post(`${base}/tools`, { name: 'weather', type: 'API_FUNCTION', data });
    expect(tool.body.data.headers.Authorization).toBe('Bearer {{secret:WEATHER_HEADERS_AUTHORIZATION}}');
    const secrets = await ann.get(`${base}/secrets`);
    expect(secrets.body.data).toMatchObject([
      { key: 'WEATHER_HEADERS_AUTHORIZATION', secretType: 'bearerToken', hasValue: true },
    ]);
    // Data that is sent back unchanged changes nothing; a new value replaces the old one.
    await ann.patch(`${base}/tools/${tool.body.id}`, { data: tool.body.data });
    await ann.patch(`${base}/tools/${tool.body.id}`, { data });
    expect((await ann.get(`${base}/secrets`)).body.data).toHaveLength(1);
    // A second tool with the same name for a key gets a key of its own.
    const twin = { name: 'Weather', type: 'API_FUNCTION', data: { ...apiData, headers: { authorization: 'CANARY-10' } } };
    const other = await ann.post(`${base}/tools`, twin);
    expect(other.body.data.headers.authorization).toBe('{{secret:WEATHER_HEADERS_AUTHORIZATION_2}}');
    await ann.delete(`${base}/tools/${tool.body.id}`);
    expect((await ann.get(`${base}/secrets`)).body.data).toMatchObject([{ key: 'WEATHER_HEADERS_AUTHORIZATION_2' }]);
  });
});

describe('the data of a tool', () => {
  const refusals: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ['an address without a host', { url: '/weather' }, 'data.url'],
    ['another scheme', { url: 'file:///etc/passwd' }, 'data.url'],
    ['an argument in the host', { url: 'https://{host}/x' }, 'data.url'],
    ['an argument in the scheme', { url: '{scheme}://a.example/x' }, 'data.url'],
    ['a method that is none', { method: 'TRACE' }, 'data.method'],
    ['a header that smuggles', { headers: { 'Transfer-Encoding': 'chunked' } }, 'data.headers.Transfer-Encoding'],
    ['a schema that is none', { parameters: { type: 'thing' } }, 'data.parameters.type'],
    ['a remote reference', { parameters: { $ref: 'https://example.com/schema.json' } }, 'data.parameters.$ref'],
    ['a schema in circles', { parameters: { properties: { a: { $ref: '#' } } } }, 'data.parameters.properties.a.$ref'],
    [
      'a pattern that looks around',
      { parameters: { properties: { a: { pattern: '(?=a)' } } } },
      'data.parameters.properties.a.pattern',
    ],
    ['a body that is no JSON', { method: 'POST', body: '{"a": {a}}' }, 'data.body'],
    ['authentication of no kind', { auth: { type: 'magic', secretKey: 'K' } }, 'data.auth.type'],
    ['authentication without a secret', { auth: { type: 'apiKey' } }, 'data.auth.secretKey'],
    ['a name that code could take for something else', { body: { constructor: { a: 1 } } }, 'data.body.constructor'],
    ['a name that is a secret', { body: { 'sk-ABCDEFGHIJKLMNOPQRST1234': 1 } }, 'data.body'],
    ['too much of it', { body: 'x'.repeat(70_000) }, 'data'],
    ['nesting without end', { body: nested(40) }, 'data'],
  ];
  it.each(refusals)('is refused with its place: %s', async (_case, members, param) => {
    const agent = await make.agent({ owner: ann });
    const reply = await ann.post(`/api/v1/ais/${agent.id}/tools`, {
      name: 'bad',
      type: 'API_FUNCTION',
      data: { ...apiData, ...members },
    });
    expect([reply.status, reply.body.error.param]).toEqual([400, param]);
    expect(JSON.stringify(reply.body)).not.toContain('sk-ABC');
  });
  it('keeps the order of a schema', async () => {
    const agent = await make.agent({ owner: ann });
    const data = {
      ...apiData,
      parameters: { type: 'object', properties: { zeta: { type: 'string' }, alpha: { type: 'string' } } },
    };
    const made = await ann.post(`/api/v1/ais/${agent.id}/tools`, { name: 'ordered', type: 'API_FUNCTION', data });
    expect(JSON.stringify(made.body.data)).toBe(JSON.stringify(data));
  });
});

describe('versions of a flow', () => {
  const step = { type: 'prompt', text: 'Hi' };
  const refusals: readonly (readonly [string, unknown, string])[] = [
    ['two active', [1, 2].map((version) => ({ version, active: true, data: { steps: [step] } })), 'versions[1].active'],
    ['a number twice', [1, 1].map((version) => ({ version, data: {} })), 'versions[1].version'],
    ['a step of no kind', [{ version: 1, data: { steps: [{ type: 'sleep' }] } }], 'versions[0].data.steps[0].type'],
    [
      'a branch that leads back',
      [
        {
          version: 1,
          data: { steps: [{ id: 'a', type: 'branch', condition: { left: '{{x}}', operator: 'isEmpty' }, onTrue: 'a' }] },
        },
      ],
      'versions[0].data.steps[0].onTrue',
    ],
    ['a secret', [{ version: 1, data: { steps: [step], apiKey: 'CANARY-1' } }], 'versions[0].data'],
  ];
  it.each(refusals)('are refused: %s', async (_case, versions, param) => {
    const agent = await make.agent({ owner: ann });
    const reply = await ann.post(`/api/v1/ais/${agent.id}/flows`, { name: 'F', versions });
    expect([reply.status, reply.body.error.param]).toEqual([400, param]);
  });
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
}

it('any input for a part is accepted, or refused naming the member', async () => {
  const agent = await make.agent({ owner: ann });
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.string({ unit: 'binary' }),
    fc.constantFrom<unknown>(
      'API_FUNCTION',
      'SELECT',
      'apiKey',
      'x'.repeat(70_000),
      { url: 'https://a.example/{a}', parameters: { type: 'object' } },
      2 ** 40,
    ),
  );
  const member = fc.constantFrom(
    'name',
    'type',
    'data',
    'variableName',
    'label',
    'configuration',
    'orderIndex',
    'content',
    'versions',
    'key',
    'value',
    'secretType',
  );
  const secretBody = { path: 'secrets', body: { key: 'K', secretType: 'apiKey' } };
  const call = fc.tuple(fc.constantFrom(...kinds, secretBody), fc.dictionary(member, value, { maxKeys: 3 }));
  await fc.assert(
    fc.asyncProperty(call, async ([{ path, body }, changes]) => {
      const reply = await ann.post(`/api/v1/ais/${agent.id}/${path}`, { ...body, ...changes });
      expect([200, 400, 409], JSON.stringify(reply.body)).toContain(reply.status);
      if (reply.status === 400) expect(reply.body.error.param).toMatch(/./);
    }),
    { numRuns: propertyRuns(150) },
  );
});
