import { createSourceEventStream, type ExecutionArgs, execute, type GraphQLSchema, getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../../src/graphql/server/documents/documents.ts';
import type { Executor, Variables } from '../../../src/graphql/server/executor.ts';
import { type GraphqlFrame, startGraphqlFrame } from '../../support/apis/graphql-frame.ts';

/** The plain path: unchanged graphql-js behind Yoga and graphql-sse. */
class GraphqlJs implements Executor {
  readonly #schema: GraphQLSchema;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }
  execute(operation: Operation, variables: Variables, context: object) {
    return execute(this.#argsOf(operation, variables, context));
  }
  async subscribe(operation: Operation, variables: Variables, context: object) {
    const source = await createSourceEventStream(this.#argsOf(operation, variables, context));
    if (!(Symbol.asyncIterator in source)) return source;
    const resultOf = (rootValue: unknown, own: unknown) => execute({ ...this.#argsOf(operation, variables, own), rootValue });
    return { source, resultOf };
  }
  #argsOf({ document, name }: Operation, variableValues: Variables, contextValue: unknown): ExecutionArgs {
    return { schema: this.#schema, document, operationName: name ?? null, variableValues, contextValue };
  }
}

let fast: GraphqlFrame;
let plain: GraphqlFrame;
beforeAll(async () => {
  const env = { GRAPHQL_COST_MAX: '5000' };
  fast = await startGraphqlFrame(env);
  plain = await startGraphqlFrame(env, (schema) => new GraphqlJs(schema));
});
afterAll(() => Promise.all([fast.close(), plain.close()]));

type Asked = { readonly query?: unknown; readonly variables?: unknown; readonly operationName?: unknown };

/** Everything that a client sees of an answer, except its time. */
async function answerOf(frame: GraphqlFrame, asked: Asked, accept: Readonly<Record<string, string>>) {
  const reply = await frame.client('all').post('/graphql', asked, { 'x-request-id': 'same', ...accept });
  const { date: _date, ...headers } = Object.fromEntries(reply.headers);
  return { status: reply.status, headers, body: reply.body };
}

const sized = 'query ($size: Int!, $yes: Boolean = true) { long(size: $size) hello @include(if: $yes) }';
const corpus: readonly (readonly [string, Asked])[] = [
  ['a query', { query: '{ hello }' }],
  ['aliases and nested objects', { query: '{ a: hello b: hello node { child { id } parts { id } one: id } }' }],
  ['fragments', { query: '{ node { ...A ... on Node { child { ...A } } } } fragment A on Node { id __typename }' }],
  ['directives', { query: '{ hello @skip(if: true) more: hello @include(if: true) }' }],
  ['variables and their defaults', { query: sized, variables: { size: 3 } }],
  ['variables that switch fields', { query: sized, variables: { size: 3, yes: false } }],
  ['arguments of a list', { query: '{ node { children(first: 2) { nodes { id } } } }' }],
  ['one of two operations', { query: 'query A { a: hello } query B { b: hello }', operationName: 'B' }],
  ['no operation of two', { query: 'query A { a: hello } query B { b: hello }' }],
  ['an operation that is not there', { query: 'query A { a: hello }', operationName: 'C' }],
  ['a mutation', { query: 'mutation { bump again: bump }' }],
  ['introspection', { query: getIntrospectionQuery() }],
  ['a type by its name', { query: '{ __type(name: "Node") { fields { name } } nothing: __type(name: "X") { name } }' }],
  ['an error with a code', { query: '{ refuse hello }' }],
  ['an error that is masked', { query: '{ fail }' }],
  ['a variable of another type', { query: sized, variables: { size: 'x' } }],
  ['a variable that is missing', { query: sized }],
  ['a variable that is null', { query: sized, variables: { size: null } }],
  ['an argument of another type', { query: '{ long(size: "x") }' }],
  ['a field that is not there', { query: '{ nothing hello { id } }' }],
  ['no GraphQL', { query: '{ hello' }],
  ['an empty document', { query: '' }],
  ['no query', {}],
  ['variables that are no object', { query: '{ hello }', variables: [1] }],
  ['too deep', { query: `{ node { ${'child { '.repeat(20)} id ${'} '.repeat(20)} } }` }],
  ['too many aliases', { query: `{ ${Array.from({ length: 51 }, (_, i) => `a${i}: hello`).join(' ')} }` }],
  ['too many tokens', { query: `{ ${'hello '.repeat(5_000)} }` }],
  ['too costly', { query: '{ node { children(first: 100) { nodes { children(first: 100) { nodes { id } } } } } }' }],
  ['fragments in circles', { query: '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }' }],
  ['a subscription without a stream', { query: 'subscription { ticks(input: { count: 1 }) { value } }' }],
];

describe.each([
  ['application/json'],
  ['application/graphql-response+json'],
  ['application/graphql-response+json, application/json;q=0.9'],
  ['application/json, application/xml'],
  ['text/plain'],
])('the fast path answers what Yoga and graphql-js answer to a client that takes %s', (accept) => {
  it.each(corpus)('%s', async (_name, asked) => {
    expect(await answerOf(fast, asked, { accept })).toEqual(await answerOf(plain, asked, { accept }));
  });
});

const ticks = 'subscription ($input: TicksInput!, $size: Int) { ticks(input: $input) { ...A text(size: $size) } }';
const values = 'fragment A on Tick { value again: value @skip(if: false) __typename }';
const streams: readonly (readonly [string, Asked])[] = [
  ['a subscription', { query: `${ticks} ${values}`, variables: { input: { count: 25, batch: 10 }, size: 2 } }],
  ['a subscription in single events', { query: `${ticks} ${values}`, variables: { input: { count: 3, everyMs: 1 } } }],
  ['a refused subscription', { query: 'subscription { refused { value } }' }],
  ['a source that breaks', { query: 'subscription { broken { value } }' }],
  ['variables that are missing', { query: `${ticks} ${values}` }],
  ['a query', { query: '{ hello fail }' }],
  ['a mutation', { query: 'mutation { bump }' }],
];

async function distinctFrames(frame: GraphqlFrame, path: string, asked: Asked): Promise<string[]> {
  const frames = await frame.client('all').stream(path, asked, { 'x-request-id': 'same' });
  return frames.map(({ event, data }) => `${event} ${data}`);
}

async function singleFrames(frame: GraphqlFrame, asked: Asked): Promise<string[]> {
  const client = frame.client('all');
  const token = { 'x-graphql-event-stream-token': (await client.call('PUT', '/graphql/stream')).body };
  const opened = client.sse('GET', '/graphql/stream', undefined, token);
  const found: string[] = [];
  const start = { ...asked, extensions: { operationId: 'one' } };
  expect((await client.post('/graphql/stream', start, { 'x-request-id': 'same', ...token })).status).toBe(202);
  for await (const { event, data } of opened) {
    found.push(`${event} ${data}`);
    if (event === 'complete') break;
  }
  return found;
}

describe.each([
  ['plain SSE', (frame: GraphqlFrame, asked: Asked) => distinctFrames(frame, '/graphql', asked)],
  ['distinct connections', (frame: GraphqlFrame, asked: Asked) => distinctFrames(frame, '/graphql/stream', asked)],
  ['a single connection', singleFrames],
])('the fast path streams what graphql-js streams by %s', (_mode, framesOf) => {
  it.each(streams)('%s', async (_name, asked) => {
    const frames = await framesOf(fast, asked);
    expect(frames.at(-1)).toMatch(/^complete/);
    expect(frames).toEqual(await framesOf(plain, asked));
  });
});
