import { describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';
import { countFewestStatements } from '../../support/storage/statements.ts';

const { service, make } = await withService('plain', { env: { ROLE: 'web' } });
const agentCount = 8;
const turns = 3;
const agents: string[] = [];

const admin = await make.person({ role: 'ADMIN' });
const organization = { id: admin.orgId, tenantId: admin.tenantId };
const [ann, bob] = [await make.person({ organization }), await make.person({ organization })];
for (let index = 0; index < agentCount; index += 1) {
  const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
  agents.push(agent.id);
  await ann.graphql('mutation ($id: ID!) { createMemory(input: { text: "Likes tea.", agentId: $id }) { id } }', {
    id: agent.id,
  });
  for (const person of [ann, bob]) {
    const chat = await make.chat({ owner: person, agentId: agent.id });
    for (let turn = 0; turn < turns; turn += 1) {
      await person.post(`/api/v1/chats/${chat.id}/messages`, { prompt: `Question ${turn}` });
    }
  }
}

const agentRuns = (person: Person, args: Readonly<Record<string, unknown>> = {}) =>
  person.graphql(
    `query ($id: ID!, $first: Int, $after: String, $last: Int, $before: String) { agent(id: $id) {
       runs(first: $first, after: $after, last: $last, before: $before) {
         totalCount nodes { id } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }`,
    { id: agents[0], ...args },
  );
const listed = async (person: Person) => {
  const query = 'query ($id: ID!) { runs(filter: { agentId: $id }) { totalCount nodes { id } } }';
  return (await person.graphql(query, { id: agents[0] })).data.runs;
};

describe('the runs of an agent', () => {
  it('are what the list of runs with that agent is, for administrators, editors and everybody else', async () => {
    for (const [person, count] of [
      [admin, 2 * turns],
      [ann, 2 * turns],
      [bob, turns],
    ] as const) {
      const { data } = await agentRuns(person);
      expect(data.agent.runs).toMatchObject(await listed(person));
      expect(data.agent.runs).toMatchObject({ totalCount: count, pageInfo: { hasNextPage: false } });
    }
  });

  it('can be paged in both directions', async () => {
    const all = (await listed(ann)).nodes;
    const first = (await agentRuns(ann, { first: 2 })).data.agent.runs;
    expect(first).toMatchObject({ nodes: all.slice(0, 2), pageInfo: { hasNextPage: true, hasPreviousPage: false } });
    const second = (await agentRuns(ann, { first: 2, after: first.pageInfo.endCursor })).data.agent.runs;
    expect(second).toMatchObject({ nodes: all.slice(2, 4), pageInfo: { hasNextPage: true, hasPreviousPage: true } });
    const back = (await agentRuns(ann, { last: 2, before: second.pageInfo.startCursor })).data.agent.runs;
    expect(back.nodes).toEqual(all.slice(0, 2));
    expect((await agentRuns(ann, { last: 1 })).data.agent.runs.nodes).toEqual(all.slice(-1));
  });
});

describe("the caller's memories with an agent", () => {
  it('are those with that agent alone', async () => {
    await ann.graphql('mutation { createMemory(input: { text: "Lives in Oslo." }) { id } }');
    const query = 'query ($id: ID!) { agent(id: $id) { memories { totalCount nodes { text agentId } } } }';
    const { data } = await ann.graphql(query, { id: agents[0] });
    expect(data.agent.memories).toEqual({ totalCount: 1, nodes: [{ text: 'Likes tea.', agentId: agents[0] }] });
    const others = await bob.graphql(query, { id: agents[0] });
    expect(others.data.agent.memories).toEqual({ totalCount: 0, nodes: [] });
  });
});

describe('lists below lists', () => {
  it.each([
    [
      'runs and memories of agents',
      (first: number) =>
        `agents(first: ${first}) { nodes { runs(first: 2) { totalCount nodes { id } } memories(first: 2) { totalCount nodes { text } } } }`,
    ],
    [
      'traces of runs',
      (first: number) =>
        `runs(first: ${first}, filter: { userId: "${ann.userId}" }) { nodes { trace { instructions modelCalls { modelId } retrievals { question } } } }`,
    ],
  ])('cost as many statements for many as for few: %s', async (_what, query) => {
    const counts = [];
    for (const first of [2, agentCount]) {
      const document = `{ ${query(first)} }`;
      await ann.graphql(document);
      const { result, statements } = await countFewestStatements(service, () => ann.graphql(document));
      expect(result.errors).toBeUndefined();
      const { nodes } = Object.values(
        result.data as Readonly<Record<string, { nodes: Readonly<Record<string, unknown>>[] }>>,
      )[0] ?? { nodes: [] };
      expect(nodes).toHaveLength(first);
      for (const node of nodes) {
        if (node.trace !== undefined)
          expect(node.trace).toMatchObject({ instructions: expect.any(String), modelCalls: [{ modelId: 'parley/offline' }] });
        else
          expect(node).toMatchObject({
            runs: { totalCount: 2 * turns, nodes: [{}, {}] },
            memories: { nodes: [{ text: 'Likes tea.' }] },
          });
      }
      counts.push(statements.length);
    }
    expect(counts[1]).toBeLessThanOrEqual(counts[0] ?? 0);
  });

  it('show what a model was told to editors of the agent only', async () => {
    const query = '{ runs(first: 100) { nodes { id trace { instructions modelCalls { modelId } } } } }';
    const { data } = await bob.graphql(query);
    expect(data.runs.nodes).toHaveLength(agentCount * turns);
    for (const { trace } of data.runs.nodes) expect(trace).toMatchObject({ instructions: null, modelCalls: [{}] });
    // The chats of others: their runs are listed, what they did is not.
    const { data: all } = await admin.graphql(query);
    expect(all.runs.nodes.length).toBeGreaterThan(0);
    for (const { trace } of all.runs.nodes) expect(trace).toBeNull();
  });
});
