import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('web');
const agentsMade = 11;

const ann = await make.person();
const bob = await make.person();
const made: string[] = [];
for (let index = 0; index < agentsMade; index += 1) {
  const agent = await make.agent({ owner: ann, name: `Agent ${index}` });
  made.push(agent.id);
  await make.apiDataSource({ owner: ann, agentId: agent.id, data: { number: index } });
}
const agentIds = made.reverse();

/** The lists that are read in both directions: newest first, by activity, by a chosen order. */
const lists: readonly { readonly field: string; readonly args: string }[] = [
  { field: 'agents', args: '' },
  { field: 'dataSources', args: 'orderBy: CREATED_AT' },
  { field: 'dataSources', args: 'orderBy: LAST_INDEXED_AT, order: ASC' },
  { field: 'dataSources', args: 'orderBy: USAGE_COUNT' },
  { field: 'apiKeys', args: '' },
];

async function readAll(field: string, args: string, direction: 'forward' | 'backward'): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  for (let pages = 0; pages < 20; pages += 1) {
    const page =
      direction === 'forward' ? `first: 4 ${cursor && `after: "${cursor}"`}` : `last: 4 ${cursor && `before: "${cursor}"`}`;
    const query = `{ ${field}(${args} ${page}) { nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
    const data = await ann.ask(query);
    const { nodes, pageInfo } = data[field];
    const found = nodes.map(({ id }: { id: string }) => id);
    if (direction === 'forward') ids.push(...found);
    else ids.unshift(...found);
    const [goesOn, isBehind] =
      direction === 'forward'
        ? [pageInfo.hasNextPage, pageInfo.hasPreviousPage]
        : [pageInfo.hasPreviousPage, pageInfo.hasNextPage];
    expect(isBehind).toBe(pages > 0);
    if (!goesOn) return ids;
    cursor = direction === 'forward' ? pageInfo.endCursor : pageInfo.startCursor;
  }
  throw new Error('the list does not end');
}

describe('pages', () => {
  it.each(lists)('reads $field($args) from its end as from its start', async ({ field, args }) => {
    const forward = await readAll(field, args, 'forward');
    expect(new Set(forward).size).toBe(forward.length);
    expect(await readAll(field, args, 'backward')).toEqual(forward);
    if (field !== 'apiKeys') expect(forward).toHaveLength(agentsMade);
  });

  it('refuses arguments of both directions, sizes out of range and cursors of other lists, naming the argument', async () => {
    for (const [args, code, param] of [
      ['first: 2, last: 2', 'MUTUALLY_EXCLUSIVE_PARAMETERS', 'last'],
      ['first: 2, before: "x"', 'MUTUALLY_EXCLUSIVE_PARAMETERS', 'before'],
      ['last: 0', 'INVALID_VALUE', 'last'],
      ['last: 101', 'INVALID_VALUE', 'last'],
      ['before: "x"', 'INVALID_VALUE', 'before'],
    ]) {
      const { errors } = await ann.graphql(`{ agents(${args}) { nodes { id } } }`);
      expect(errors?.[0]?.extensions.code).toBe(code);
      expect(errors?.[0]?.message).toContain(param);
    }
  });

  it('counts to 10,000 and says whether that is all; a caller who needs more asks for it', async () => {
    const { db } = service.deps.storage;
    const { userId, orgId } = ann;
    await db.pool.query(
      `insert into memories (id, "createdAt", "updatedAt", "orgId", "userId", text, config, "searchText")
       select 'memo_many' || n, now(), now(), $1, $2, 'x', 'simple', 'x' from generate_series(1, 10001) n`,
      [orgId, userId],
    );
    const query =
      '{ memories(first: 1) { totalCount isTotalCountExact all: totalCount(exact: true) } agents { totalCount isTotalCountExact } }';
    const { data } = await ann.graphql(query);
    expect(data.memories).toEqual({ totalCount: 10_000, isTotalCountExact: false, all: 10_001 });
    expect(data.agents).toEqual({ totalCount: agentsMade, isTotalCountExact: true });
  });
});

describe('nodes', () => {
  it('gives things in the order of their ids, null for what is missing or not for the caller', async () => {
    const [first, second] = agentIds;
    const ids = [second, 'nonsense', first, 'ai_00000000000000000000000000', second];
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Agent { name } } }';
    const { data } = await ann.graphql(query, { ids });
    expect(data.nodes.map((node: { id: string } | null) => node?.id ?? null)).toEqual([second, null, first, null, second]);
    const { data: others } = await bob.graphql(query, { ids });
    expect(others.nodes).toEqual([null, null, null, null, null]);
  });

  it('takes at most 100 ids', async () => {
    const { errors } = await ann.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: Array(101).fill('x') });
    expect(errors?.[0]?.extensions.code).toBe('INVALID_VALUE');
  });
});
