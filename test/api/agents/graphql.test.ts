import { describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';
import { countFewestStatements } from '../../support/storage/statements.ts';

// Statements are counted, so the service runs no background jobs.
const { service, make } = await withService('web');

const agentsMade = 50;

const ann = await make.person({ name: 'Ann' });
const groups = [];
for (const name of ['A', 'B', 'C']) {
  groups.push((await ann.post('/api/v1/groups', { name, availability: 'EVERYONE', memberEmails: '' })).body.id);
}
for (let index = 0; index < agentsMade; index += 1) {
  const agent = await make.agent({ owner: ann, name: `Agent ${index}`, groups: groups.slice(index % 3) });
  await make.apiDataSource({ owner: ann, agentId: agent.id, data: { number: index } });
}

describe('agents', () => {
  it('costs at most 11 statements for 50 agents with groups, data sources, editors, owner, organization and the count', async () => {
    const query = `{ agents(first: ${agentsMade}) {
      totalCount
      pageInfo { hasNextPage endCursor }
      edges { cursor }
      nodes { id name organization { name } owner { name } hasOwnChats isPremiumModel modelId groups { id name } sources { nodes { id name indexStatus } } editors { id } options { topP } }
    } }`;
    await ann.graphql(query);
    const { result, statements } = await countFewestStatements(service, () => ann.graphql(query));
    expect(result.errors).toBeUndefined();
    expect(result.data.agents).toMatchObject({ totalCount: agentsMade, pageInfo: { hasNextPage: false } });
    expect(result.data.agents.nodes).toHaveLength(agentsMade);
    expect(result.data.agents.nodes.map(({ groups }: { groups: unknown[] }) => groups.length)).toContain(3);
    for (const { sources } of result.data.agents.nodes) expect(sources.nodes).toHaveLength(1);
    expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(9);
    expect(statements.length).toBeGreaterThan(1); // The counter works.
  });

  it('costs 4 statements for the list that a front end loads first, however many agents it has', async () => {
    for (const first of [5, agentsMade]) {
      const query = `{ agents(first: ${first}) { nodes { id name description groups { id name } sources { nodes { id name type } } } } }`;
      await ann.graphql(query);
      const { result, statements } = await countFewestStatements(service, () => ann.graphql(query));
      expect(result.data.agents.nodes).toHaveLength(first);
      expect(statements.length, statements.join('\n')).toBe(4);
    }
  });

  it('reads the members of all groups of a page at once', async () => {
    const query = '{ myGroups { nodes { id owner { name } members { totalCount nodes { email user { name } } } } } }';
    await ann.graphql(query);
    const { result, statements } = await countFewestStatements(service, () => ann.graphql(query));
    expect(result.data.myGroups.nodes).toHaveLength(3);
    expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(4);
  });

  it('pages through both queries alike', async () => {
    const first = await ann.graphql(
      '{ agents(first: 2) { edges { cursor node { id } } pageInfo { endCursor hasPreviousPage } } }',
    );
    const [, second] = first.data.agents.edges;
    expect(first.data.agents.pageInfo).toEqual({ endCursor: second.cursor, hasPreviousPage: false });
    const next = await ann.graphql('query ($after: String) { agents(first: 1, after: $after) { nodes { name } } }', {
      after: second.cursor,
    });
    expect(next.data.agents.nodes).toEqual([{ name: `Agent ${agentsMade - 3}` }]);
  });

  it('lists the oldest first where it is asked to, in both directions', async () => {
    const query = `query ($first: Int, $after: String, $last: Int, $before: String) {
      agents(orderBy: OLDEST_FIRST, first: $first, after: $after, last: $last, before: $before) {
        nodes { name } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }`;
    const page = async (args: Readonly<Record<string, unknown>>) => (await ann.graphql(query, args)).data.agents;
    const newest = (await ann.graphql('{ agents(first: 100) { nodes { name } } }')).data.agents.nodes;
    const oldest = await page({ first: 2 });
    expect(oldest).toMatchObject({ nodes: newest.slice(-2).toReversed(), pageInfo: { hasNextPage: true } });
    const next = await page({ first: 2, after: oldest.pageInfo.endCursor });
    expect(next.nodes).toEqual(newest.slice(-4, -2).toReversed());
    expect((await page({ last: 2, before: next.pageInfo.startCursor })).nodes).toEqual(oldest.nodes);
    expect((await page({ last: 1 })).nodes).toEqual(newest.slice(0, 1));
  });

  it.each([
    ['in another case', 'FIND the%', ['Find THE% sign']],
    ['of two characters', 'e%', ['Find THE% sign']],
    ['in a description', 'łódź_', ['Plain']],
    ['across name and description', 'Plain\nŁ', []],
    ['that nothing contains', 'zebrafinch', []],
    ['that many contain, with their count', 'gent 1', null],
  ])('finds agents by words %s', async (_case, search, names) => {
    const owner = await make.person();
    await make.agent({ owner, name: 'Find THE% sign', description: 'X' });
    await make.agent({ owner, name: 'Plain', description: 'ŁÓDŹ_' });
    const query =
      'query ($search: String) { agents(first: 100, filter: { search: $search, scope: OWNED }) { totalCount nodes { name } } }';
    const { data } = await (names === null ? ann : owner).graphql(query, { search });
    const expected =
      names ?? Array.from({ length: agentsMade }, (_, i) => `Agent ${i}`).filter((name) => name.includes('gent 1'));
    expect(data.agents.totalCount).toBe(expected.length);
    expect(data.agents.nodes.map(({ name }: { name: string }) => name).toSorted()).toEqual(expected.toSorted());
  });

  it('says in the words of the document what is wrong in a filter', async () => {
    const { errors } = await ann.graphql('query ($search: String) { agents(filter: { search: $search }) { nodes { id } } }', {
      search: 'x'.repeat(201),
    });
    expect(errors?.[0].extensions.faults).toMatchObject([{ path: 'filter.search' }]);
    const { status, body } = await ann.get(`/api/v1/ais?search=${'x'.repeat(201)}`);
    expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'search' });
  });

  it.each([
    ['a cursor of another list', JSON.stringify(['2026-01-01', 3])],
    ['a cursor that injects', JSON.stringify(["2026-01-01T00:00:00.000Z'; drop table agents; --", 'x'])],
    ['no cursor at all', 'zzz'],
  ])('refuses %s', async (_case, text) => {
    const after = Buffer.from(text).toString('base64url');
    const { errors } = await ann.graphql('query ($after: String) { agents(after: $after) { nodes { id } } }', { after });
    expect(errors?.[0].extensions).toMatchObject({ code: 'INVALID_VALUE', faults: [{ path: 'after' }] });
  });
});

describe('createAgent, updateAgent and deleteAgent', () => {
  it('answer the agent, and report every fault of an input at once', async () => {
    const create = 'mutation ($input: CreateAgentInput!) { createAgent(input: $input) { id name visibility } }';
    const input = { name: 'Ada', description: '', instructions: 'x', visibility: 'ORGANIZATION' };
    const { data } = await ann.graphql(create, { input });
    expect(data.createAgent).toEqual({ id: expect.stringMatching(/^ai_/), name: 'Ada', visibility: 'ORGANIZATION' });
    const update = 'mutation ($id: ID!, $input: UpdateAgentInput!) { updateAgent(id: $id, input: $input) { name introduction } }';
    const { id } = data.createAgent;
    const updated = await ann.graphql(update, { id, input: { introduction: 'Hi' } });
    expect(updated.data.updateAgent).toEqual({ name: 'Ada', introduction: 'Hi' });
    const faulty = await ann.graphql(update, { id, input: { name: ' ', modelId: 'none', options: { topP: 3 } } });
    expect(faulty.errors?.[0].extensions).toMatchObject({
      code: 'INVALID_VALUE',
      faults: [{ path: 'input.name' }, { path: 'input.options.topP' }, { path: 'input.modelId' }],
    });
    const removed = await ann.graphql('mutation ($id: ID!) { deleteAgent(id: $id) { id isDeleted } }', { id });
    expect(removed.data.deleteAgent).toEqual({ id, isDeleted: true });
    expect((await ann.graphql('query ($id: ID!) { node(id: $id) { id } }', { id })).data.node).toBeNull();
  });

  it('shows what is absent as null, and REST as an empty text', async () => {
    const members = `id pictureUrl seed categoryId catalogs options { temperature topK maxOutputTokens }
      profile { headline description voice features { title } }`;
    const create = `mutation ($input: CreateAgentInput!) { agent: createAgent(input: $input) { ${members} } }`;
    const { agent } = (await ann.graphql(create, { input: { name: 'Ada', description: '', instructions: '' } })).data;
    const profile = { headline: null, description: null, voice: null, features: [] };
    const nothing = { pictureUrl: null, seed: null, categoryId: null, catalogs: [], profile };
    expect(agent).toEqual({ id: agent.id, ...nothing, options: { temperature: null, topK: null, maxOutputTokens: null } });
    expect((await ann.get(`/api/v1/ais/${agent.id}`)).body).toMatchObject({
      ...{ src: '', seed: '', categoryId: '', listInOrgCatalog: false, hasUserChats: false },
      options: { temperature: [], topK: [], maxTokens: [] },
      profile: { headline: '', description: '', voice: '', features: [] },
    });
  });

  it('write picture, catalogs and options as REST shows them', async () => {
    const { id } = await make.agent({ owner: ann, listInTenantCatalog: true, src: 'https://example.com/a.png' });
    const update = `mutation ($id: ID!, $input: UpdateAgentInput!) {
      agent: updateAgent(id: $id, input: $input) { pictureUrl catalogs options { temperature maxOutputTokens frequencyPenalty } }
    }`;
    const change = async (input: object) => {
      const { data } = await ann.graphql(update, { id, input });
      return { shown: data.agent, rest: (await ann.get(`/api/v1/ais/${id}`)).body };
    };
    const lists = (org: boolean, tenant: boolean, everybody: boolean) => ({
      ...{ listInOrgCatalog: org, listInTenantCatalog: tenant, listInPublicCatalog: everybody },
    });
    const kept = await change({ options: { temperature: 0, maxOutputTokens: 50, frequencyPenalty: -0.5 } });
    expect(kept.shown).toEqual({
      ...{ pictureUrl: 'https://example.com/a.png', catalogs: ['TENANT'] },
      options: { temperature: 0, maxOutputTokens: 50, frequencyPenalty: -0.5 },
    });
    expect(kept.rest).toMatchObject({
      ...lists(false, true, false),
      options: { temperature: [0], maxTokens: [50], frequencyPenalty: [-0.5], topP: [] },
    });
    const replaced = await change({ catalogs: ['PUBLIC', 'ORGANIZATION'], pictureUrl: 'https://example.com/b.png', options: {} });
    expect(replaced.shown).toMatchObject({ catalogs: ['ORGANIZATION', 'PUBLIC'], options: { temperature: null } });
    expect(replaced.rest).toMatchObject({ ...lists(true, false, true), src: 'https://example.com/b.png' });
    const cleared = await change({ catalogs: null, pictureUrl: null });
    expect(cleared.shown).toMatchObject({ catalogs: [], pictureUrl: null });
    expect(cleared.rest).toMatchObject({ ...lists(false, false, false), src: '' });
    const long = await ann.graphql(update, { id, input: { pictureUrl: 'x'.repeat(200_001) } });
    expect(long.errors?.[0].extensions.faults).toMatchObject([
      { path: 'input.pictureUrl', message: expect.stringMatching(/^input\.pictureUrl must/) },
    ]);
  });

  it('shows the first of several values that REST wrote for an option', async () => {
    const { id } = await make.agent({ owner: ann, options: { temperature: [0.7, 0.1] } });
    const query = 'query ($id: ID!) { agent(id: $id) { options { temperature } } }';
    expect((await ann.graphql(query, { id })).data.agent.options).toEqual({ temperature: 0.7 });
  });
});
