import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

/** Lists that third-party formats read by the ids at the ends of a page: connections on GraphQL, like all others. */
const { make } = await withService('web');

const ann = await make.person();
const made: string[] = [];
for (const name of ['a', 'b', 'c', 'd']) made.push((await ann.post('/api/v1/vector_stores', { name })).body.id);
const ids = made;

const stores = async (args: string) => {
  const selection = 'totalCount nodes { name } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
  const { data } = await ann.graphql(`{ vectorStores(${args}) { ${selection} } }`);
  const { nodes, edges, pageInfo, totalCount } = data.vectorStores;
  const { hasNextPage, hasPreviousPage, startCursor, endCursor } = pageInfo;
  expect([startCursor, endCursor]).toEqual([edges[0]?.cursor ?? null, edges.at(-1)?.cursor ?? null]);
  expect(totalCount).toBe(4);
  return {
    page: [nodes.map(({ name }: { name: string }) => name).join(''), hasPreviousPage, hasNextPage],
    startCursor,
    endCursor,
  };
};

describe('a list of vector stores', () => {
  it('goes on behind a cursor, in either order', async () => {
    const { page, endCursor } = await stores('first: 3');
    expect(page).toEqual(['dcb', false, true]);
    expect((await stores(`first: 3, after: "${endCursor}"`)).page).toEqual(['a', true, false]);
    const ascending = await stores('first: 2, order: ASC');
    expect(ascending.page).toEqual(['ab', false, true]);
    expect((await stores(`first: 2, order: ASC, after: "${ascending.endCursor}"`)).page).toEqual(['cd', true, false]);
  });

  it('goes back from a cursor, and from the end', async () => {
    const { page, startCursor } = await stores('last: 2');
    expect(page).toEqual(['ba', true, false]);
    expect((await stores(`last: 1, before: "${startCursor}"`)).page).toEqual(['c', true, true]);
    expect((await stores(`last: 3, before: "${startCursor}"`)).page).toEqual(['dc', false, true]);
  });

  it('has the ids of items as cursors on REST, both ways', async () => {
    const [a, b, c, d] = ids;
    const names = async (query: string) =>
      (await ann.get(`/api/v1/vector_stores?${query}`)).body.data.map(({ name }: { name: string }) => name).join('');
    const { body } = await ann.get('/api/v1/vector_stores?limit=2&order=asc');
    expect(body).toMatchObject({ object: 'list', first_id: a, last_id: b, has_more: true });
    expect(await names(`limit=2&order=asc&after=${b}`)).toBe('cd');
    expect(await names(`limit=2&before=${a}`)).toBe('cb');
    expect(await names(`limit=2&before=${c}`)).toBe('d');
    expect(await names(`after=${d}&before=${a}`)).toBe('cb');
  });
});

describe('files of a vector store', () => {
  it('are a connection of the store, of a batch, and of the root, with the ids of the graph', async () => {
    const form = (name: string) => {
      const data = new FormData();
      data.append('file', new Blob([`About ${name}.`], { type: 'text/plain' }), `${name}.txt`);
      data.append('purpose', 'assistants');
      return data;
    };
    const fileIds: string[] = [];
    for (const name of ['one', 'two', 'three']) fileIds.push((await ann.post('/api/v1/files', form(name))).body.id);
    const created = await ann.graphql(`mutation {
      store: createVectorStore(input: { name: "Shelf", expiresAfterDays: 7, metadata: [{ key: "team", value: "desk" }] }) {
        id dataSourceId expiresAfterDays metadata { key value } source { id type settings { __typename } vectorStore { id } } owner { id }
      }
      other: createVectorStore { name description metadata { key } }
    }`);
    const { store, other } = created.data;
    expect(other).toEqual({ name: null, description: null, metadata: [] });
    expect(store).toEqual({
      id: expect.stringMatching(/^vs_/),
      dataSourceId: expect.stringMatching(/^ds_/),
      expiresAfterDays: 7,
      metadata: [{ key: 'team', value: 'desk' }],
      source: { id: store.dataSourceId, type: 'FILE_UPLOAD', settings: null, vectorStore: { id: store.id } },
      owner: { id: ann.userId },
    });
    const files = fileIds.map((fileId, index) => ({ fileId, attributes: [{ key: 'number', value: index }] }));
    const batch = await ann.graphql(
      `mutation ($id: ID!, $input: CreateVectorStoreFileBatchInput!) {
        createVectorStoreFileBatch(vectorStoreId: $id, input: $input) { id store { id } fileCounts { total } files(last: 1) { totalCount nodes { filename } } }
      }`,
      { id: store.id, input: { files } },
    );
    expect(batch.data.createVectorStoreFileBatch).toMatchObject({
      store: { id: store.id },
      fileCounts: { total: 3 },
      files: { totalCount: 3, nodes: [{ filename: 'one.txt' }] },
    });
    const query = `query ($id: ID!, $batch: ID!) {
      node(id: $id) { ... on VectorStore {
        files(first: 2) { totalCount nodes { id fileId store { id } item { id name source { id } } file { __typename id } attributes { key value } } pageInfo { hasNextPage } }
        batches(first: 1) { nodes { id } }
      } }
      batch: vectorStoreFileBatch(id: $batch) { __typename id }
      vectorStoreFiles(vectorStoreId: $id, order: ASC) { nodes { filename } }
    }`;
    const { data } = await ann.graphql(query, { id: store.id, batch: batch.data.createVectorStoreFileBatch.id });
    expect(data.node.batches.nodes).toEqual([{ id: data.batch.id }]);
    expect(data.vectorStoreFiles.nodes.map(({ filename }: { filename: string }) => filename)).toEqual([
      'one.txt',
      'two.txt',
      'three.txt',
    ]);
    expect(data.node.files).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
    const [three] = data.node.files.nodes;
    expect(three).toMatchObject({
      id: expect.stringMatching(/^vsf_/),
      fileId: fileIds[2],
      store: { id: store.id },
      item: { id: expect.stringMatching(/^ki_/), name: 'three.txt', source: { id: store.dataSourceId } },
      file: { __typename: 'StoredFile', id: fileIds[2] },
      attributes: [{ key: 'number', value: 2 }],
    });
    const again = await ann.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }', {
      ids: [three.id, three.item.id, store.id, store.dataSourceId, data.batch.id, fileIds[0]],
    });
    expect(again.data.nodes.map((node: { __typename: string }) => node.__typename)).toEqual([
      ...['VectorStoreFile', 'KnowledgeItem', 'VectorStore', 'DataSource', 'VectorStoreFileBatch', 'StoredFile'],
    ]);
    const change = `mutation ($id: ID!) {
      updateVectorStoreFile(id: $id, input: { attributes: [{ key: "year", value: 2026 }, { key: "draft", value: false }] }) { attributes { key value } }
      detachVectorStoreFile(id: $id)
    }`;
    const changed = await ann.graphql(change, { id: three.id });
    expect(changed.data).toEqual({
      updateVectorStoreFile: {
        attributes: [
          { key: 'year', value: 2026 },
          { key: 'draft', value: false },
        ],
      },
      detachVectorStoreFile: three.id,
    });
    expect((await ann.get(`/api/v1/vector_stores/${store.dataSourceId}/files/${fileIds[2]}`)).status).toBe(404);
  });
});

it.each([
  ['vectorStores(first: 0) { nodes { id } }', 'first must be from 1 to 100'],
  ['files(first: 101) { nodes { id } }', 'first must be from 1 to 100'],
])('%s is refused in the words of GraphQL', async (query, message) => {
  const { errors } = await ann.graphql(`{ ${query} }`);
  expect(errors).toMatchObject([{ message, extensions: { code: 'INVALID_VALUE' } }]);
});

it('files that are kept are a list of their own; REST lists those of chats and sources too', async () => {
  const form = new FormData();
  form.append('file', new Blob(['Hello'], { type: 'text/plain' }), 'kept.txt');
  form.append('purpose', 'user_data');
  const kept = (await ann.post('/api/v1/files', form)).body.id;
  const agent = await make.agent({ owner: ann });
  const upload = new FormData();
  upload.append('file', new Blob(['Hello'], { type: 'text/plain' }), 'source.txt');
  const source = (await ann.post(`/api/v1/ais/${agent.id}/data-sources/file`, upload)).body.id;
  const { data } = await ann.graphql('{ files(purpose: USER_DATA, first: 5) { totalCount nodes { id purpose filename } } }');
  expect(data.files.nodes).toContainEqual({ id: kept, purpose: 'USER_DATA', filename: 'kept.txt' });
  const { body } = await ann.get('/api/v1/files?limit=10000');
  const [ofSource] = body.data.filter(({ filename }: { filename: string }) => filename === 'source.txt');
  expect(ofSource).toMatchObject({ id: expect.stringMatching(/^ki_/), purpose: 'assistants' });
  const found = await ann.graphql(
    'query ($file: ID!, $kept: ID!) { file(id: $file) { id } kept: file(id: $kept) { id } item: node(id: $file) { ... on KnowledgeItem { source { id } } } }',
    {
      file: ofSource.id,
      kept,
    },
  );
  expect(found.data).toEqual({ file: null, kept: { id: kept }, item: { source: { id: source } } });
  expect((await ann.get(`/api/v1/files/${ofSource.id}`)).body.filename).toBe('source.txt');
});

it('a state has the name of an enum on GraphQL, and the word of the format on REST', async () => {
  const { body } = await ann.post('/api/v1/uploads', {
    bytes: 1,
    filename: 'a.txt',
    mime_type: 'text/plain',
    purpose: 'user_data',
  });
  expect(body).toMatchObject({ object: 'upload', status: 'pending', created_at: expect.any(Number) });
  const { data } = await ann.graphql(
    'mutation ($id: ID!) { cancelFileUpload(id: $id) { id status createdAt sizeBytes purpose parts { totalCount } } }',
    {
      id: body.id,
    },
  );
  expect(data.cancelFileUpload).toEqual({
    ...{ id: body.id, status: 'CANCELLED', createdAt: expect.stringMatching(/^\d{4}-.*Z$/), sizeBytes: 1 },
    ...{ purpose: 'USER_DATA', parts: { totalCount: 0 } },
  });
  const found = await ann.graphql('query ($id: ID!) { fileUpload(id: $id) { status } node(id: $id) { __typename } }', {
    id: body.id,
  });
  expect(found.data).toEqual({ fileUpload: { status: 'CANCELLED' }, node: { __typename: 'FileUpload' } });
  expect(Math.floor(Date.parse(data.cancelFileUpload.createdAt) / 1000)).toBe(body.created_at);
});
