import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';
import { countFewestStatements } from '../../support/storage/statements.ts';

// Statements are counted, so the service runs no background jobs.
const { service, make } = await withService('web');
const agentsMade = 50;
let ann: Person;
let bob: Person;
let agentId: string;

beforeAll(async () => {
  ann = await make.person({ name: 'Ann' });
  bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, name: 'Bob' });
  for (let index = 0; index < agentsMade; index += 1) {
    const agent = await make.agent({ owner: ann, name: `Agent ${index}`, visibility: 'ORGANIZATION' });
    await make.apiDataSource({ owner: ann, agentId: agent.id, data: { number: index } });
    agentId = agent.id;
  }
  await make.apiDataSource({ owner: ann, agentId, data: { number: 50 } });
  const parts = `/api/v1/ais/${agentId}`;
  await ann.post(`${parts}/skills`, { name: 'Greeting', content: 'Say hello.' });
  await ann.post(`${parts}/secrets`, { key: 'KEY', secretType: 'apiKey', value: 'hidden', origins: ['https://example.com'] });
  await make.chat({ owner: ann, agentId });
});

describe('the edges of agents', () => {
  it('cost as many statements for 50 agents as for 5', async () => {
    const counts = [];
    for (const first of [5, agentsMade]) {
      const query = `{ agents(first: ${first}) { nodes {
        name owner { name } organization { name } model { id } groups { name } editors { name }
        tools { name } skills { name } flows { name } userInputs { label } secrets { key }
        sources(first: 5) { nodes { name } totalCount }
      } } }`;
      await ann.graphql(query);
      const { result, statements } = await countFewestStatements(service, () => ann.graphql(query));
      expect(result.errors).toBeUndefined();
      const { nodes } = result.data.agents;
      expect(nodes).toHaveLength(first);
      for (const node of nodes) {
        expect(node).toMatchObject({ owner: { name: 'Ann' }, organization: {}, model: { id: 'parley/offline' } });
      }
      expect(nodes[0]).toMatchObject({ skills: [{ name: 'Greeting' }], secrets: [{ key: 'KEY' }], sources: { totalCount: 2 } });
      counts.push(statements.length);
    }
    expect(counts[1]).toBeLessThanOrEqual(counts[0] ?? 0);
  });

  it('read the parts of all kinds by one statement, and keep the order of the members of JSON', async () => {
    const agent = await make.agent({ owner: ann, name: 'Whole' });
    const path = `/api/v1/ais/${agent.id}`;
    const parameters = {
      type: 'object',
      properties: { zone: { type: 'string' }, 7: { type: 'string' }, area: { type: 'number' } },
    };
    await ann.post(`${path}/tools`, { name: 'zebra', type: 'CLIENT_FUNCTION', data: { parameters } });
    await ann.post(`${path}/tools`, { name: 'ant', type: 'CLIENT_FUNCTION', data: {} });
    const versions = [2, 1].map((version) => ({
      version,
      data: { steps: [{ id: 'called', type: 'tool', tool: 'zebra', arguments: { zone: 'a', area: 1 } }] },
    }));
    await ann.post(`${path}/flows`, { name: 'Flow', versions });
    await ann.post(`${path}/user-inputs`, { label: 'Second', variableName: 'a', type: 'DATE', orderIndex: 2 });
    await ann.post(`${path}/user-inputs`, { label: 'First', variableName: 'b', type: 'DATE', orderIndex: 1 });
    const count = async (parts: string) => {
      const query = `query ($id: ID!) { agent(id: $id) { id ${parts} } }`;
      return countFewestStatements(service, () => ann.graphql(query, { id: agent.id }));
    };
    const { statements: without } = await count('');
    const parts = 'tools { name createdAt } skills { name } flows { name createdAt versions { version } } userInputs { label }';
    const { result, statements } = await count(`${parts} secrets { key }`);
    expect(statements.length).toBe(without.length + 1);
    expect(result.data.agent).toMatchObject({
      tools: [{ name: 'ant' }, { name: 'zebra' }],
      skills: [],
      flows: [{ name: 'Flow', versions: [{ version: 1 }, { version: 2 }] }],
      userInputs: [{ label: 'First' }, { label: 'Second' }],
      secrets: [],
    });
    const [, zebra] = result.data.agent.tools;
    expect(Date.now() - Date.parse(zebra.createdAt)).toBeLessThan(60_000);
    const { body: tools } = await ann.get(`${path}/tools`);
    expect(JSON.stringify(tools.data[1].data.parameters)).toBe(JSON.stringify(parameters));
    const { body } = await ann.get(`${path}/flows`);
    expect(JSON.stringify(body.data[0].versions[0].data.steps[0].arguments)).toBe('{"zone":"a","area":1}');
  });

  it('show the inside of parts, and that there are secrets, to editors only', async () => {
    const query = 'query ($id: ID!) { agent(id: $id) { skills { name content } secrets { key } chats { totalCount } } }';
    const { data } = await ann.graphql(query, { id: agentId });
    expect(data.agent).toEqual({
      skills: [{ name: 'Greeting', content: 'Say hello.' }],
      secrets: [{ key: 'KEY' }],
      chats: { totalCount: 1 },
    });
    const { data: others } = await bob.graphql(query, { id: agentId });
    expect(others.agent).toEqual({ skills: [{ name: 'Greeting', content: null }], secrets: null, chats: { totalCount: 0 } });
  });

  it('page through the sources of an agent in both directions', async () => {
    const query = `query ($id: ID!, $first: Int, $after: String, $last: Int, $before: String) { agent(id: $id) {
      sources(first: $first, after: $after, last: $last, before: $before) {
        nodes { id } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }`;
    const page = async (args: object) => (await ann.graphql(query, { id: agentId, ...args })).data.agent.sources;
    const first = await page({ first: 1 });
    expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const second = await page({ first: 1, after: first.pageInfo.endCursor });
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    expect(second.nodes[0].id).not.toBe(first.nodes[0].id);
    expect(await page({ last: 1 })).toMatchObject({ nodes: second.nodes, pageInfo: { hasPreviousPage: true } });
    expect((await page({ last: 1, before: second.pageInfo.startCursor })).nodes).toEqual(first.nodes);
  });
});
