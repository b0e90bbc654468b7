import { beforeAll, describe, expect, it } from 'vitest';
import { agentOptions } from '../../../src/entities/agents/options.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService();
let ann: Person;
let reader: Person;
let bob: Person;
let categoryId: string;

beforeAll(async () => {
  ann = await make.person({ name: 'Ann' });
  reader = await make.withKey(ann, { scopes: ['AGENTS:READ'] });
  bob = await make.person({ name: 'Bob' });
  const annsAdmin = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, role: 'ADMIN' });
  categoryId = (await annsAdmin.post('/api/v1/ai-categories', { name: 'Onboarding' })).body.id;
});

const required = { src: 'https://example.com/a.png', name: 'Ada', description: 'Knows things', instructions: 'Be brief.' };
const idPattern = /^ai_[0-9a-z]{26}$/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('POST /api/v1/ais', () => {
  it('answers every member of the contract with its type, for a minimal request', async () => {
    const before = Date.now();
    const { status, body } = await ann.post('/api/v1/ais', required);
    expect(status).toBe(200);
    const unset = Object.fromEntries(Object.keys(agentOptions).map((name) => [name, []]));
    expect(body).toEqual({
      ...required,
      id: expect.stringMatching(idPattern),
      createdAt: expect.stringMatching(timePattern),
      updatedAt: body.createdAt,
      introduction: null,
      seed: '',
      orgId: ann.orgId,
      orgName: expect.stringContaining('Organization'),
      userId: ann.userId,
      userName: 'Ann',
      categoryId: '',
      profile: {
        headline: '',
        description: '',
        trainingDescription: '',
        features: [],
        showCharacter: false,
        showTraining: false,
        showPersonality: false,
        showSpeaker: false,
        showVideo: false,
        conversations: [],
        socialImage: '',
        idleVideo: '',
        idleVideoError: '',
        voice: '',
        voiceEngine: '',
        videoModel: '',
      },
      visibility: 'PRIVATE',
      listInOrgCatalog: false,
      listInPublicCatalog: false,
      listInTenantCatalog: false,
      chatLogsVisible: false,
      generateCitations: true,
      intermediateStepsVisible: false,
      enabledTools: [],
      modelId: 'parley/offline',
      options: unset,
      groups: [],
      editors: [],
      publicCategories: [],
      orgCategoryIds: [],
      messageCount: 0,
      ratingCount: 0,
      rating: 0,
      isShared: false,
      hasUserChats: false,
      isApprovedByOrg: false,
      isPremiumModel: false,
      isDeleted: false,
    });
    expect(Date.parse(body.createdAt)).toBeGreaterThanOrEqual(before - 1);
  });

  it('stores every member, and returns it unchanged', async () => {
    const group = (await ann.post('/api/v1/groups', { name: 'G', availability: 'EVERYONE', memberEmails: '' })).body;
    const eve = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, name: 'Eve' });
    const everything = {
      ...required,
      introduction: 'Hello',
      seed: 'Once',
      modelId: 'parley/offline',
      visibility: 'GROUP',
      listInOrgCatalog: true,
      listInPublicCatalog: true,
      listInTenantCatalog: true,
      chatLogsVisible: true,
      generateCitations: false,
      intermediateStepsVisible: true,
      options: {
        temperature: [0, 0.5],
        topP: [0.9],
        topK: [40],
        maxTokens: [100],
        maxInputTokens: [8000],
        frequencyPenalty: [-2],
        presencePenalty: [2],
      },
      groups: [group.id],
      profile: {
        headline: 'H',
        description: 'D',
        trainingDescription: 'T',
        features: [{ title: 'a', description: 'b' }],
        showCharacter: true,
        showTraining: true,
        showPersonality: true,
        showSpeaker: true,
        showVideo: true,
        conversations: [{ question: 'Why?', answer: { text: 'Because' } }],
        socialImage: 's',
        idleVideo: 'i',
        idleVideoError: 'e',
        voice: 'v',
        voiceEngine: 've',
        videoModel: 'vm',
      },
      publicCategories: ['SALES', 'FEATURED'],
      orgCategoryIds: [categoryId],
    };
    const created = await ann.post('/api/v1/ais', { ...everything, editors: [{ id: eve.userId, name: 'ignored', email: '' }] });
    expect(created).toMatchObject({
      status: 200,
      body: { ...everything, editors: [{ id: eve.userId, name: 'Eve', email: eve.email }], categoryId, isShared: true },
    });
    expect((await ann.get(`/api/v1/ais/${created.body.id}`)).body).toEqual(created.body);
  });

  it.each([
    ['no src', { src: undefined }, 'src'],
    ['no name', { name: undefined }, 'name'],
    ['no description', { description: undefined }, 'description'],
    ['no instructions', { instructions: undefined }, 'instructions'],
    ['a blank name', { name: '  ' }, 'name'],
    ['a name too long', { name: 'x'.repeat(201) }, 'name'],
    ['a name that is no text', { name: 7 }, 'name'],
    ['an unknown visibility', { visibility: 'SECRET' }, 'visibility'],
    ['an unknown model', { modelId: 'nobody/nothing' }, 'modelId'],
    ['a temperature out of bounds', { options: { temperature: [0.1, 2.1] } }, 'options.temperature[1]'],
    ['a topK that is not whole', { options: { topK: [1.5] } }, 'options.topK[0]'],
    ['options of text', { options: { topP: ['high'] } }, 'options.topP[0]'],
    ['an unknown category', { publicCategories: ['COOKING'] }, 'publicCategories[0]'],
    ['a group of nobody', { groups: ['grp_01jd0000000000000000000000'] }, 'groups[0]'],
    ['an editor of nobody', { editors: [{ email: 'nobody@example.com' }] }, 'editors[0]'],
    ['a conversation that is no object', { profile: { conversations: [3] } }, 'profile.conversations[0]'],
  ])('refuses %s, naming the member', async (_case, member, param) => {
    const { status, body } = await ann.post('/api/v1/ais', { ...required, ...member });
    expect({ status, param: body.error?.param }).toEqual({ status: 400, param });
  });

  it('treats an editor of another organization like a missing user', async () => {
    const { status, body } = await ann.post('/api/v1/ais', { ...required, editors: [{ id: bob.userId }] });
    expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'editors[0]' });
  });

  it('lets nobody write what the server counts and owns', async () => {
    const body = {
      ...required,
      userId: bob.userId,
      orgId: bob.orgId,
      createdAt: '2001-01-01T00:00:00.000Z',
      messageCount: 9,
      isDeleted: true,
    };
    const reply = await ann.post('/api/v1/ais', { ...body, isApprovedByOrg: true });
    expect(reply.body).toMatchObject({
      userId: ann.userId,
      orgId: ann.orgId,
      messageCount: 0,
      isDeleted: false,
      isApprovedByOrg: false,
    });
    expect(Date.parse(reply.body.createdAt)).toBeGreaterThan(Date.parse('2020-01-01'));
  });
});

describe('PATCH /api/v1/ais/{aiId}', () => {
  it('keeps what is absent', async () => {
    const agent = await make.agent({ owner: ann, introduction: 'Hi', options: { topP: [0.5] }, publicCategories: ['SALES'] });
    const { status, body } = await ann.patch(`/api/v1/ais/${agent.id}`, { name: 'Grace' });
    expect(status).toBe(200);
    expect(body).toEqual({ ...agent, name: 'Grace', updatedAt: body.updatedAt });
    expect(Date.parse(body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(agent.updatedAt));
  });

  it('clears with null what can be empty', async () => {
    const agent = await make.agent({
      owner: ann,
      introduction: 'Hi',
      seed: 's',
      modelId: 'parley/offline',
      options: { topP: [0.5] },
      profile: { headline: 'h' },
      publicCategories: ['SALES'],
      orgCategoryIds: [categoryId],
    });
    const cleared = {
      introduction: null,
      seed: null,
      options: null,
      profile: null,
      publicCategories: null,
      orgCategoryIds: null,
    };
    const { body } = await ann.patch(`/api/v1/ais/${agent.id}`, { ...cleared, modelId: null, groups: null, editors: null });
    expect(body).toMatchObject({
      introduction: null,
      seed: '',
      publicCategories: [],
      orgCategoryIds: [],
      groups: [],
      editors: [],
    });
    expect(body.options.topP).toEqual([]);
    expect(body.profile.headline).toBe('');
  });

  it.each(['name', 'description', 'instructions', 'src', 'visibility', 'generateCitations'])(
    'refuses null for %s',
    async (member) => {
      const agent = await make.agent({ owner: ann });
      const { status, body } = await ann.patch(`/api/v1/ais/${agent.id}`, { [member]: null });
      expect({ status, param: body.error.param }).toEqual({ status: 400, param: member });
    },
  );

  it.each([
    ['no key', () => service.nobody, 401, 'invalid_api_key'],
    ['a key without the scope', () => reader, 403, 'insufficient_scope'],
    ['another organization', () => bob, 404, 'not_found'],
  ])('refuses %s', async (_case, who, status, code) => {
    const agent = await make.agent({ owner: ann });
    expect(await who().patch(`/api/v1/ais/${agent.id}`, { name: 'x' })).toMatchObject({ status, body: { error: { code } } });
  });
});

describe('faults of an agent', () => {
  it.each(['PATCH', 'POST'])('are all named in one reply, also beside a bad enum: %s', async (method) => {
    const owner = await make.person();
    const { id } = await make.agent({ owner });
    const body = {
      ...{ src: 'x', description: 'x', instructions: 'x' },
      visibility: 'SECRET',
      name: ' ',
      options: { temperature: [9] },
      publicCategories: ['NOWHERE'],
      chatLogsVisible: null,
      profile: { features: [{ title: 7 }, null], conversations: [1] },
    };
    const reply = await owner.call(method, method === 'POST' ? '/api/v1/ais' : `/api/v1/ais/${id}`, body);
    expect(reply.status).toBe(400);
    const params = reply.body.error.errors.map(({ param }: { param: string }) => param).toSorted();
    const named = ['name', 'options.temperature[0]', 'publicCategories[0]', 'visibility'];
    expect(params.filter((param: string) => named.includes(param))).toEqual(named);
  });
});

describe('calls at the same time', () => {
  it('never fail with a server error: each succeeds or gets a conflict', async () => {
    const colleague = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    const agent = await make.agent({ owner: ann });
    const editors = [{ id: colleague.userId }];
    const calls = Array.from({ length: 12 }, (_, index) => ann.patch(`/api/v1/ais/${agent.id}`, { name: `N${index}`, editors }));
    const replies = await Promise.all([...calls, ann.delete(`/api/v1/ais/${agent.id}`)]);
    for (const { status } of replies) expect([200, 404, 409]).toContain(status);
    expect((await ann.get(`/api/v1/ais/${agent.id}`)).status).toBe(404);
  });
});

describe('DELETE /api/v1/ais/{aiId}', () => {
  it('makes the agent missing for everybody', async () => {
    const agent = await make.agent({ owner: ann });
    expect(await ann.delete(`/api/v1/ais/${agent.id}`)).toMatchObject({ status: 200, body: { id: agent.id, isDeleted: true } });
    expect((await ann.get(`/api/v1/ais/${agent.id}`)).status).toBe(404);
    expect((await ann.patch(`/api/v1/ais/${agent.id}`, { name: 'x' })).status).toBe(404);
    expect((await ann.delete(`/api/v1/ais/${agent.id}`)).status).toBe(404);
    const listed = (await ann.get('/api/v1/ais')).body.data.map(({ id }: { id: string }) => id);
    expect(listed).not.toContain(agent.id);
  });
});

describe('GET /api/v1/ais', () => {
  it('pages through everything once, newest first', async () => {
    const cy = await make.person();
    const made: string[] = [];
    for (let index = 0; index < 7; index += 1) made.push((await make.agent({ owner: cy, name: `A${index}` })).id);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await cy.get(`/api/v1/ais?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(page.status).toBe(200);
      seen.push(...page.body.data.map(({ id }: { id: string }) => id));
      cursor = page.body.nextCursor;
    }
    expect(seen).toEqual(made.toReversed());
  });

  it('narrows by search, group, category and approval', async () => {
    const admin = await make.person({ role: 'ADMIN' });
    const group = (await admin.post('/api/v1/groups', { name: 'G', availability: 'EVERYONE', memberEmails: '' })).body;
    const category = (await admin.post('/api/v1/ai-categories', { name: 'C' })).body.id;
    const percent = await make.agent({ owner: admin, name: '100% sure', orgCategoryIds: [category] });
    const grouped = await make.agent({
      owner: admin,
      description: 'the OTHER one',
      groups: [group.id],
      publicCategories: ['SALES'],
    });
    const approval = await admin.graphql('mutation ($id: ID!) { approveAgent(id: $id) { isApprovedByOrg } }', { id: grouped.id });
    expect(approval.data.approveAgent.isApprovedByOrg).toBe(true);
    const idsOf = async (query: string) =>
      (await admin.get(`/api/v1/ais?${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await idsOf('search=100%25')).toEqual([percent.id]);
    expect(await idsOf('search=other')).toEqual([grouped.id]);
    expect(await idsOf('search=_')).toEqual([]);
    expect(await idsOf(`groupId=${group.id}`)).toEqual([grouped.id]);
    expect(await idsOf(`categoryId=${category}`)).toEqual([percent.id]);
    expect(await idsOf('categoryId=SALES')).toEqual([grouped.id]);
    expect(await idsOf('approvedByOrg=true')).toEqual([grouped.id]);
    expect(await idsOf('approvedByOrg=false')).toEqual([percent.id]);
  });

  it.each([
    ['scope=MINE', 'scope'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=many', 'limit'],
    ['cursor=garbage', 'cursor'],
    ['approvedByOrg=perhaps', 'approvedByOrg'],
    [`search=${'x'.repeat(201)}`, 'search'],
  ])('refuses ?%s, naming the parameter', async (query, param) => {
    const { status, body } = await ann.get(`/api/v1/ais?${query}`);
    expect({ status, param: body.error?.param }).toEqual({ status: 400, param });
  });
});
