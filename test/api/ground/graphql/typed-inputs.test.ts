import { beforeEach, describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

const { make, upstream } = await withService('model');
const model = 'openai/test-model';
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const answer = '{"city":"Rome"}';

const ann = await make.person();

beforeEach(() => {
  upstream.otherwise({ text: answer });
});

/** What the last request to the model said. */
const asked = () => upstream.requests.findLast(({ method }) => method === 'POST')?.body;

describe('what a run is asked is typed in GraphQL, and flat over REST', () => {
  const request = {
    model,
    input: 'Where?',
    store: false,
    reasoning: { effort: 'low' },
    text: { format: { type: 'json_schema', name: 'place', schema, strict: true } },
    metadata: { trip: 'one' },
    options: { flow: { override: { force: false } }, tracing: { enabled: false } },
  };
  const input = {
    model,
    input: { text: 'Where?' },
    store: false,
    reasoningEffort: 'LOW',
    format: { jsonSchema: { name: 'place', schema, isStrict: true } },
    metadata: [{ name: 'trip', value: 'one' }],
    options: { flow: { isForced: false }, isTraced: false },
    secrets: [{ name: 'TOKEN', value: 'secret of the test' }],
    toolChoice: { mode: 'AUTO' },
    tools: [{ function: { name: 'add', parameters: { type: 'object', properties: { first_number: { type: 'number' } } } } }],
  };

  it('a response in variables', async () => {
    const query = `mutation ($input: ResponseInput!) { createResponse(input: $input) { status request {
      metadata { name value } format { type name schema isStrict } reasoningEffort toolChoice { mode functions tools { __typename } }
      functions { name parameters }
    } } }`.replace('tools { __typename }', 'tools');
    const { body } = await ann.post('/graphql', { query, variables: { input } });
    expect(body.errors).toBeUndefined();
    expect(body.data.createResponse).toEqual({
      status: 'COMPLETED',
      request: {
        metadata: [{ name: 'trip', value: 'one' }],
        format: { type: 'JSON_SCHEMA', name: 'place', schema, isStrict: true },
        reasoningEffort: 'LOW',
        toolChoice: { mode: 'AUTO', functions: null, tools: null },
        functions: [{ name: 'add', parameters: input.tools[0]?.function.parameters }],
      },
    });
    expect(asked()).toMatchObject({ reasoning_effort: 'low', response_format: { json_schema: { name: 'place', schema } } });
  });

  it('the same over REST, where unknown members are ignored', async () => {
    const sent = { ...request, user_secrets: { TOKEN: 'secret of the test' }, options: { ...request.options, other: 1 } };
    const { status, body } = await ann.post('/api/v2/responses', sent);
    expect([status, body.status]).toEqual([200, 'completed']);
    expect(asked()).toMatchObject({ reasoning_effort: 'low', response_format: { json_schema: { name: 'place', schema } } });
  });

  it('a completion whose document holds the values', async () => {
    const query = `mutation ($schema: JsonSchema!) { createCompletion(input: {
      model: "${model}", messages: [{ user: { text: "Where?" } }], options: { isTraced: false }
      format: { jsonSchema: { name: "place", schema: $schema, isStrict: true } }
    }) { text } }`;
    const { body } = await ann.post('/graphql', { query, variables: { schema } });
    expect(body.errors).toBeUndefined();
    expect(body.data.createCompletion.text).toBe(answer);
    expect(asked()).toMatchObject({ response_format: { type: 'json_schema', json_schema: { name: 'place', schema } } });
  });

  it('a message to a chat: over REST unknown members of its options are ignored', async () => {
    const agent = await make.agent({ owner: ann, modelId: model });
    const chat = (await ann.post(`/api/v1/ais/${agent.id}/chats`, {})).body;
    const message = { prompt: 'Where?', options: { tracing: { enabled: false }, other: 1 }, secrets: { TOKEN: 'secret' } };
    const { status, body } = await ann.post(`/api/v1/chats/${chat.id}/messages`, message);
    expect([status, body.content ?? body.text ?? JSON.stringify(body)]).toEqual([200, expect.stringContaining('Rome')]);
    const wrong = await ann.post(`/api/v1/chats/${chat.id}/messages`, {
      prompt: 'Where?',
      options: { tracing: { enabled: 'no' } },
    });
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'options.tracing.enabled' } } });
  });
});

it.each([
  ['createCompletion', 'CompletionInput', { model, messages: [{ user: { text: 'Hi' } }] }],
  ['createResponse', 'ResponseInput', { model, input: { text: 'Hi' } }],
])('%s has no member that chooses the form of a REST reply', async (field, type, input) => {
  for (const member of [{ stream: true }, { streamOptions: {} }]) {
    const query = `mutation ($input: ${type}!) { ${field}(input: $input) { id } }`;
    const { body } = await ann.post('/graphql', { query, variables: { input: { ...input, ...member } } });
    expect(body.errors?.[0]?.message).toContain(`input.${Object.keys(member)[0]} is no member of ${type}.`);
  }
});

describe('a value of the wrong form', () => {
  it.each([
    ['reasoningEffort', { reasoningEffort: 7 }, 'input.reasoningEffort'],
    ['format', { format: { jsonSchema: { name: 'x', schema: 'none' } } }, 'input.format.jsonSchema.schema'],
    ['metadata', { metadata: [{ name: 'trip', value: 1 }] }, 'input.metadata.0.value'],
    ['options', { options: { flow: { other: 1 } } }, 'input.options.flow.other'],
    ['temperature', { temperature: 3 }, 'input.temperature'],
    ['chatId', { chatId: 'chat_none' }, 'input.chatId'],
    [
      'an item',
      { input: { items: [{ functionOutput: { callId: 'call_none', output: { text: 'x' } } }] } },
      'input.input.items.0',
    ],
    ['secrets', { secrets: [{ name: 'A', value: 'x'.repeat(5_000) }] }, 'input.secrets.0.value'],
  ])('of %s is refused by its place in the document', async (_what, given, place) => {
    const query = 'mutation ($input: ResponseInput!) { createResponse(input: $input) { status } }';
    const { body } = await ann.post('/graphql', {
      query,
      variables: { input: { model, input: { text: 'Hi' }, store: false, ...given } },
    });
    expect(body.errors?.[0]?.extensions.faults?.[0]?.path).toContain(place);
  });
});

describe('names with values, which REST has as an object', () => {
  const store = 'mutation ($input: StoreMcpServerInput!) { storeMcpServer(input: $input) { id accountName } }';
  const server = { name: 'Weather', url: 'https://mcp.example.com/mcp' };

  it('are headers of an MCP server', async () => {
    const { data } = await ann.graphql(store, { input: { ...server, headers: [{ name: 'X-Api-Key', value: 'k' }] } });
    expect(data.storeMcpServer.accountName).toBe('Weather');
  });

  it('are refused at their place in the list', async () => {
    const headers = [
      { name: 'X-Api-Key', value: 'k' },
      { name: 'Host', value: 'elsewhere.example' },
    ];
    const { errors } = await ann.graphql(store, { input: { ...server, headers } });
    expect(errors?.[0].extensions.faults[0].path).toBe('input.headers.1.value');
  });

  it('are secrets of a message', async () => {
    const agent = await make.agent({ owner: ann, modelId: model });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    const send = 'mutation ($id: ID!, $input: SendMessageInput!) { sendMessage(chatId: $id, input: $input) { id } }';
    const given = (value: string) => ({ prompt: { text: 'Where?' }, secrets: [{ name: 'TOKEN', value }] });
    expect((await ann.graphql(send, { id: chat.id, input: given('secret') })).errors).toBeUndefined();
    const { errors } = await ann.graphql(send, { id: chat.id, input: given('x'.repeat(5_000)) });
    expect(errors?.[0].extensions.faults).toMatchObject([{ path: 'input.secrets.0.value' }]);
  });
});
