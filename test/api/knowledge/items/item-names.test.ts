import { describe, expect, it, vi } from 'vitest';
import { findNamedItems } from '../../../../src/storage/knowledge/items/names.ts';
import { withService } from '../../../support/service.ts';

/** Documents of a source whose names contain a text: what is found, in the order of the list, and from an index alone. */
const { service, make } = await withService();
const itemCount = 3_000;

const ann = await make.person({ role: 'ADMIN' });
const { id: agentId } = await make.agent({ owner: ann });
const sourceId = (await make.apiDataSource({ owner: ann, agentId, name: 'Large', data: { text: 'A shelf.' } })).id;
const { id: otherId } = await make.apiDataSource({ owner: ann, agentId, name: 'Small', data: { text: 'A shelf.' } });
await addItems(sourceId, itemCount, `'Document ' || i || case when i % 100 = 0 then ' 50%_Off' else '' end`);
await addItems(otherId, 1, `'Document of the other'`);
await service.deps.storage.db.pool.query('vacuum analyze knowledge_items');

/** In the order of their numbers; the 200th is being deleted, and each 300th has failed. */
async function addItems(dataSourceId: string, count: number, name: string) {
  const { pool } = service.deps.storage.db;
  await pool.query(
    `insert into knowledge_items (id, "createdAt", "updatedAt", "orgId", "dataSourceId", name, "uniqueId", type, "indexStatus", "liveGeneration")
     select $1 || lpad(i::text, 6, '0'), '2026-01-01'::timestamptz + i / 2 * interval '1 second', now(), "orgId", id, ${name}, 'n' || i, 'FILE',
       case when i = 200 then 'DELETING' when i % 300 = 0 then 'FAILED' else 'INDEXED' end, 1
     from data_sources cross join generate_series(1, $3::int) i where id = $2`,
    [`ki_${dataSourceId}_`, dataSourceId, count],
  );
}

const document = `query ($id: ID!, $search: String, $status: [IndexStatus!], $first: Int, $after: String, $last: Int, $before: String) {
  knowledgeItems(dataSourceId: $id, search: $search, status: $status, first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { name } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
async function listed(variables: object) {
  const data = await ann.ask(document, { id: sourceId, ...variables });
  const { nodes, ...rest } = data.knowledgeItems;
  return { names: nodes.map(({ name }: { name: string }) => name), ...rest };
}
const offNames = Array.from({ length: 30 }, (_, n) => `Document ${100 * (n + 1)} 50%_Off`).filter((_, n) => n !== 1);

describe('documents whose names contain a text', () => {
  it('are found ignoring case, oldest first, without those under deletion', async () => {
    expect(await listed({ search: ' 50%_oFF ', first: 100 })).toMatchObject({ names: offNames, totalCount: 29 });
  });

  it('are those with its signs, not with what LIKE makes of them', async () => {
    expect(await listed({ search: '5_%Off', first: 10 })).toMatchObject({ names: [], totalCount: 0 });
  });

  it('are found by their state too', async () => {
    const { names } = await listed({ search: 'off', status: ['FAILED'], first: 100 });
    expect(names).toEqual(offNames.filter((_, n) => Number(offNames[n]?.split(' ')[1]) % 300 === 0));
  });

  it.each([
    ['forwards', (cursors: { endCursor: string | null }) => ({ first: 7, after: cursors.endCursor })],
    ['backwards', (cursors: { startCursor: string | null }) => ({ last: 7, before: cursors.startCursor })],
  ])('are read %s page by page, without a gap', async (way, next) => {
    const seen: string[] = [];
    let cursors = { startCursor: null as string | null, endCursor: null as string | null };
    for (let goesOn = true; goesOn; ) {
      const { names, pageInfo } = await listed({ search: 'off', ...next(cursors) });
      if (way === 'forwards') seen.push(...names);
      else seen.unshift(...names);
      cursors = pageInfo;
      goesOn = way === 'forwards' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage;
    }
    expect(seen).toEqual(offNames);
  });

  it('are listed of several sources, each with its own', async () => {
    const nested = `query ($search: String) { dataSources(first: 10) { nodes { name items(first: 2, search: $search) { totalCount nodes { name } } } } }`;
    const { data } = await ann.graphql(nested, { search: 'document' });
    expect(
      Object.fromEntries(data.dataSources.nodes.map(({ name, items }: { name: string; items: object }) => [name, items])),
    ).toEqual({
      Small: { totalCount: 1, nodes: [{ name: 'Document of the other' }] },
      Large: { totalCount: itemCount - 1, nodes: [{ name: 'Document 1' }, { name: 'Document 2' }] },
    });
  });

  it('are read and counted in the index, also where one source has nearly all documents', async () => {
    const { pool } = service.deps.storage.db;
    const query = vi.spyOn(pool, 'query');
    expect(await listed({ search: 'nowhere', first: 20 })).toMatchObject({ names: [], totalCount: 0 });
    const asked = query.mock.calls.map(([statement]) => statement as unknown as { text: string; values: unknown[] });
    query.mockRestore();
    const searches = asked.filter(({ text }) => typeof text === 'string' && /name ilike/i.test(text));
    expect(searches).toHaveLength(2);
    for (const { text, values } of searches) {
      const { rows } = await pool.query(`explain (analyze, format json) ${text}`, values);
      expect(readsOf(rows[0]['QUERY PLAN'][0].Plan), text).toEqual(['Index Only Scan of knowledge_items_of_source']);
    }
  });

  it('are found behind what one statement reads of a source, beside a short one', async () => {
    const { id: agentId } = await make.agent({ owner: ann });
    const { id: longId } = await make.apiDataSource({ owner: ann, agentId, name: 'Long', data: { text: 'A shelf.' } });
    const { id: shortId } = await make.apiDataSource({ owner: ann, agentId, name: 'Short', data: { text: 'A shelf.' } });
    // A statement reads 40,000 items.
    await addItems(longId, 80_100, `case when i in (7, 40000, 40001, 80001, 80100) then 'Lamp ' else 'Document ' end || i`);
    await addItems(shortId, 3, `case when i = 2 then 'Lamp ' else 'Document ' end || i`);
    const lamps = ['Lamp 7', 'Lamp 40000', 'Lamp 40001', 'Lamp 80001', 'Lamp 80100'];
    expect(await listed({ id: longId, search: 'lamp', first: 9 })).toMatchObject({ names: lamps, totalCount: 5 });
    expect(await listed({ id: longId, search: 'lamp', last: 4 })).toMatchObject({ names: lamps.slice(1), totalCount: 5 });
    const data = await ann.ask(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on DataSource { items(first: 9, search: "lamp") { nodes { name } totalCount } } } }`,
      { ids: [shortId, longId] },
    );
    const named = (names: readonly string[]) => ({ nodes: names.map((name) => ({ name })), totalCount: names.length });
    expect(data.nodes).toEqual([{ items: named(['Lamp 2']) }, { items: named(lamps) }]);
    // Pages with numbers skip what they do not show.
    const third = await findNamedItems(service.deps.storage.db, [longId], { search: 'lamp' }, { limit: 1, after: undefined }, 2);
    expect(third.get(longId)?.map(({ id }) => Number(id.slice(-6)))).toEqual([40_001, 80_001]);
  });
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}
/** How the steps of a plan read tables. */
function readsOf(node: PlanNode): readonly string[] {
  const own =
    node['Relation Name'] === undefined ? [] : [`${node['Node Type']} of ${node['Index Name'] ?? node['Relation Name']}`];
  return [...own, ...(node.Plans ?? []).flatMap(readsOf)];
}
