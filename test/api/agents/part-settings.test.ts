import { beforeEach, describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';

/** GraphQL has types where REST has the JSON members `data` of a tool and `configuration` of a user input: both are the same thing stored. */
const { make } = await withService('web');
let agentId: string;
let base: string;

const ann = await make.person({ name: 'Ann' });

beforeEach(async () => {
  agentId = (await make.agent({ owner: ann })).id;
  base = `/api/v1/ais/${agentId}`;
});

const toolFields = `id type settings {
  __typename description
  ... on ApiFunctionSettings {
    parameters method url headers { name value } query { name value } body
    auth { type location name username credential } isIdempotent requireApproval
  }
  ... on ClientFunctionSettings { parameters }
  ... on McpServerSettings {
    server serverUrl headers { name value } auth { type credential } allowedTools { names isReadOnly }
    program { command arguments environment { name value } directory } requireApproval
  }
}`;
const createTool = `mutation ($id: ID!, $input: CreateAgentToolInput!) { tool: createAgentTool(agentId: $id, input: $input) { ${toolFields} } }`;
const updateTool = `mutation ($id: ID!, $input: UpdateAgentToolInput!) { tool: updateAgentTool(id: $id, input: $input) { ${toolFields} } }`;
const parameters = { type: 'object', properties: { city: { type: 'string' } } };

describe('the settings of a tool', () => {
  it('of an HTTP call are typed on GraphQL, JSON on REST, and may be sent back', async () => {
    const apiFunction = {
      description: 'Tells the weather',
      parameters,
      method: 'POST',
      url: 'https://api.example.com/weather',
      headers: [{ name: 'Accept', value: 'text/plain' }],
      query: [{ name: 'city', value: '{city}' }],
      body: { city: '{city}' },
      auth: { type: 'API_KEY', location: 'QUERY', name: 'key', credential: 'CANARY-weather-1' },
      isIdempotent: true,
      requireApproval: true,
    };
    const made = await ann.graphql(createTool, { id: agentId, input: { name: 'weather', settings: { apiFunction } } });
    expect(made.errors).toBeUndefined();
    const credential = '{{secret:WEATHER_AUTH_KEY}}';
    const shown = { ...apiFunction, auth: { ...apiFunction.auth, username: null, credential } };
    expect(made.data.tool).toMatchObject({ type: 'API_FUNCTION', settings: { __typename: 'ApiFunctionSettings', ...shown } });
    const { body } = await ann.get(`${base}/tools/${made.data.tool.id}`);
    expect(body.data).toEqual({
      description: 'Tells the weather',
      parameters,
      method: 'POST',
      url: 'https://api.example.com/weather',
      headers: { Accept: 'text/plain' },
      query: { city: '{city}' },
      body: { city: '{city}' },
      auth: { type: 'apiKey', in: 'query', name: 'key', value: credential },
      idempotent: true,
      requireApproval: true,
    });
    const { __typename, ...back } = made.data.tool.settings;
    const kept = await ann.graphql(updateTool, { id: made.data.tool.id, input: { settings: { apiFunction: back } } });
    expect(kept.data).toEqual(made.data);
  });

  it('of a function of the caller', async () => {
    const clientFunction = { description: 'Asks the user', parameters };
    const { data } = await ann.graphql(createTool, { id: agentId, input: { name: 'ask', settings: { clientFunction } } });
    expect(data.tool).toMatchObject({
      type: 'CLIENT_FUNCTION',
      settings: { __typename: 'ClientFunctionSettings', ...clientFunction },
    });
    expect((await ann.get(`${base}/tools/${data.tool.id}`)).body.data).toEqual(clientFunction);
  });

  it('of an MCP server, also of a program for another installation', async () => {
    const mcpServer = {
      serverUrl: 'https://mcp.example.com/mcp',
      headers: [{ name: 'Accept-Language', value: 'en' }],
      auth: { type: 'BEARER_TOKEN', credential: 'CANARY-mcp-1' },
      allowedTools: { names: ['look'], isReadOnly: true },
    };
    const made = await ann.graphql(createTool, { id: agentId, input: { name: 'desk', settings: { mcpServer } } });
    expect(made.data.tool.settings).toMatchObject({ ...mcpServer, auth: { credential: '{{secret:DESK_AUTH_VALUE}}' } });
    expect((await ann.get(`${base}/tools/${made.data.tool.id}`)).body.data).toEqual({
      url: 'https://mcp.example.com/mcp',
      headers: { 'Accept-Language': 'en' },
      auth: { type: 'bearerToken', value: '{{secret:DESK_AUTH_VALUE}}' },
      allowedTools: { tool_names: ['look'], read_only: true },
    });
    const program = {
      command: 'npx',
      arguments: ['-y', 'server'],
      environment: [{ name: 'REGION', value: 'eu' }],
      directory: null,
    };
    const local = await ann.graphql(createTool, { id: agentId, input: { name: 'local', settings: { mcpServer: { program } } } });
    expect(local.data.tool.settings.program).toEqual(program);
    expect((await ann.get(`${base}/tools/${local.data.tool.id}`)).body.data).toMatchObject({
      ...{ command: 'npx', args: ['-y', 'server'], env: { REGION: 'eu' } },
    });
  });

  it('keep the type of the tool, and are kept when only the name changes', async () => {
    const apiFunction = { url: 'https://api.example.com/weather' };
    const { data } = await ann.graphql(createTool, { id: agentId, input: { name: 'weather', settings: { apiFunction } } });
    const other = await ann.graphql(updateTool, { id: data.tool.id, input: { settings: { clientFunction: {} } } });
    expect(other.errors?.[0].extensions.faults).toMatchObject([
      {
        path: 'input.settings.clientFunction',
        message: 'input.settings.clientFunction does not fit: the tool is of the type API_FUNCTION',
      },
    ]);
    const renamed = await ann.graphql(updateTool, { id: data.tool.id, input: { name: 'forecast', settings: null } });
    expect(renamed.data.tool.settings).toEqual(data.tool.settings);
  });

  it.each([
    ['apiFunction', { url: 'https://a.example', headers: [{ name: 'Host', value: 'x' }] }, 'apiFunction.headers.0.value'],
    ['apiFunction', { url: 'nowhere' }, 'apiFunction.url'],
    ['apiFunction', { url: 'https://a.example', auth: { type: 'HEADER', credential: 'x' } }, 'apiFunction.auth.name'],
    ['clientFunction', { parameters: { type: 'nothing' } }, 'clientFunction.parameters.type'],
  ])('are refused at their place in the document: %s %j', async (choice, settings, path) => {
    const { errors } = await ann.graphql(createTool, { id: agentId, input: { name: 'bad', settings: { [choice]: settings } } });
    expect(errors?.[0].extensions.faults.map((fault: { path: string }) => fault.path)).toEqual([`input.settings.${path}`]);
  });
});

const inputFields = `id type settings {
  __typename isRequired placeholder
  ... on ShortTextSettings { maxLength defaultText }
  ... on LongTextSettings { maxLength defaultText }
  ... on NumberSettings { min max defaultNumber }
  ... on SelectSettings { options defaultOption }
  ... on BooleanSettings { defaultAnswer }
  ... on DateSettings { earliestDay latestDay defaultDay }
}`;
const createInput = `mutation ($id: ID!, $input: CreateUserInputInput!) { made: createUserInput(agentId: $id, input: $input) { ${inputFields} } }`;
const updateInput = `mutation ($id: ID!, $input: UpdateUserInputInput!) { made: updateUserInput(id: $id, input: $input) { ${inputFields} } }`;
const inputOf = (settings: object) => ({ variableName: 'x', label: 'X', settings });

describe('the settings of a user input', () => {
  it.each([
    ['SHORT_TEXT', 'shortText', { maxLength: 20, defaultText: 'Ann' }, { maxLength: 20, default: 'Ann' }],
    ['LONG_TEXT', 'longText', { maxLength: 2_000, defaultText: 'a\nb' }, { maxLength: 2_000, default: 'a\nb' }],
    ['NUMBER', 'number', { min: 0, max: 9.5, defaultNumber: 0 }, { min: 0, max: 9.5, default: 0 }],
    ['SELECT', 'select', { options: ['a', 'b'], defaultOption: 'b' }, { options: ['a', 'b'], default: 'b' }],
    ['BOOLEAN', 'boolean', { defaultAnswer: false }, { default: false }],
    [
      ...(['DATE', 'date', { earliestDay: '2026-01-01', latestDay: '2026-12-31', defaultDay: '2026-05-01' }] as const),
      { min: '2026-01-01', max: '2026-12-31', default: '2026-05-01' },
    ],
  ])('are typed on GraphQL, and JSON on REST: %s', async (type, choice, members, configuration) => {
    const settings = { ...members, isRequired: true, placeholder: 'Here' };
    const data = await ann.ask(createInput, { id: agentId, input: inputOf({ [choice]: settings }) });
    expect(data.made).toMatchObject({ type, settings });
    const { body } = await ann.get(`${base}/user-inputs/${data.made.id}`);
    expect(body).toMatchObject({ type, configuration: { ...configuration, required: true, placeholder: 'Here' } });
    const { __typename, ...back } = data.made.settings;
    const kept = await ann.graphql(updateInput, { id: data.made.id, input: { settings: { [choice]: back } } });
    expect(kept.data).toEqual(data);
  });

  it('change with the type of the value', async () => {
    const { data } = await ann.graphql(createInput, { id: agentId, input: inputOf({ shortText: { defaultText: 'a' } }) });
    const changed = await ann.graphql(updateInput, { id: data.made.id, input: { settings: { boolean: {} } } });
    expect(changed.data.made).toMatchObject({ type: 'BOOLEAN', settings: { isRequired: false, defaultAnswer: null } });
    const { body } = await ann.get(`${base}/user-inputs/${data.made.id}`);
    expect(body).toMatchObject({ type: 'BOOLEAN', configuration: {} });
  });

  it('are refused at their place in the document', async () => {
    const settings = { date: { earliestDay: '2026-13-01' } };
    const { errors } = await ann.graphql(createInput, { id: agentId, input: inputOf(settings) });
    expect(errors?.[0].extensions.faults).toMatchObject([{ path: 'input.settings.date.earliestDay' }]);
  });
});

describe('the sample conversations of a profile', () => {
  it('are questions with answers, and objects of any members on REST', async () => {
    const mutation =
      'mutation ($id: ID!, $input: UpdateAgentInput!) { agent: updateAgent(id: $id, input: $input) { profile { conversations { question answer } } } }';
    const conversations = [{ question: 'How long?', answer: 'Two years.' }];
    const { data } = await ann.graphql(mutation, { id: agentId, input: { profile: { conversations } } });
    expect(data.agent.profile).toEqual({ conversations });
    expect((await ann.get(base)).body.profile.conversations).toEqual(conversations);
    // Names that the reply itself shows otherwise are the caller's own here.
    const given = [{ title: 'Talk', messages: [{ text: 'Hi' }], email: null, seed: null, listInOrgCatalog: 'yes' }];
    expect((await ann.patch(base, { profile: { conversations: given } })).body.profile.conversations).toEqual(given);
    const shown = await ann.graphql('query ($id: ID!) { agent(id: $id) { profile { conversations { question answer } } } }', {
      id: agentId,
    });
    expect(shown.data.agent.profile.conversations).toEqual([{ question: null, answer: null }]);
  });
});
