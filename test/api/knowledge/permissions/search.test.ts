import { beforeEach, describe, expect, it } from 'vitest';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';
import { countStatements } from '../../../support/storage/statements.ts';

const { service, make } = await withService();
let agentId: string;
let source: string;

const verify = (...people: readonly Person[]) =>
  service.deps.storage.db.prisma.user.updateMany({
    where: { id: { in: people.map(({ userId }) => userId) } },
    data: { emailVerifiedAt: new Date() },
  });
const push = (items: readonly object[], removedIds?: readonly string[]) =>
  ann.put(`/api/v1/data-sources/${source}/items`, { items, ...(removedIds === undefined ? {} : { removedIds }) });
const search = async (who: Person, query = 'holiday') => {
  const { status, body } = await who.post('/api/v1/search', { agentId, query, limit: 20 });
  expect(status).toBe(200);
  return body.data.map(({ title }: { title: string }) => title).sort();
};
const document = (uniqueId: string, acl: readonly string[], restrictions?: readonly object[]) => ({
  ...{ uniqueId, name: uniqueId, text: `The holiday of ${uniqueId} is thirty days.`, acl },
  ...(restrictions === undefined ? {} : { restrictions }),
});

const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });
await verify(ann, bob);

beforeEach(async () => {
  agentId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION' })).id;
  const reply = await ann.post(`/api/v1/ais/${agentId}/data-sources/api`, { name: 'Wiki', data: {}, access: 'MIRRORED' });
  expect(reply.status).toBe(200);
  source = reply.body.id;
  await indexed(ann, source);
});

describe('a MIRRORED API source', () => {
  it('finds for each person what is open to that person', async () => {
    const roster = {
      groups: [
        { key: 'staff', name: 'Staff', members: ['group:team'] },
        { key: 'team', members: [`user:${bob.email}`] },
      ],
    };
    expect(await ann.put(`/api/v1/data-sources/${source}/principals`, roster)).toMatchObject({ status: 200 });
    const reply = await push([
      document('of-ann', [`user:${ann.email.toUpperCase()}`]),
      document('of-staff', ['group:staff']),
      document('of-all', ['anyone_in_organization']),
      document('of-world', ['anyone']),
      document('of-nobody', [`user:${ann.email}`], [{ anyOf: ['group:team'] }]),
      document('of-both', [`user:${ann.email}`, 'group:team'], [{ anyOf: ['group:staff'] }]),
    ]);
    expect(reply).toMatchObject({ status: 200, body: { addedCount: 6, permissionsChangedCount: 6 } });
    await indexed(ann, source);
    expect(await search(ann)).toEqual(['of-all', 'of-ann', 'of-world']);
    expect(await search(bob)).toEqual(['of-all', 'of-both', 'of-staff', 'of-world']);
    // An unverified e-mail proves nothing, and an administrator finds no more than others.
    expect(await search(admin)).toEqual(['of-all', 'of-world']);
  });

  it('follows a change at once, without reading a document', async () => {
    await push([document('plan', ['anyone_in_organization'])]);
    await indexed(ann, source);
    expect(await search(bob)).toEqual(['plan']);
    const closed = await push([{ uniqueId: 'plan', acl: [`user:${ann.email}`] }]);
    expect(closed.body).toMatchObject({ addedCount: 0, changedCount: 1, permissionsChangedCount: 1 });
    expect(await search(bob)).toEqual([]);
    expect(await search(ann)).toEqual(['plan']);
    expect((await push([{ uniqueId: 'plan', acl: [`user:${ann.email}`] }])).body.permissionsChangedCount).toBe(0);
  });

  it('is closed again, and opened to all who may use the agent, by a change of its access', async () => {
    await push([document('plan', [`user:${ann.email}`])]);
    await indexed(ann, source);
    const change = (access: string | null) => ann.patch(`/api/v1/data-sources/${source}`, { access });
    expect((await change(null)).status).toBe(200);
    expect(await search(bob)).toEqual(['plan']);
    expect((await change('MIRRORED')).status).toBe(200);
    expect(await search(bob)).toEqual([]);
    expect(await search(ann)).toEqual(['plan']);
  });

  it('gives a page of a hundred documents with at most twelve statements, over REST and GraphQL', async () => {
    await push([document('plan', ['anyone_in_organization'])]);
    await service.deps.storage.db.pool.query(
      `insert into knowledge_items (id, "updatedAt", "orgId", "dataSourceId", name, "uniqueId", type, "indexStatus", "accessRuleId")
       select 'ki_page_' || n, now(), item."orgId", item."dataSourceId", 'page ' || n, 'page ' || n, item.type, 'INDEXED', item."accessRuleId"
       from knowledge_items as item, generate_series(1, 120) as n where item."dataSourceId" = $1 and item."uniqueId" = 'plan'`,
      [source],
    );
    const overRest = () => ann.get(`/api/v1/data-sources/${source}/knowledge?first=100`);
    await overRest();
    const rest = await countStatements(service, overRest);
    expect(rest.result.body.data).toHaveLength(100);
    const query =
      'query ($id: ID!) { knowledgeItems(dataSourceId: $id, first: 100) { totalCount nodes { id name indexStatus } } }';
    const graphql = await countStatements(service, () => ann.graphql(query, { id: source }));
    expect(graphql.result.data.knowledgeItems).toMatchObject({ totalCount: 121, nodes: { length: 100 } });
    expect([rest.statements.length, graphql.statements.length]).toSatisfy(([one = 99, two = 99]) => one <= 12 && two <= 12);
  });

  it('says what is known, to its owner and administrators', async () => {
    await push([document('plan', [`user:${ann.email}`])]);
    const report = await ann.get(`/api/v1/data-sources/${source}/permissions`);
    expect(report.body).toMatchObject({
      access: 'MIRRORED',
      linkShared: 'HIDDEN',
      recheck: 'NEVER',
      permissions: { knownCount: 1, unknownCount: 1 },
    });
    expect((await bob.get(`/api/v1/data-sources/${source}/permissions`)).status).toBe(404);
  });
});

describe('bad input', () => {
  it.each([
    ['an unknown form', { acl: ['everybody'] }, 'items[0].acl[0]', 'must be one of user:<e-mail>'],
    ['no principal', { acl: [] }, 'items[0].acl', 'must name at least one principal'],
    [
      '10,001 principals',
      { acl: Array.from({ length: 10_001 }, (_, n) => `user:a${n}@example.org`) },
      'items[0].acl',
      'at most 10000',
    ],
    ['a group that the source does not have', { acl: ['group:elsewhere'] }, 'items[0].acl[0]', 'put its members first'],
    [
      'an empty restriction',
      { acl: ['anyone'], restrictions: [{ anyOf: [] }] },
      'items[0].restrictions[0].anyOf',
      'at least one principal',
    ],
    ['no text of a new document', { acl: ['anyone'], text: undefined }, 'items[0].text', 'is required'],
    ['an address of another kind', { acl: ['anyone'], url: 'file:///etc/passwd' }, 'items[0].url', 'http or https'],
  ])('refuses %s', async (_case, members, param, message) => {
    const reply = await push([{ ...document('x', ['anyone']), ...members }]);
    expect(reply).toMatchObject({ status: 400, body: { error: { param, message: expect.stringContaining(message) } } });
  });

  it('refuses MIRRORED where nothing says who may open what, and pushes to a source that is LENT', async () => {
    const lent = await make.apiDataSource({ owner: ann, agentId, data: {} });
    const refused = await ann.put(`/api/v1/data-sources/${lent.id}/items`, { items: [document('x', ['anyone'])] });
    expect(refused).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('this one is LENT') } } });
    const linked = await ann.patch(`/api/v1/data-sources/${lent.id}`, { linkShared: 'FINDABLE' });
    expect(linked).toMatchObject({ status: 400, body: { error: { param: 'linkShared' } } });
    const asked = await ann.patch(`/api/v1/data-sources/${source}`, { recheck: 'ON_ANSWER' });
    expect(asked).toMatchObject({ status: 400, body: { error: { param: 'recheck' } } });
  });
});
