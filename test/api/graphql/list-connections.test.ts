import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

/** Lists that third-party formats read too: connections on GraphQL, whose cursors are the ids that REST gives. */
const { make } = await withService('web');
let ann: Person;
let ids: readonly string[];

beforeAll(async () => {
  ann = await make.person();
  const made: string[] = [];
  for (const name of ['a', 'b', 'c', 'd']) made.push((await ann.post('/api/v1/vector_stores', { name })).body.id);
  ids = made;
});

const stores = async (args: string) => {
  const selection = 'nodes { name } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
  const { data } = await ann.graphql(`{ vectorStores(${args}) { ${selection} } }`);
  const { nodes, edges, pageInfo } = data.vectorStores;
  const { hasNextPage, hasPreviousPage } = pageInfo;
  const cursors = edges.map(({ cursor }: { cursor: string }) => cursor);
  expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([cursors[0] ?? null, cursors.at(-1) ?? null]);
  return [nodes.map(({ name }: { name: string }) => name).join(''), hasPreviousPage, hasNextPage, ...cursors];
};

describe('a list of vector stores', () => {
  it('goes on behind a cursor, in either order', async () => {
    const [a, b, c, d] = ids;
    expect(await stores('first: 3')).toEqual(['dcb', false, true, d, c, b]);
    expect(await stores(`first: 3, after: "${b}"`)).toEqual(['a', true, false, a]);
    expect(await stores('first: 2, order: ASC')).toEqual(['ab', false, true, a, b]);
    expect(await stores(`first: 2, order: ASC, after: "${d}"`)).toEqual(['', true, false]);
  });

  it('goes back from a cursor', async () => {
    const [, b, c, d] = ids;
    expect(await stores(`first: 2, before: "${ids[0]}"`)).toEqual(['cb', true, true, c, b]);
    expect(await stores(`first: 2, before: "${c}"`)).toEqual(['d', false, true, d]);
  });

  it('takes the cursors of REST', async () => {
    const { body } = await ann.get('/api/v1/vector_stores?limit=2&order=asc');
    expect(body).toMatchObject({ object: 'list', last_id: ids[1], has_more: true });
    expect(await stores(`order: ASC, after: "${body.last_id}"`)).toEqual(['cd', true, false, ids[2], ids[3]]);
  });
});

it.each([
  ['vectorStores(first: 0) { nodes { id } }', 'first must be from 1 to 100'],
  ['files(first: 10001) { nodes { id } }', 'first must be from 1 to 10000'],
])('%s is refused in the words of GraphQL', async (query, message) => {
  const { errors } = await ann.graphql(`{ ${query} }`);
  expect(errors).toMatchObject([{ message, extensions: { code: 'INVALID_VALUE' } }]);
});

it('a state has the name of an enum on GraphQL, and the word of the format on REST', async () => {
  const { body } = await ann.post('/api/v1/uploads', {
    bytes: 1,
    filename: 'a.txt',
    mime_type: 'text/plain',
    purpose: 'user_data',
  });
  expect(body).toMatchObject({ object: 'upload', status: 'pending', created_at: expect.any(Number) });
  const { data } = await ann.graphql('mutation ($id: ID!) { cancelFileUpload(id: $id) { status createdAt sizeBytes } }', {
    id: body.id,
  });
  expect(data.cancelFileUpload).toEqual({ status: 'CANCELLED', createdAt: expect.stringMatching(/^\d{4}-.*Z$/), sizeBytes: 1 });
  expect(Math.floor(Date.parse(data.cancelFileUpload.createdAt) / 1000)).toBe(body.created_at);
});
