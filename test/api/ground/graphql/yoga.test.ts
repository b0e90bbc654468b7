import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type GraphqlFrame, startGraphqlFrame } from '../../../support/apis/graphql-frame.ts';

let frame: GraphqlFrame;
let entered: string[] = [];
beforeAll(async () => {
  const counter = { onRequest: ({ request }: { request: Request }) => void entered.push(request.method) };
  frame = await startGraphqlFrame({}, [counter]);
});
afterAll(() => frame.close());
beforeEach(() => {
  entered = [];
});

const ticks = 'subscription ($input: TicksInput!) { ticks(input: $input) { value } }';
const variables = { input: { count: 2 } };
const json = (body: object, headers = {}) => frame.client('all').post('/graphql', body, headers);

function upload(): FormData {
  const form = new FormData();
  const query = 'mutation ($file: File!) { upload(file: $file) }';
  form.append('operations', JSON.stringify({ query, variables: { file: null } }));
  form.append('map', '{"0":["variables.file"]}');
  form.append('0', new File(['text'], 'a.txt'));
  return form;
}

async function follow(singleConnection: boolean): Promise<void> {
  const headers = { authorization: 'Bearer all' };
  const client = createClient({ url: `${frame.url}/graphql/stream`, singleConnection, headers, retryAttempts: 0 });
  const results = await Array.fromAsync(client.iterate({ query: ticks, variables }));
  client.dispose();
  expect(results).toHaveLength(2);
}

describe('every request enters Yoga', () => {
  it.each<[name: string, methods: readonly string[], send: () => Promise<unknown>]>([
    ['a query', ['POST'], () => json({ query: '{ hello }' })],
    ['a mutation', ['POST'], () => json({ query: 'mutation { bump }' })],
    ['a GET', ['GET'], () => frame.client('all').get('/graphql?query=%7Bhello%7D')],
    ['an upload', ['POST'], () => frame.client('all').post('/graphql', upload(), { 'x-graphql-yoga-csrf': '1' })],
    ['a subscription', ['POST'], () => json({ query: ticks, variables }, { accept: 'text/event-stream' })],
    ['a document that is refused', ['POST'], () => json({ query: '{ nothing }' })],
    ['a document that is no GraphQL', ['POST'], () => json({ query: '{' })],
    ['a body that is no JSON', ['POST'], () => frame.client('all').post('/graphql', '{', { 'content-type': 'application/json' })],
    ['a key that is unknown', ['POST'], () => frame.client('wrong').post('/graphql', { query: '{ hello }' })],
    ['a distinct connection of graphql-sse', ['POST'], () => follow(false)],
    ['a single connection of graphql-sse', ['PUT', 'GET', 'POST'], () => follow(true)],
  ])('%s', async (_name, methods, send) => {
    await send();
    expect(entered.slice(0, methods.length)).toEqual(methods);
  });
});
