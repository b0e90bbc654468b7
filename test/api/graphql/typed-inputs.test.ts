import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

const { make, upstream } = await withService('model');
const model = 'openai/test-model';
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const answer = '{"city":"Rome"}';
let ann: Person;

beforeAll(async () => {
  ann = await make.person();
});
beforeEach(() => {
  upstream.otherwise({ text: answer });
});

/** What the last request to the model said. */
const asked = () => upstream.requests.findLast(({ method }) => method === 'POST')?.body;

describe('a part of a wire format is typed in GraphQL, and its JSON is accepted as over REST', () => {
  const input = {
    model,
    input: 'Where?',
    store: false,
    reasoning: { effort: 'low', summary: null },
    text: { format: { type: 'json_schema', name: 'place', schema, strict: true } },
    metadata: { trip: 'one' },
    options: { flow: { tracing: { enabled: false } }, tracing: { enabled: false } },
    userSecrets: { TOKEN: 'secret of the test' },
  };

  it('a response in variables', async () => {
    const query =
      'mutation ($input: ResponseInput!) { createResponse(input: $input) { status request { metadata format reasoningEffort } } }';
    const { body } = await ann.post('/graphql', {
      query,
      variables: { input },
    });
    expect(body.errors).toBeUndefined();
    expect(body.data.createResponse).toMatchObject({
      status: 'COMPLETED',
      request: { metadata: { trip: 'one' }, reasoningEffort: 'low' },
    });
    expect(body.data.createResponse.request.format).toMatchObject({ type: 'json_schema', name: 'place', schema });
    expect(asked()).toMatchObject({ reasoning_effort: 'low', response_format: { json_schema: { name: 'place', schema } } });
  });

  it('the same over REST, where unknown members are ignored', async () => {
    const { text, userSecrets, ...rest } = input;
    const sent = { ...rest, text, user_secrets: userSecrets, options: { ...input.options, other: 1 } };
    const { status, body } = await ann.post('/api/v2/responses', sent);
    expect([status, body.status]).toEqual([200, 'completed']);
    expect(asked()).toMatchObject({ reasoning_effort: 'low', response_format: { json_schema: { name: 'place', schema } } });
  });

  it('a completion whose document holds the values', async () => {
    const query = `mutation ($schema: JsonSchema) { createCompletion(input: {
      model: "${model}", messages: [{ role: "user", content: "Where?" }], options: { flow: { tracing: { enabled: false } } }
      responseFormat: { type: "json_schema", json_schema: { name: "place", schema: $schema, strict: true } }
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
  ['createCompletion', 'CompletionInput', { model, messages: [{ role: 'user', content: 'Hi' }] }],
  ['createResponse', 'ResponseInput', { model, input: 'Hi' }],
])('%s has no member that chooses the form of a REST reply', async (field, type, input) => {
  for (const member of [{ stream: true }, { streamOptions: {} }]) {
    const query = `mutation ($input: ${type}!) { ${field}(input: $input) { id } }`;
    const { body } = await ann.post('/graphql', { query, variables: { input: { ...input, ...member } } });
    expect(body.errors?.[0]?.message).toContain(`input.${Object.keys(member)[0]} is no member of ${type}.`);
  }
});

describe('a value of the wrong form', () => {
  it.each([
    ['reasoning', { reasoning: { effort: 7 } }, 'effort'],
    ['text', { text: { format: { type: 'json_schema', name: 'x', schema: 'none' } } }, 'schema'],
    ['metadata', { metadata: { trip: 1 } }, 'metadata'],
    ['options', { options: { flow: { other: 1 } } }, 'other'],
  ])('of %s is refused by the name of its member', async (_what, given, name) => {
    const query = 'mutation ($input: ResponseInput!) { createResponse(input: $input) { status } }';
    const { body } = await ann.post('/graphql', { query, variables: { input: { model, input: 'Hi', store: false, ...given } } });
    expect(body.errors?.[0]?.message).toContain(name);
    expect(body.errors?.[0]?.extensions.code).toMatch(/./);
  });
});
