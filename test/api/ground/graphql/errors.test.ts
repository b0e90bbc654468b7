import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

const { make } = await withService('web');
const agent = { name: 'Ada', description: '', instructions: '' };
const create = 'mutation ($input: CreateAgentInput!) { createAgent(input: $input) { id } }';

const ann = await make.person();
const agentId = (await make.agent({ owner: ann })).id;

interface Shown {
  readonly code: string;
  readonly message: string;
  readonly faults: readonly object[];
  readonly data: unknown;
}
async function refused(query: string, variables: Readonly<Record<string, unknown>> = {}): Promise<Shown> {
  const { data, errors } = await ann.graphql(query, variables);
  expect(errors?.length).toBeGreaterThan(0);
  const [error] = errors ?? [];
  expect(error.extensions).not.toHaveProperty('param');
  expect(error.extensions.requestId).toMatch(/./);
  return { code: error.extensions.code, message: error.message, faults: error.extensions.faults, data };
}

describe('what the service refuses', () => {
  it('is named by its argument and its member, with what is allowed', async () => {
    const options = { temperature: 3, topK: 1001 };
    const { code, message, faults } = await refused(create, { input: { ...agent, name: ' ', options } });
    expect({ code, message }).toEqual({ code: 'INVALID_VALUE', message: 'input.name must not be blank' });
    expect(faults).toEqual([
      { path: 'input.name', code, message, allowed: { minLength: 1, maxLength: 200 } },
      {
        ...{ path: 'input.options.temperature', code, allowed: { minimum: 0, maximum: 2 } },
        message: 'input.options.temperature must be a number from 0 to 2',
      },
      {
        ...{ path: 'input.options.topK', code, allowed: { type: 'integer', minimum: 1, maximum: 1000 } },
        message: 'input.options.topK must be a whole number from 1 to 1000',
      },
    ]);
  });

  it.each(['"5"', '5.0', '5e0', 'true', 'FIVE'])('refuses %s in a document in place of a count', async (literal) => {
    const query = `mutation { updateOrganization(id: "org_1", input: { apiUsageTokenLimit: ${literal} }) { id } }`;
    expect((await ann.graphql(query)).errors?.[0]?.message).toContain('Count must be a whole number');
  });

  it('is the same with values in the document and in variables of other names', async () => {
    const query = `mutation ($name: String!) { made: createAgent(input: {
      name: $name, description: "", instructions: "" }) { id } }`;
    expect(await refused(query, { name: '' })).toMatchObject({ faults: [{ path: 'input.name' }] });
  });

  it('is an argument', async () => {
    expect(await refused('{ agents(first: 101) { nodes { id } } }')).toMatchObject({
      message: 'first must be from 1 to 100',
      faults: [{ path: 'first', allowed: { type: 'integer', minimum: 1, maximum: 100 } }],
    });
    expect(await refused('{ agents(after: "x") { nodes { id } } }')).toMatchObject({
      faults: [{ path: 'after', allowed: null }],
    });
  });

  it('stands in a part of a wire format', async () => {
    const query = 'mutation ($input: CompletionInput!) { createCompletion(input: $input) { text } }';
    const input = { model: 'parley/offline', messages: [{ user: { text: 'Hi' } }], temperature: 3 };
    expect(await refused(query, { input })).toMatchObject({
      message: expect.stringMatching(/^input\.temperature must be/),
      faults: [{ path: 'input.temperature', allowed: { minimum: 0, maximum: 2 } }],
    });
  });

  it('is the thing that an argument names, or no value at all', async () => {
    const query = 'mutation ($id: ID!) { deleteAgent(id: $id) { id } }';
    const bob = await make.person();
    const missing = await bob.graphql(query, { id: agentId });
    expect(missing.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND', faults: [{ path: 'id', code: 'NOT_FOUND' }] } }]);
    const reader = await make.withKey(ann, { scopes: ['AGENTS:READ'] });
    const forbidden = await reader.graphql(query, { id: agentId });
    expect(forbidden.errors).toMatchObject([{ extensions: { code: 'INSUFFICIENT_SCOPE', faults: [] } }]);
  });
});

describe('what graphql-js refuses', () => {
  it.each<[string, object, string, string, string, unknown]>([
    ['a missing member', { name: undefined }, 'MISSING_REQUIRED_PARAMETER', 'input.name', 'is required', null],
    ['a null', { name: null }, 'INVALID_TYPE', 'input.name', 'must be a string, not null', null],
    ['another type', { name: 5 }, 'INVALID_TYPE', 'input.name', 'must be a string, not a number', null],
    [
      ...(['a member too many', { nane: 'x' }, 'UNSUPPORTED_VALUE', 'input.nane'] as const),
      ...(['is no member of CreateAgentInput. Did you mean "name"?', null] as const),
    ],
    [
      ...(['a value of no enum', { visibility: 'SECRET' }, 'INVALID_VALUE', 'input.visibility'] as const),
      'must be one of ANYONE_WITH_LINK, GROUP, ORGANIZATION, PRIVATE',
      { enum: ['ANYONE_WITH_LINK', 'GROUP', 'ORGANIZATION', 'PRIVATE'] },
    ],
    ['an item', { groups: ['a', {}] }, 'INVALID_TYPE', 'input.groups.1', 'must be a string, not an object', null],
    ['no object', { options: 'x' }, 'INVALID_TYPE', 'input.options', 'must be an object, not a string', null],
    [
      ...(['an item of no list', { groups: {} }, 'INVALID_TYPE', 'input.groups'] as const),
      ...(['must be an array, not an object', null] as const),
    ],
  ])('in variables: %s', async (_what, members, code, path, rule, allowed) => {
    const shown = await refused(create, { input: { ...agent, ...members } });
    expect(shown.faults).toContainEqual({ path, code, message: `${path} ${rule}`, allowed });
    expect(shown).toMatchObject({ code, data: undefined });
  });

  it('in variables: all faults at once, those of several variables too', async () => {
    const query = `mutation ($agent: ID!, $key: String!, $type: SecretType!) {
      createAgentSecret(agentId: $agent, input: { key: $key, secretType: $type }) { id } }`;
    const { faults } = await refused(query, { key: 1 });
    expect(faults).toMatchObject([
      { path: 'agentId', code: 'MISSING_REQUIRED_PARAMETER', message: 'agentId is required' },
      { path: 'input.key', code: 'INVALID_TYPE' },
      { path: 'input.secretType', code: 'MISSING_REQUIRED_PARAMETER' },
    ]);
  });

  it.each<[string, string, string, string, string]>([
    [
      'a missing member',
      'createAgent(input: { description: "" }) { id }',
      'MISSING_REQUIRED_PARAMETER',
      'input.name',
      'is required',
    ],
    [
      ...(['another type', 'createAgent(input: { name: 5, description: "", instructions: "" }) { id }'] as const),
      ...(['INVALID_TYPE', 'input.name', 'must be a string, not a number'] as const),
    ],
    [
      ...(['an item of a list', 'updateAgent(id: "x", input: { groups: ["a", {}] }) { id }'] as const),
      ...(['INVALID_TYPE', 'input.groups.1', 'must be a string, not an object'] as const),
    ],
    [
      ...(['a member too many', 'updateAgent(id: "x", input: { options: { topk: 1 } }) { id }'] as const),
      ...([
        'UNSUPPORTED_VALUE',
        'input.options.topk',
        'is no member of AgentOptionsInput. Did you mean "topK" or "topP"?',
      ] as const),
    ],
    ['a missing argument', 'deleteAgent { id }', 'MISSING_REQUIRED_PARAMETER', 'id', 'is required'],
  ])('in the document: %s', async (_what, field, code, path, rule) => {
    const shown = await refused(`mutation { ${field} }`);
    expect(shown.code).toBe('GRAPHQL_VALIDATION_FAILED');
    expect((await ann.graphql(`mutation { ${field} }`)).errors?.flatMap(({ extensions }) => extensions.faults)).toContainEqual({
      ...{ path, code, message: `${path} ${rule}`, allowed: null },
    });
  });

  it('in the document: a time that is none, which the scalar itself refuses', async () => {
    expect(await refused('{ usage(from: "today") { apiTokensUsed } }')).toMatchObject({
      code: 'GRAPHQL_VALIDATION_FAILED',
      faults: [{ path: 'from', code: 'INVALID_VALUE', message: expect.stringContaining('ISO 8601') }],
    });
  });

  it('in the document: an argument and a field that do not exist', async () => {
    expect(await refused('{ agents(last: 1, foo: 2) { nodes { id } } }')).toMatchObject({
      faults: [{ code: 'UNSUPPORTED_VALUE' }],
    });
    expect(await refused('{ list: agents { nodes { nane } } }')).toMatchObject({
      faults: [{ path: 'list.nodes.nane', code: 'GRAPHQL_VALIDATION_FAILED', message: expect.stringContaining('nane') }],
    });
  });

  it('an argument whose variable is null', async () => {
    const { code, faults } = await refused('query ($id: ID = "x") { agent(id: $id) { id } }', { id: null });
    expect(code).toBe('MISSING_REQUIRED_PARAMETER');
    expect(faults).toEqual([{ path: 'id', code, message: 'id is required', allowed: null }]);
  });
});

it('one thing that is missing leaves the rest of a page', async () => {
  const query = `query ($id: ID!) {
    viewer { keyId } found: agent(id: $id) { name } missing: node(id: "ai_none") { id } nodes(ids: ["ai_none", $id]) { id } }`;
  const { data } = await ann.graphql(query, { id: agentId });
  expect(data).toMatchObject({
    viewer: { keyId: expect.any(String) },
    found: { name: expect.any(String) },
    missing: null,
    nodes: [null, { id: agentId }],
  });
});

it('a refused subscription has the same form', async () => {
  const query = 'subscription ($id: ID!) { dataSourceUpdated(dataSourceId: $id) { id } }';
  const [result] = await Array.fromAsync(ann.subscribe(query, { id: 'ds_none' }));
  expect(result.errors).toMatchObject([
    { extensions: { code: 'NOT_FOUND', faults: expect.any(Array), requestId: expect.any(String) } },
  ]);
});
