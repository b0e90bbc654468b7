import { getIntrospectionQuery } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { type DocumentShape, documentShapes } from '../../../support/apis/document-shapes.ts';
import type { Reply } from '../../../support/client.ts';
import type { Person } from '../../../support/make.ts';
import { inTurn } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';

/** For a whole request with its client in the same thread. Without the limits it would take seconds. */
const requestBudgetMs = 2_000;

const shapes = Object.entries(documentShapes);
const { make } = await withService('web');
let ann: Person;
beforeAll(async () => {
  ann = await make.person();
  await make.agent({ owner: ann });
  // Load the modules that the first request loads.
  for (const call of Object.values(entries)) await call({ query: '{ nope }', ends: '' });
});

/** The ways to send a document, each with a function that returns the code of the result. */
const entries: Readonly<Record<string, (shape: DocumentShape) => Promise<string>>> = {
  POST: async (shape) => endOf(await ann.post('/graphql', body(shape), json)),
  'POST for graphql-response+json': async (shape) =>
    endOf(await ann.post('/graphql', body(shape), { ...json, accept: 'application/graphql-response+json' })),
  GET: async ({ query, variables = '{}' }) => endOf(await ann.get(`/graphql?${new URLSearchParams({ query, variables })}`)),
  multipart: async (shape) => {
    const form = new FormData();
    form.append('operations', body(shape));
    form.append('map', '{}');
    return endOf(await ann.post('/graphql', form, { 'x-graphql-yoga-csrf': '1' }));
  },
  'SSE on /graphql': (shape) => streamed('/graphql', shape),
  'SSE of a distinct connection': (shape) => streamed('/graphql/stream', shape),
  'SSE of a single connection': async (shape) => {
    const { body: token } = await ann.call('PUT', '/graphql/stream');
    const frames = ann.sse('GET', `/graphql/stream?token=${token}`);
    const accepted = await ann.post(`/graphql/stream?token=${token}`, body(shape, { operationId: 'one' }), json);
    if (accepted.status !== 202) return endOf(accepted);
    for await (const frame of frames) if (frame.event === 'next') return codeOf(JSON.parse(frame.data).payload);
    return 'nothing';
  },
};
/** Longer documents do not fit a URL. */
const addressMaxChars = 12_000;

const json = { 'content-type': 'application/json' };

/** A request as JSON text. */
function body({ query, variables = '{}' }: DocumentShape, extensions: object = {}): string {
  return `{ "query": ${JSON.stringify(query)}, "variables": ${variables}, "extensions": ${JSON.stringify(extensions)} }`;
}

async function streamed(path: string, shape: DocumentShape): Promise<string> {
  const response = await ann.fetch('POST', path, body(shape), { ...json, accept: 'text/event-stream' });
  const text = await response.text();
  if (!response.ok) return codeOf(JSON.parse(text));
  return codeOf(JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}'));
}

interface GraphqlError {
  readonly message: string;
  readonly extensions: { readonly code: string };
}
const endOf = ({ body: replied }: Reply) => codeOf(replied);

function codeOf({ data, errors = [] }: { data?: unknown; errors?: readonly GraphqlError[] }): string {
  // A refused document is told no more of what it sent than a line.
  for (const { message } of errors) expect(message.length).toBeLessThan(1_100);
  return data === undefined ? (errors[0]?.extensions.code ?? 'nothing') : 'runs';
}

describe.each(Object.keys(entries).map((entry, turn) => [entry, turn] as const))('by %s', (entry, turn) => {
  it.each(inTurn(shapes, turn))('ends soon: %s', async (_name, shape) => {
    if (entry === 'GET' && encodeURIComponent(body(shape)).length > addressMaxChars) return;
    const before = process.threadCpuUsage();
    const end = await entries[entry]?.(shape);
    const { user, system } = process.threadCpuUsage(before);
    expect(end).toMatch(new RegExp(shape.ends));
    expect((user + system) / 1_000).toBeLessThan(requestBudgetMs);
  });
});

describe('the limits', () => {
  it('let tools read the whole schema, with all that they may ask for', async () => {
    const everything = {
      ...{ descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true },
      ...{ inputValueDeprecation: true, experimentalDirectiveDeprecation: true, oneOf: true },
    };
    const data = await ann.ask(getIntrospectionQuery(everything));
    expect(data.__schema.types.length).toBeGreaterThan(100);
  });
});

describe('a refused document', () => {
  it('gets the exceeded limit and its value', async () => {
    const { query } = documentShapes['fragments 16 deep, spread three times'] ?? expect.fail();
    const { errors } = await ann.graphql(query);
    expect(errors?.[0].message).toMatch(/unfolds to \d+ fields; at most 20000 are allowed/);
  });
});
