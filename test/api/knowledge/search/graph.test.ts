import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { countFewestStatements } from '../../../support/storage/statements.ts';

/** What front ends read of knowledge: edges between its things, by as many statements for many as for few. */
const { service, make } = await withService();
const sourcesMade = 50;
let ann: Person;
let agentId: string;
let broken: string;

beforeAll(async () => {
  ann = await make.person({ role: 'ADMIN', name: 'Ann' });
  agentId = (await make.agent({ owner: ann, name: 'Librarian' })).id;
  const { body: wiki } = await ann.post('/api/v1/connections', { provider: 'WIKI', accountName: 'ann', accessToken: 'a' });
  for (let index = 0; index < sourcesMade; index += 1) {
    const { id } = await make.apiDataSource({ owner: ann, agentId, name: `Source ${index}`, data: { text: `Shelf ${index}.` } });
    // A configuration that names a connection, so that the edge leads somewhere; nothing reads it.
    await service.deps.storage.db.prisma.dataSource.update({
      where: { id },
      data: { data: { text: `Shelf ${index}.`, oauthTokenId: wiki.id } },
    });
  }
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array([0, 1, 2, 3])], { type: 'application/zip' }), 'broken.bin');
  broken = (await ann.post(`/api/v1/ais/${agentId}/data-sources/file`, form)).body.id;
  await eventually(async () => expect((await ann.get(`/api/v1/data-sources/${broken}`)).body.indexStatus).toBe('FAILED'));
  await allRunsEnded();
});

/** A run ends a little after its source is indexed, and statements of indexing would count as those of a request. */
const allRunsEnded = () =>
  eventually(async () => {
    const { data } = await ann.graphql('{ dataSources(first: 100) { nodes { indexStatus activeRun { id } } } }');
    const busy = data.dataSources.nodes.filter(
      ({ indexStatus, activeRun }: { indexStatus: string; activeRun: object | null }) =>
        activeRun !== null || !['INDEXED', 'FAILED'].includes(indexStatus),
    );
    expect(busy).toEqual([]);
  });

describe('a list of sources', () => {
  const list = (first: number) => `{ dataSources(first: ${first}) { nodes {
    id name indexStatus indexPercentage owner { name } connection { accountName owner { id } }
    agents(first: 2) { totalCount nodes { id name } } activeRun { id progress { percent remainingMs } }
    items(first: 2) { totalCount nodes { id name } } failedItems(first: 2) { totalCount nodes { id errorCode isRetryable } }
    runs(first: 1) { totalCount nodes { status durationMs } }
  } } }`;

  it('costs as many statements for 50 as for 5', async () => {
    const counts = [];
    for (const first of [5, sourcesMade]) {
      await ann.graphql(list(first));
      const { result, statements } = await countFewestStatements(service, () => ann.graphql(list(first)));
      expect(result.errors).toBeUndefined();
      expect(result.data.dataSources.nodes).toHaveLength(first);
      counts.push(statements.length);
    }
    expect(counts[1]).toBe(counts[0]);
  });

  it('shows owner, connection, agents, documents and failures of each', async () => {
    const { data } = await ann.graphql(list(2));
    const [first, second] = data.dataSources.nodes;
    expect(first).toMatchObject({
      ...{ id: broken, indexStatus: 'FAILED', indexPercentage: 100, connection: null },
      owner: { name: 'Ann' },
      agents: { totalCount: 1, nodes: [{ id: agentId, name: 'Librarian' }] },
      items: { totalCount: 1 },
      failedItems: { totalCount: 1, nodes: [{ errorCode: 'UNSUPPORTED_TYPE', isRetryable: false }] },
      runs: { totalCount: 1, nodes: [{ status: 'FAILED' }] },
    });
    expect(second).toMatchObject({
      connection: { accountName: 'ann', owner: { id: ann.userId } },
      failedItems: { totalCount: 0, nodes: [] },
    });
  });
});

describe('edges of knowledge', () => {
  it('lead both ways: source, documents, passages, runs, connection', async () => {
    const { id } = await make.apiDataSource({
      owner: ann,
      agentId,
      name: 'Opening hours',
      data: { monday: 'From nine to five.' },
    });
    await allRunsEnded();
    const { data } = await ann.graphql(
      `query ($id: ID!) { dataSource(id: $id) {
        settings { __typename ... on ApiSettings { payload } }
        items(search: "opening", status: [INDEXED]) { nodes {
          id type indexPercentage passageCount parentUniqueId source { id } errorCode originalContent { mimeType sizeBytes contentUrl }
          passages(first: 1) { totalCount nodes { place text headingPath page } pageInfo { hasNextPage } }
        } }
        none: items(search: "closing") { totalCount }
        runs { nodes { id trigger status endedAt listingMs source { id } progress { percent } bound } }
      } }`,
      { id },
    );
    const { settings, items, none, runs } = data.dataSource;
    expect(settings).toEqual({ __typename: 'ApiSettings', payload: { monday: 'From nine to five.' } });
    expect(none.totalCount).toBe(0);
    const [item] = items.nodes;
    expect(item).toMatchObject({
      ...{ type: 'API', indexPercentage: 100, parentUniqueId: null, source: { id }, errorCode: null },
      originalContent: {
        mimeType: 'application/json',
        sizeBytes: expect.any(Number),
        contentUrl: expect.stringContaining(item.id),
      },
      passages: { totalCount: item.passageCount, nodes: [{ place: 0, text: expect.stringContaining('nine') }] },
    });
    expect(runs.nodes).toEqual([
      expect.objectContaining({ trigger: 'ADDED', status: 'COMPLETED', source: { id }, progress: null, bound: null }),
    ]);
    const found = await ann.graphql(
      'query ($item: ID!, $run: ID!) { knowledgeItem(id: $item) { id } dataSourceRun(id: $run) { id } }',
      {
        item: item.id,
        run: runs.nodes[0].id,
      },
    );
    expect(found.data).toEqual({ knowledgeItem: { id: item.id }, dataSourceRun: { id: runs.nodes[0].id } });
  });

  it('lead from a connection to what reads with it, and page there both ways', async () => {
    const query = `query ($after: String) { connections(provider: WIKI) { nodes { id sources(first: 30, after: $after) {
      totalCount nodes { name } pageInfo { hasNextPage endCursor } } } } }`;
    const first = (await ann.graphql(query)).data.connections.nodes[0].sources;
    expect(first).toMatchObject({ totalCount: sourcesMade, pageInfo: { hasNextPage: true } });
    const second = (await ann.graphql(query, { after: first.pageInfo.endCursor })).data.connections.nodes[0].sources;
    expect([...first.nodes, ...second.nodes].map(({ name }) => name)).toEqual(
      Array.from({ length: sourcesMade }, (_, index) => `Source ${sourcesMade - 1 - index}`),
    );
    const last = await ann.graphql('{ connections(provider: WIKI) { nodes { sources(last: 1) { nodes { name } } } } }');
    expect(last.data.connections.nodes[0].sources.nodes).toEqual([{ name: 'Source 0' }]);
  });

  it('show nothing to others', async () => {
    const stranger = await make.person();
    const { data } = await ann.graphql(
      'query ($id: ID!) { dataSource(id: $id) { items { nodes { id } } runs { nodes { id } } } }',
      {
        id: broken,
      },
    );
    const ids = [broken, data.dataSource.items.nodes[0].id, data.dataSource.runs.nodes[0].id];
    const seen = await stranger.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(seen.data.nodes).toEqual([null, null, null]);
    const looked = await stranger.graphql(
      'query ($source: ID!, $item: ID!, $run: ID!) { dataSource(id: $source) { id } knowledgeItem(id: $item) { id } dataSourceRun(id: $run) { id } }',
      { source: ids[0], item: ids[1], run: ids[2] },
    );
    expect(looked.data).toEqual({ dataSource: null, knowledgeItem: null, dataSourceRun: null });
  });
});
