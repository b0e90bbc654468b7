import { describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';
import { countFewestStatements } from '../../support/storage/statements.ts';

const { service, make } = await withService();

const organization = await make.organization();
const ann = await make.person({ organization });
const colleague = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });
const stranger = await make.person({ role: 'ADMIN' });

const categories = '/api/v1/ai-categories';

describe('ratings', () => {
  const rate = (who: Person, id: string, rating: unknown) => who.put(`/api/v1/ais/${id}/rating`, { rating });

  it('count once a user, may change and be taken back, and their mean is true at every step', async () => {
    const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const shown = async () => {
      const { ratingCount, rating, updatedAt } = (await ann.get(`/api/v1/ais/${agent.id}`)).body;
      expect(updatedAt).toBe(agent.updatedAt);
      return [ratingCount, rating];
    };
    expect(await shown()).toEqual([0, 0]);
    expect((await rate(ann, agent.id, 5)).body).toMatchObject({ ratingCount: 1, rating: 5 });
    expect((await rate(colleague, agent.id, 2)).body).toMatchObject({ ratingCount: 2, rating: 3.5 });
    expect((await rate(colleague, agent.id, 4)).body).toMatchObject({ ratingCount: 2, rating: 4.5 });
    const own = '{ agents(first: 5) { nodes { id ownRating } } }';
    const ofColleague = (await colleague.graphql(own)).data.agents.nodes;
    expect(ofColleague).toContainEqual({ id: agent.id, ownRating: 4 });
    expect((await admin.graphql(own)).data.agents.nodes).toContainEqual({ id: agent.id, ownRating: null });
    expect((await rate(colleague, agent.id, null)).body).toMatchObject({ ratingCount: 1, rating: 5 });
    expect((await rate(colleague, agent.id, null)).body).toMatchObject({ ratingCount: 1, rating: 5 });
    expect(await shown()).toEqual([1, 5]);
  });

  it('of many at the same time are all counted', async () => {
    const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const calls = [1, 2, 3, 4, 5, 5].flatMap((rating) => [rate(ann, agent.id, rating), rate(colleague, agent.id, rating)]);
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    await rate(ann, agent.id, 1);
    expect((await rate(colleague, agent.id, 3)).body).toMatchObject({ ratingCount: 2, rating: 2 });
  });

  it.each([0, 6, 2.5, '5', undefined])('are refused when they are %s', async (rating) => {
    const agent = await make.agent({ owner: ann });
    expect(await rate(ann, agent.id, rating)).toMatchObject({ status: 400, body: { error: { param: 'rating' } } });
  });
});

describe("an organization's categories", () => {
  it('are made, renamed and removed by its administrators, and seen by its members', async () => {
    const made = await admin.post(categories, { name: ' Sales talk ' });
    expect(made).toMatchObject({
      status: 200,
      body: { id: expect.stringMatching(/^cat_/), orgId: ann.orgId, name: 'Sales talk' },
    });
    const { id } = made.body;
    const names = async (who: Person) => (await who.get(categories)).body.data.map(({ name }: { name: string }) => name);
    expect(await names(ann)).toEqual(['Sales talk']);
    expect(await names(stranger)).toEqual([]);
    expect((await admin.post(categories, { name: 'SALES TALK' })).status).toBe(409);
    expect((await admin.patch(`${categories}/${id}`, { name: 'sales Talk' })).body.name).toBe('sales Talk');
    expect((await ann.post(categories, { name: 'Other' })).status).toBe(403);
    expect((await ann.patch(`${categories}/${id}`, { name: 'Other' })).status).toBe(403);
    expect((await stranger.patch(`${categories}/${id}`, { name: 'Other' })).status).toBe(404);
    expect((await stranger.delete(`${categories}/${id}`)).status).toBe(404);
    expect(await admin.post(categories, { name: ' ' })).toMatchObject({ status: 400, body: { error: { param: 'name' } } });

    const agent = await make.agent({ owner: ann, orgCategoryIds: [id] });
    expect(agent).toMatchObject({ orgCategoryIds: [id], categoryId: id });
    expect((await ann.get(`/api/v1/ais?categoryId=${id}`)).body.data).toMatchObject([{ id: agent.id }]);
    expect((await admin.delete(`${categories}/${id}`)).body.name).toBe('sales Talk');
    expect((await ann.get(`/api/v1/ais/${agent.id}`)).body).toMatchObject({ orgCategoryIds: [], categoryId: '' });
    expect((await ann.get(`/api/v1/ais?categoryId=${id}`)).body.data).toEqual([]);
  });

  it("are the only ones an agent may name: another organization's looks missing", async () => {
    const own = (await admin.post(categories, { name: 'Own' })).body.id;
    const other = (await stranger.post(categories, { name: 'Theirs' })).body.id;
    const agent = await make.agent({ owner: ann, orgCategoryIds: [own] });
    for (const id of [other, 'cat_01jd0000000000000000000000', 'x', '']) {
      const reply = await ann.patch(`/api/v1/ais/${agent.id}`, { orgCategoryIds: [own, id] });
      expect(reply).toMatchObject({ status: 400, body: { error: { param: 'orgCategoryIds[1]' } } });
    }
  });
});

describe('the catalog of an organization', () => {
  it('lists what listInOrgCatalog says, whatever its visibility is, as far as the caller may use it', async () => {
    const organization = await make.organization();
    const [owner, friend, other] = await Promise.all([1, 2, 3].map(() => make.person({ organization })));
    if (owner === undefined || friend === undefined || other === undefined) throw new Error('no people');
    const boss = await make.person({ organization, role: 'ADMIN' });
    const members = { name: 'Friends', availability: 'RESTRICTED', memberEmails: friend.email };
    const group = (await owner.post('/api/v1/groups', members)).body.id;
    const visibilities = ['PRIVATE', 'GROUP', 'ORGANIZATION', 'ANYONE_WITH_LINK'];
    for (const visibility of visibilities) {
      for (const listInOrgCatalog of [true, false]) {
        const name = `${visibility} ${listInOrgCatalog}`;
        await make.agent({ owner, visibility, name, listInOrgCatalog, ...(visibility === 'GROUP' ? { groups: [group] } : {}) });
      }
    }
    const listed = async (who: Person) => {
      const names = (await who.get('/api/v1/ais?scope=ORGANIZATION&catalog=true')).body.data.map(
        ({ name }: { name: string }) => name,
      );
      const { data } = await who.graphql(
        '{ agents(filter: { scope: ORGANIZATION, catalog: true }, first: 50) { nodes { name } } }',
      );
      expect(data.agents.nodes.map(({ name }: { name: string }) => name)).toEqual(names);
      return names.toSorted();
    };
    const every = visibilities.map((visibility) => `${visibility} true`).toSorted();
    expect(await listed(owner)).toEqual(every);
    expect(await listed(boss)).toEqual(every);
    expect(await listed(friend)).toEqual(every.filter((name) => !name.startsWith('PRIVATE')));
    expect(await listed(other)).toEqual(['ANYONE_WITH_LINK true', 'ORGANIZATION true']);
    expect(await listed(stranger)).toEqual([]);
    const refused = await other.get('/api/v1/ais?scope=OWNED&catalog=true');
    expect([refused.status, refused.body.error.param]).toEqual([400, 'catalog']);
  });
});

describe('the approval of an organization', () => {
  const approve = (who: Person, id: string, body: object = {}) => who.post(`/api/v1/ais/${id}/approval`, body);
  const isApproved = async (id: string) => (await ann.get(`/api/v1/ais/${id}`)).body.isApprovedByOrg;

  it('is given and taken back by its administrators only', async () => {
    const agent = await make.agent({ owner: ann, visibility: 'ANYONE_WITH_LINK', listInOrgCatalog: true });
    for (const who of [ann, colleague, stranger]) expect((await approve(who, agent.id)).status).toBe(403);
    expect(await approve(admin, agent.id)).toMatchObject({ status: 200, body: { isApprovedByOrg: true } });
    expect((await colleague.get('/api/v1/ais?approvedByOrg=true')).body.data).toMatchObject([{ id: agent.id }]);
    expect(await approve(admin, agent.id, { isApproved: false })).toMatchObject({ body: { isApprovedByOrg: false } });
    const hidden = await make.agent({ owner: ann });
    expect((await approve(colleague, hidden.id)).status).toBe(404);
  });

  it.each<[string, object, boolean]>([
    ['its instructions', { instructions: 'Now do something else.' }, false],
    ['its name', { name: 'Another' }, false],
    ['its model', { modelId: 'parley/offline' }, false],
    ['its options', { options: { temperature: [1] } }, false],
    ['nothing, saying the same again', { name: 'Approved', options: {} }, true],
    ['its picture, visibility and catalogs', { src: 'x', visibility: 'ORGANIZATION', listInTenantCatalog: true }, true],
  ])('holds until what it was given for changes: %s', async (_case, change, holds) => {
    const agent = await make.agent({ owner: ann, name: 'Approved' });
    await approve(admin, agent.id);
    expect((await ann.patch(`/api/v1/ais/${agent.id}`, change)).body.isApprovedByOrg).toBe(holds);
    await approve(admin, agent.id);
    await admin.patch(`/api/v1/ais/${agent.id}`, { instructions: 'Changed by an administrator.' });
    expect(await isApproved(agent.id)).toBe(false);
  });
});

describe('what lists compute', () => {
  it('is true: whether it is shared, whether the caller has chats, in four statements for the list', async () => {
    const member = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    const owner = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    const group = async (memberEmails: string) =>
      (await owner.post('/api/v1/groups', { name: 'G', availability: 'RESTRICTED', memberEmails })).body.id;
    const empty = await group(owner.email);
    const full = await group(member.email);
    const is = async (members: object) => (await make.agent({ owner, ...members })).isShared;
    expect(await is({})).toBe(false);
    expect(await is({ visibility: 'GROUP', groups: [empty] })).toBe(false);
    expect(await is({ visibility: 'GROUP', groups: [empty, full] })).toBe(true);
    expect(await is({ visibility: 'ORGANIZATION' })).toBe(true);
    expect(await is({ visibility: 'ANYONE_WITH_LINK' })).toBe(true);
    expect(await is({ editors: [{ id: member.userId }] })).toBe(true);
    const chatted = await make.agent({ owner, visibility: 'ORGANIZATION' });
    await make.chat({ owner: member, agentId: chatted.id });
    expect((await member.get(`/api/v1/ais/${chatted.id}`)).body.hasUserChats).toBe(true);
    expect((await owner.get(`/api/v1/ais/${chatted.id}`)).body.hasUserChats).toBe(false);
    // A background job may run statements in between.
    await eventually(async () => {
      const { statements } = await countFewestStatements(service, () => owner.get('/api/v1/ais'));
      expect(statements).toHaveLength(4);
    });
  });
});
