import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JudgedServer, judge } from '../../../../bench/leak-test/judge.ts';
import { createParley } from '../../../../bench/leak-test/parley.ts';
import type { Person } from '../../../../bench/leak-test/world.ts';
import { copied } from '../../../support/knowledge/copied.ts';
import { startMeaningServer } from '../../../support/knowledge/embedding-server.ts';
import { startOpenSearch } from '../../../support/knowledge/opensearch/opensearch.ts';
import type { Person as TestPerson } from '../../../support/make.ts';
import { propertySeed, triesAll } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';

const meaning = await startMeaningServer();
const standIn = await startOpenSearch();
const byMeaning = {
  ...{ OPENAI_BASE_URL: meaning.url, MODEL_RETRIES_MAX: '0', RETRIEVAL_EMBEDDING_TIMEOUT_MS: '60000' },
  EMBEDDING_MODEL: 'openai/first',
};
const database = await withService('plain', { env: byMeaning });
const copy = await withService('plain', {
  env: { ...byMeaning, SEARCH_INDEX_URL: standIn.url, SEARCH_INDEX_TIMEOUT_MS: '30000' },
});
/** The test of one world; `.ci/run` tries more, and of a copy, which takes part in searches only, half as many. */
const worlds = (all: number) => Array.from({ length: triesAll ? all : 1 }, (_one, world) => world);
const stepCount = triesAll ? 10 : 4;
/** Thousands of requests, on a machine that does other work. */
const timeoutMs = 400_000;

afterAll(async () => {
  await meaning.close();
  await standIn.close();
});

/** The ways that search. In the others the database answers, beside a copy as without one. */
function onlySearches(ways: JudgedServer['ways']): JudgedServer['ways'] {
  return Object.fromEntries(Object.entries(ways).filter(([way]) => /search|answer/.test(way)));
}

describe.each([
  ['the database', database, worlds(4)],
  ['a copy at an OpenSearch', copy, worlds(2)],
] as const)('searched by %s', (_name, { service, make }, ownWorlds) => {
  let people: readonly Person[];
  let clients: ReadonlyMap<string, TestPerson>;
  let admin: TestPerson;
  let place: Parameters<typeof createParley>[0];

  beforeAll(async () => {
    const [organization, elsewhere] = [await make.organization(), await make.organization()];
    const owner = await make.person({ organization });
    admin = await make.person({ organization, role: 'ADMIN' });
    const members = await Promise.all(Array.from({ length: 5 }, () => make.person({ organization })));
    const unproven = await make.person({ organization });
    const guest = await make.person({ organization: elsewhere });
    await service.deps.storage.db.prisma.user.updateMany({
      where: { id: { in: [owner, ...members, guest].map(({ userId }) => userId) } },
      data: { emailVerifiedAt: new Date() },
    });
    const named = [
      ...[owner, ...members].map((client) => ({ client, email: client.email, isMember: true })),
      { client: unproven, email: null, isMember: true },
      { client: guest, email: guest.email, isMember: false },
    ];
    people = named.map(({ email, isMember }, index) => ({ name: `p${index}`, email, isMember }));
    clients = new Map(named.map(({ client }, index) => [`p${index}`, client]));
    const agentId = (await make.agent({ owner, visibility: 'ANYONE_WITH_LINK', intermediateStepsVisible: true })).id;
    place = { url: service.url, ownerKey: owner.key, agentId, keyOf: ({ name }) => clients.get(name)?.key ?? '' };
  });

  async function createServer(access: 'MIRRORED' | 'LENT') {
    const parley = await createParley(place, access);
    const server = access === 'MIRRORED' ? await withAdministrator(parley) : parley;
    if (service !== copy.service) return server;
    const { closedWays: _closed, ...rest } = server;
    return {
      ...rest,
      ways: onlySearches(server.ways),
      partialWays: triesAll ? onlySearches(server.partialWays ?? {}) : {},
      async settle() {
        await server.settle();
        await copied(service);
      },
    };
  }

  /** What an administrator is told that a person can see is one more way to see documents. */
  async function withAdministrator(server: JudgedServer): Promise<JudgedServer> {
    const where = { orgId: admin.orgId, name: 'Leak test' };
    const { id } = await service.deps.storage.db.prisma.dataSource.findFirstOrThrow({ where, orderBy: { createdAt: 'desc' } });
    const document = `query ($id: ID!, $user: ID!) {
      openDocuments(dataSourceId: $id, userId: $user, first: 100) { nodes { name } } }`;
    const { search } = server.ways;
    return {
      ...server,
      ways: {
        ...server.ways,
        async 'what a person can see'(person) {
          // A person of another organization is not found.
          if (!person.isMember) return search === undefined ? [] : search(person);
          const { data } = await admin.graphql(document, { id, user: clients.get(person.name)?.userId });
          const names: string[] = data.openDocuments.nodes.map(({ name }: { name: string }) => name);
          return names.filter((name) => name.startsWith('doc'));
        },
      },
    };
  }

  it.each(ownWorlds)(
    'nobody is shown what that person may not open, and everybody what the person may: world %i',
    async (world) => {
      const verdict = await judge(await createServer('MIRRORED'), people, { seed: propertySeed + world, stepCount });
      expect(verdict).toMatchObject({ leaks: [], missing: [] });
      expect(verdict.caseCount).toBeGreaterThan(200);
      expect([...verdict.shownCounts].filter(([, count]) => count === 0)).toEqual([]);
    },
    timeoutMs,
  );

  it.runIf(triesAll || service === database.service)('without permissions the same judge sees leaks', async () => {
    const verdict = await judge(await createServer('LENT'), people, { seed: propertySeed, stepCount: 0 });
    expect(verdict.leaks.length).toBeGreaterThan(50);
  });
});
