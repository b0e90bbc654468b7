import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GraphqlFrame, startGraphqlFrame } from '../../../support/apis/graphql-frame.ts';

let frame: GraphqlFrame;
beforeAll(async () => {
  frame = await startGraphqlFrame({ GRAPHQL_COST_MAX: '500' });
});
afterAll(() => frame.close());

const asked = { 'x-parley-cost': '1' };
const ask = (query: string, headers = {}) => frame.client('all').post('/graphql', { query }, headers);
const ticks = 'subscription { ticks(input: { count: 2 }) { value } }';

describe('the cost of an operation', () => {
  it('is told to who asks for it by a header, with what is allowed', async () => {
    const { body } = await ask('{ hello }', asked);
    expect(body).toMatchObject({ data: {}, extensions: { cost: { asked: expect.any(Number), allowed: 500 } } });
    expect(body.extensions.cost.asked).toBeGreaterThan(0);
    const larger = await ask('{ hello node { id children(first: 10) { nodes { id } } } }', asked);
    expect(larger.body.extensions.cost.asked).toBeGreaterThan(body.extensions.cost.asked);
    expect((await ask('{ hello }')).body.extensions).toBeUndefined();
  });

  it('stands in a refusal for it', async () => {
    const document = '{ node { children(first: 100) { nodes { children(first: 100) { nodes { id } } } } } }';
    const { body } = await ask(document, asked);
    expect(body).toMatchObject({
      errors: [{ extensions: { code: 'GRAPHQL_TOO_COSTLY' } }],
      extensions: { cost: { allowed: 500 } },
    });
    expect(body.extensions.cost.asked).toBeGreaterThan(500);
    const streamed = await frame
      .client('all')
      .post('/graphql/stream', { query: document }, { accept: 'text/event-stream', ...asked });
    expect(streamed.body.extensions).toEqual(body.extensions);
  });

  it('stands in each result of a subscription', async () => {
    const frames = await frame.client('all').stream('/graphql', { query: ticks }, asked);
    const results = frames.filter(({ event }) => event === 'next').map(({ data }) => JSON.parse(data));
    expect(results).toHaveLength(2);
    for (const { extensions } of results) expect(extensions.cost).toMatchObject({ allowed: 500 });
  });

  it.each([true, false])('stands in results of graphql-sse, with a single connection: %s', async (singleConnection) => {
    const headers = { authorization: 'Bearer all', ...asked };
    const client = createClient({ url: `${frame.url}/graphql/stream`, singleConnection, headers, retryAttempts: 0 });
    const results = await Array.fromAsync(client.iterate({ query: ticks }));
    client.dispose();
    expect(results.map(({ extensions }) => (extensions as { readonly cost?: object })?.cost)).toMatchObject([
      { allowed: 500 },
      { allowed: 500 },
    ]);
  });
});
