import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kind, OperationTypeNode, parse, print } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';
import { countFewestStatements } from '../../support/storage/statements.ts';

/** No page of a front end costs more statements, those after its reply included. */
const statementsMax = 8;

const folder = join(import.meta.dirname, '../../../clients/typescript/documents/pages');
const queries = readdirSync(folder).flatMap((name) => {
  const { definitions } = parse(readFileSync(join(folder, name), 'utf8'));
  const fragments = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  return definitions.flatMap((node) =>
    node.kind === Kind.OPERATION_DEFINITION && node.operation === OperationTypeNode.QUERY
      ? [{ name: node.name?.value ?? '', text: [node, ...fragments].map(print).join('\n') }]
      : [],
  );
});

const { service, make } = await withService();
let ann: Person;
let variables: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
const agentCount = 12;

beforeAll(async () => {
  ann = await make.person({ role: 'ADMIN', name: 'Ann' });
  const organization = { id: ann.orgId, tenantId: ann.tenantId };
  for (const name of ['Bob', 'Cleo', 'Dan']) await make.person({ organization, name });
  const { body: group } = await ann.post('/api/v1/groups', {
    name: 'All',
    availability: 'EVERYONE',
    memberEmails: 'eve@example.com',
  });
  const agents: string[] = [];
  for (let index = 0; index < agentCount; index += 1) {
    const agent = await make.agent({ owner: ann, name: `Agent ${index}`, visibility: 'GROUP', groups: [group.id] });
    agents.push(agent.id);
  }
  const [agentId = ''] = agents;
  const sources: string[] = [];
  for (let index = 0; index < 6; index += 1) {
    sources.push((await make.apiDataSource({ owner: ann, agentId, data: { text: `The store ${index} opens at nine.` } })).id);
  }
  await ann.post(`/api/v1/ais/${agentId}/skills`, { name: 'Greeting', content: 'Say hello.' });
  await ann.post(`/api/v1/ais/${agentId}/tools`, {
    name: 'price',
    type: 'API_FUNCTION',
    data: { url: 'https://example.com/price', method: 'GET', headers: { Authorization: 'Bearer a-secret-of-the-shop' } },
  });
  await ann.post(`/api/v1/ais/${agentId}/flows`, {
    name: 'Two steps',
    versions: [{ version: 1, active: true, data: { steps: [{ id: 'found', type: 'retrieve' }] } }],
  });
  await ann.post(`/api/v1/ais/${agentId}/user-inputs`, { label: 'Shop', variableName: 'shop', type: 'SHORT_TEXT' });
  await eventually(async () => {
    const { body } = await ann.get(`/api/v1/data-sources/${sources[0]}`);
    expect(body.indexStatus).toBe('INDEXED');
  });
  const chat = await make.chat({ owner: ann, agentId });
  for (let turn = 0; turn < 8; turn += 1) {
    await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: `When does the store ${turn} open?` });
  }
  for (const id of agents) await make.chat({ owner: ann, agentId: id });
  const { data } = await ann.graphql('query ($id: ID!) { chat(id: $id) { messages(last: 1) { nodes { id run { id } } } } }', {
    id: chat.id,
  });
  const [answer] = data.chat.messages.nodes;
  // No model answers here, so that no answer can be rated: the page of runs shows a question without an answer.
  await service.deps.storage.db.pool.query('update runs set "ratedDown" = 1 where id = $1', [answer.run.id]);
  const { data: listed } = await ann.graphql('{ unansweredQuestions(first: 5) { nodes { question } } }');
  expect(listed.unansweredQuestions.nodes).toEqual([{ question: 'When does the store 7 open?' }]);
  variables = {
    ChatQuery: { id: chat.id },
    AgentEditorQuery: { id: agentId },
    AgentSourcesQuery: { agentId },
    SourceQuery: { id: sources[0] },
    RunQuery: { id: answer.run.id },
    SearchQuery: { query: 'store' },
  };
});

describe('page queries', () => {
  it('are there', () => {
    expect(queries.length).toBeGreaterThanOrEqual(13);
  });

  it.each(queries)(
    `$name takes at most ${statementsMax} statements, and gets its page without an error`,
    async ({ name, text }) => {
      const given = { ...variables[name] };
      await ann.graphql(text, given);
      await service.deps.audit.flush();
      const { result, statements } = await countFewestStatements(service, async () => {
        const reply = await ann.graphql(text, given);
        // What the page shows of other people's content is looked up after the reply, for the audit log.
        await service.deps.audit.flush();
        return reply;
      });
      expect(result.errors).toBeUndefined();
      for (const [field, value] of Object.entries(result.data)) expect(value, field).not.toBeNull();
      expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(statementsMax);
      expect(statements.length).toBeGreaterThan(0);
    },
  );
});
