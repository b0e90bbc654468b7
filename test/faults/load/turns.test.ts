import type { PoolClient } from 'pg';
import { expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

/**
 * One tenant asks for as much as it can, by every way in, while another sends plain queries. Counted, not timed: how many statements of the first one
 * begin between the moment when the other asks for a connection and the moment when it has one.
 */
const { service, make } = await withService('web');
/** What was under way when the other asked, and one whose turn it was. Of what it asks for together, it then has every other turn. */
const statementsBefore = 2;
const quietQuery = '{ agents(first: 5) { nodes { id name } } }';
const aliases = (field: (index: number) => string) =>
  `{ ${Array.from({ length: 50 }, (_, index) => `a${index}: ${field(index)}`).join(' ')} }`;
const rpc = (method: string, params = {}) => ({ jsonrpc: '2.0', id: 1, method, params });

const ways: Readonly<Record<string, (noisy: Person, agentIds: readonly string[]) => Promise<unknown>>> = {
  'fifty aliases of search': (noisy) => noisy.graphql(aliases((index) => `search(query: "agent ${index}") { __typename }`)),
  'fifty aliases of a list': (noisy) => noisy.graphql(aliases((index) => `agents(first: ${1 + index}) { nodes { id } }`)),
  'lists nested in lists': (noisy) => {
    const lists = [1, 2, 3, 4].map(
      (first) => `c${first}: chats(first: ${first}) { nodes { id } } s${first}: sources(first: ${first}) { nodes { id } }`,
    );
    return noisy.graphql(`{ agents(first: 20) { nodes { ${lists.join(' ')} } } }`);
  },
  'nodes of several kinds, and bundles': (noisy, ids) =>
    noisy.graphql(
      aliases((index) =>
        index % 2 === 0
          ? `nodes(ids: ${JSON.stringify([...ids, noisy.userId, noisy.keyId])}) { id }`
          : `agentBundle(agentId: "${ids[index % ids.length]}") { requiredSecrets { key } }`,
      ),
    ),
  'many requests of REST': (noisy) => Promise.all(Array.from({ length: 50 }, () => noisy.get('/api/v1/ais'))),
  'many calls of MCP': (noisy) => {
    const headers = { accept: 'application/json, text/event-stream' };
    return Promise.all(Array.from({ length: 50 }, () => noisy.post('/mcp', rpc('tools/list'), headers)));
  },
};

it.each(Object.keys(ways))('%s of one tenant are many turns, between which another tenant has its own', async (way) => {
  const [noisy, quiet] = [await make.person(), await make.person()];
  const agents: string[] = [];
  for (let index = 0; index < 5; index += 1) agents.push((await make.agent({ owner: noisy })).id as string);
  await make.agent({ owner: quiet });
  const watch = watchTurns();
  let isOver = false;
  const noise = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!isOver) expect(await ways[way]?.(noisy, agents)).not.toMatchObject({ errors: expect.anything() });
    }),
  );
  try {
    for (let round = 0; round < 6; round += 1) {
      expect(await quiet.graphql(quietQuery)).toMatchObject({ data: { agents: { nodes: [{}] } } });
    }
  } finally {
    isOver = true;
    await noise.finally(watch.stop);
  }
  const { begun, waits } = watch.of(noisy.tenantId, quiet.tenantId);
  expect(begun).toBeGreaterThan(waits.length);
  // Until it has asked for the first time, the other one had all connections.
  expect(Math.max(...waits.slice(1))).toBeLessThanOrEqual(statementsBefore);
});

/** Notes whose statements are asked for and begin. */
function watchTurns() {
  const { db } = service.deps.storage;
  const { pool } = db;
  const begun: string[] = [];
  const waits: { readonly tenantId: string; readonly askedAt: number; readonly begunAt: number }[] = [];
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  const watched = async () => {
    const { tenantId } = db.owner;
    const askedAt = begun.length;
    const client = await connect();
    waits.push({ tenantId, askedAt, begunAt: begun.length });
    begun.push(tenantId);
    return client;
  };
  pool.connect = ((callback?: (error: unknown, client: unknown, release: unknown) => void) => {
    if (callback === undefined) return watched();
    watched().then(
      (client) => callback(undefined, client, client.release.bind(client)),
      (error: unknown) => callback(error, undefined, () => undefined),
    );
  }) as typeof pool.connect;
  return {
    stop: () => Reflect.deleteProperty(pool, 'connect'),
    of: (noisy: string, quiet: string) => ({
      begun: begun.filter((tenantId) => tenantId === noisy).length,
      waits: waits
        .filter(({ tenantId }) => tenantId === quiet)
        .map(({ askedAt, begunAt }) => {
          const between = begun.slice(askedAt, begunAt);
          const countOf = (owner: string) => between.filter((tenantId) => tenantId === owner).length;
          return countOf(noisy) - countOf(quiet);
        }),
    }),
  };
}
