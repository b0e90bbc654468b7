import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { indexed, itemsOf } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { scriptResearch } from '../../../support/runs/research.ts';
import { withService } from '../../../support/service.ts';
import { unzip } from '../../../support/storage/unzip.ts';

/** What is kept of documents, and the longer ways to an answer: the rows of docs/permissions.md that outputs.test.ts does not have. */
const { service, make, upstream } = await withService('model');
const { prisma } = service.deps.storage.db;
const secret = 'kingfisher';
let ann: Person;
let bob: Person;
let admin: Person;
let agentId: string;
let flowAgent: string;
let researcher: string;
let source: string;
let item: string;
let chatOfBob: string;
let runOfBob: string;
let sharedByBob: string;
let experiment: string;
let dataset: string;
let taskOfBob: string;

const push = (acl: readonly string[]) => ann.put(`/api/v1/data-sources/${source}/items`, { items: [{ uniqueId: 'plan', acl }] });
/** All that models were sent meanwhile. */
async function sentBy(act: () => Promise<unknown>) {
  const before = upstream.requests.length;
  await act();
  return upstream.requests.slice(before).map(({ body }) => body);
}
const ask = (path: string, body: object) => async () => {
  upstream.next({ text: 'Nothing.' });
  expect((await bob.post(path, body)).status).toBe(200);
};
/** The files of an export. */
async function exported(who: Person, mutation: string) {
  const { id } = (await who.ask(`mutation { started: ${mutation} { id } }`)).started;
  const { url } = await eventually(async () => {
    const { node } = await who.ask('query ($id: ID!) { node(id: $id) { ... on DataExport { status url } } }', { id });
    expect(node.status).toBe('READY');
    return node;
  });
  return [...(await unzip(Buffer.from(await (await fetch(url)).arrayBuffer()))).values()];
}
/** A call of an A2A client. */
const rpc = async (method: string, params: object) => {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  const reply = await bob.fetch('POST', `/a2a/${agentId}`, body, { 'a2a-version': '1.0' });
  const { result, error } = JSON.parse(await reply.text());
  expect(error).toBeUndefined();
  return result;
};
const said = { role: 'ROLE_USER', parts: [{ text: 'Where does it nest?' }] };
const citations = 'citations { name snippet url headingPath }';
const question = { role: 'user', content: 'Where does it nest?' };

const records: Readonly<Record<string, () => Promise<unknown>>> = {
  flow: () => sentBy(ask('/api/v1/chat/completions', { model: flowAgent, messages: [question] })),
  'deep research': async () => {
    scriptResearch(upstream, ['Where does it nest?']);
    const body = { model: researcher, input: 'Find out', tools: [{ type: 'deep_research' }] };
    const sent = await sentBy(() => bob.post('/api/v1/responses', body));
    upstream.reset();
    return sent;
  },
  'agent asked in the Messages format': () =>
    sentBy(ask('/api/v1/messages', { model: agentId, max_tokens: 50, messages: [question] })),
  'agent asked over AG-UI': () =>
    sentBy(async () => {
      upstream.next({ text: 'Nothing.' });
      const run = { threadId: 'thread', runId: 'run', messages: [{ id: 'm1', ...question }] };
      await (await bob.fetch('POST', `/api/v1/ag-ui/${agentId}`, run, {})).text();
    }),
  'agent asked over A2A': () =>
    sentBy(async () => {
      upstream.next({ text: 'Nothing.' });
      await rpc('SendMessage', { message: { messageId: crypto.randomUUID(), ...said } });
    }),
  'task of an A2A client': async () => [
    await rpc('GetTask', { id: taskOfBob }),
    await rpc('ListTasks', { includeArtifacts: true }),
  ],
  'live changes of a chat': async () => {
    const document = `subscription ($id: ID!) { messagesChanged(chatId: $id) { node { content ${citations} } } }`;
    const next = (async () => {
      for await (const { data } of bob.subscribe(document, { id: chatOfBob })) return data;
      return undefined;
    })();
    const { id: answer } = (await bob.get(`/api/v1/chats/${chatOfBob}`)).body.messages[1];
    // Until the subscription listens, changes are not told.
    for (const rating of ['UP', 'DOWN', 'UP', 'DOWN', 'UP', 'DOWN']) {
      expect((await bob.put(`/api/v1/chats/${chatOfBob}/messages/${answer}/feedback`, { rating })).status).toBeLessThan(300);
      const change = await Promise.race([next, new Promise<undefined>((resolve) => setTimeout(resolve, 1_000))]);
      if (change !== undefined) return change;
    }
    return next;
  },
  'document that was saved': async () => (await bob.post('/api/v1/documents/what_is_cited', { id: chatOfBob })).body,
  'next turn of an old chat': () =>
    sentBy(ask(`/api/v1/chats/${chatOfBob}/messages`, { prompt: 'And where does it nest in June?' })),
  'page of a run': () =>
    bob.ask(
      `query ($id: ID!) { run(id: $id) { text ${citations} messages { ${citations} } output { ... on MessageItem { ${citations} } }
        steps { ... on RetrievalStep { passages { title } } } } }`,
      { id: runOfBob },
    ),
  'list of runs': () =>
    bob.ask(`query { runs { nodes { ${citations} steps { ... on RetrievalStep { passages { title } } } } } }`),
  feedback: () => bob.ask(`query { feedback { nodes { comment message { ${citations} } run { ${citations} } } } }`),
  'copy of a shared chat': async () => {
    const copying = `mutation ($secret: String!) { copySharedChat(secret: $secret, input: {}) { chat { messages { nodes { ${citations} } } } } }`;
    return bob.ask(copying, { secret: sharedByBob });
  },
  'answers of an experiment': () =>
    bob.ask(
      'query ($id: ID!) { experimentPairs(experimentId: $id) { nodes { results { answer citations { knowledgeItemId name } } } } }',
      { id: experiment },
    ),
  'report of an experiment': () =>
    bob.ask('query ($id: ID!) { experimentReport(id: $id, format: CSV) { content } }', { id: experiment }),
  'cases drafted from a document': async () => {
    upstream.next({ text: '{}' });
    const drafting =
      'mutation ($id: ID!, $items: [ID!]!) { draftDatasetCases(datasetId: $id, itemIds: $items, count: 1) { id } }';
    return sentBy(() => bob.graphql(drafting, { id: dataset, items: [item] }));
  },
  'live changes of a source': async () => {
    const document = `subscription ($id: ID!) { dataSourceUpdated(dataSourceId: $id) {
      errorMessage activeRun { currentItem } items { totalCount nodes { name } } } }`;
    for await (const { data } of bob.subscribe(document, { id: source })) return data;
    return undefined;
  },
  'runs of a source over REST': async () => (await bob.get(`/api/v1/data-sources/${source}/runs`)).body,
  'runs of a source over GraphQL': () =>
    bob.ask('query ($id: ID!) { dataSourceRuns(dataSourceId: $id) { nodes { currentItem } } }', { id: source }),
  'vector store': async () => {
    const id = item.replace(/^[a-z]+_/, 'vsf_');
    const named = await bob.graphql('query ($id: ID!, $item: ID!) { file: node(id: $id) { id } item: node(id: $item) { id } }', {
      id,
      item: id,
    });
    const store = await bob.post(`/api/v1/vector_stores/${source}/search`, { query: secret });
    const made = await bob.post('/api/v1/vector_stores', { name: 'Mine', file_ids: [item] });
    return [named.data, store.body.data, made.body.data];
  },
  'profile of an agent': () =>
    sentBy(async () => {
      upstream.next({ text: '{}' });
      await ann.graphql('mutation ($id: ID!) { generateAgentProfile(id: $id) { headline } }', { id: agentId });
    }),
  'search over everything': () => bob.ask('query ($text: String!) { search(query: $text) { title snippet } }', { text: secret }),
  'audit log': () => admin.ask('query { auditLog(first: 100) { nodes { targetName changes { member before values } } } }'),
  "export of a person's data": () => exported(bob, 'exportPersonData(input: {})'),
  "export of an organization's data": () => exported(admin, 'exportOrganizationData'),
};

beforeAll(async () => {
  const organization = await make.organization();
  ann = await make.person({ organization });
  bob = await make.person({ organization });
  admin = await make.person({ organization, role: 'ADMIN' });
  await prisma.user.updateMany({ where: { id: { in: [ann.userId, bob.userId] } }, data: { emailVerifiedAt: new Date() } });
  const members = {
    visibility: 'ORGANIZATION',
    intermediateStepsVisible: true,
    generateCitations: true,
    modelId: 'openai/test-model',
  };
  const agent = await make.agent({ owner: ann, name: 'Guide', ...members, editors: [{ id: bob.userId }] });
  agentId = agent.id;
  source = (await ann.post(`/api/v1/ais/${agentId}/data-sources/api`, { name: 'Wiki', data: {}, access: 'MIRRORED' })).body.id;
  await ann.patch(`/api/v1/data-sources/${source}`, { orgVisible: true });
  const text = `# The plan of the ${secret}\n\nThe ${secret} nests in the river bank.`;
  const items = [{ uniqueId: 'plan', name: `plan of the ${secret}`, text, acl: [`user:${ann.email}`, `user:${bob.email}`] }];
  expect((await ann.put(`/api/v1/data-sources/${source}/items`, { items })).status).toBe(200);
  await indexed(ann, source);
  item = (await itemsOf(ann, source)).find(({ uniqueId }: { uniqueId: string }) => uniqueId === 'plan').id;
  flowAgent = (await make.agent({ owner: bob, ...members })).id;
  const steps = [
    { id: 'passages', type: 'retrieve', query: '{{input}}', limit: 3 },
    { id: 'answer', type: 'model', prompt: '{{input}} {{steps.passages.output}}' },
  ];
  const versions = [{ version: 1, active: true, data: { steps } }];
  expect((await bob.post(`/api/v1/ais/${flowAgent}/flows`, { name: 'Main', versions })).status).toBe(200);
  researcher = (await make.agent({ owner: bob, ...members })).id;
  for (const id of [flowAgent, researcher])
    expect((await bob.post(`/api/v1/ais/${id}/data-sources`, { dataSourceId: source })).status).toBeLessThan(300);
  chatOfBob = (await make.chat({ owner: bob, agentId })).id;
  upstream.next({ text: 'What the model wrote [1].' });
  await bob.post(`/api/v1/chats/${chatOfBob}/messages`, { prompt: 'Where does it nest?' });
  const { id: answer } = (await bob.get(`/api/v1/chats/${chatOfBob}`)).body.messages.at(-1);
  const rating = { rating: 'UP', comment: 'Good' };
  expect((await bob.put(`/api/v1/chats/${chatOfBob}/messages/${answer}/feedback`, rating)).status).toBeLessThan(300);
  const { runs } = await bob.ask('query { runs(first: 10) { nodes { id chatId } } }');
  runOfBob = runs.nodes.find(({ chatId }: { chatId: string }) => chatId === chatOfBob).id;
  const sharing = 'mutation ($chatId: ID!) { shareChat(chatId: $chatId, input: { audience: ORGANIZATION }) { url } }';
  sharedByBob = (await bob.ask(sharing, { chatId: chatOfBob })).shareChat.url.split('#')[1];
  upstream.next({ text: 'It says so [1].' });
  taskOfBob = (await rpc('SendMessage', { message: { messageId: 'first', ...said } })).task.id;
  const document = `query WhatIsCited($id: ID!) { chat(id: $id) { messages { nodes { ${citations} } } } }`;
  const saved = { name: 'what_is_cited', description: 'What a chat cites.', document };
  expect((await admin.put('/api/v1/documents', saved)).status).toBeLessThan(300);
  await runExperiment();
  // What a connector would have written while it reads.
  const currentItem = `plan of the ${secret}`;
  await prisma.sourceRun.create({
    data: { id: service.deps.newId('sourceRun'), dataSourceId: source, trigger: 'REFRESH', status: 'INDEXING', currentItem },
  });
});

async function runExperiment() {
  const variables = { agentId, input: { name: 'Cases', callsTools: false } };
  const making =
    'mutation ($agentId: ID!, $input: CreateDatasetInput!) { createDataset(agentId: $agentId, input: $input) { id } }';
  const { id } = (await bob.ask(making, variables)).createDataset;
  dataset = id;
  const adding = 'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }';
  await bob.ask(adding, { id, cases: [{ question: 'Where does it nest?', expected: 'Somewhere' }] });
  upstream.next({ text: 'It says so [1].' });
  const running = 'mutation ($agentId: ID!, $input: ExperimentInput!) { runExperiment(agentId: $agentId, input: $input) { id } }';
  const input = { datasetId: id, versions: ['draft'], tokensMax: 100_000, scorers: [{ kind: 'CONTAINS' }] };
  experiment = (await bob.ask(running, { agentId, input })).runExperiment.id;
  await eventually(async () => {
    const state = await bob.ask('query ($id: ID!) { experiment(id: $id) { status } }', { id: experiment });
    expect(state.experiment.status).toBe('DONE');
  });
}

/** Rows that show nothing of a MIRRORED source to anybody. */
const neverShown: ReadonlySet<string> = new Set([
  ...['vector store', 'profile of an agent', 'search over everything', 'audit log'],
  ...["export of a person's data", "export of an organization's data"],
  // Only administrators see what a connector reads just now.
  ...['runs of a source over REST', 'runs of a source over GraphQL'],
]);

describe('before it was closed', () => {
  it.each(Object.entries(records).filter(([name]) => !neverShown.has(name)))('it is shown by: %s', async (_name, show) => {
    const text = (JSON.stringify(await show()) ?? '').toLowerCase();
    expect(text.includes(`the ${secret}`) || text.includes('river bank')).toBe(true);
  });

  it('an administrator sees what a connector reads', async () => {
    expect(JSON.stringify((await admin.get(`/api/v1/data-sources/${source}/runs`)).body)).toContain(secret);
  });
});

describe('a document that was closed to its reader is shown by', () => {
  beforeAll(async () => {
    expect((await push([`user:${ann.email}`])).body.permissionsChangedCount).toBe(1);
  });

  it.each(Object.entries(records))('nothing in: %s', async (_name, show) => {
    const text = (JSON.stringify((await show()) ?? null) ?? '').toLowerCase();
    expect(text).not.toContain(`the ${secret}`);
    expect(text).not.toContain('river bank');
  });

  it('each of these rows is in docs/permissions.md', () => {
    const page = readFileSync('docs/permissions.md', 'utf8');
    for (const name of Object.keys(records)) expect(page, name).toContain(`| ${name} |`);
  });
});

describe('a record that is older than permissions', () => {
  const events = async () => (await bob.get(`/api/v1/chats/${chatOfBob}/runs/${runOfBob}/events`)).body;
  const named = ['answers of an experiment', 'report of an experiment'];
  const exports = ["export of a person's data", "export of an organization's data"];
  const namesOf = async (who: Person) => {
    const pairs = 'query ($id: ID!) { experimentPairs(experimentId: $id) { nodes { results { citations { name } } } } }';
    return JSON.stringify(await who.ask(pairs, { id: experiment }));
  };

  beforeAll(async () => {
    // Both may open the document: only the record does not say that it is this one.
    await push([`user:${ann.email}`, `user:${bob.email}`]);
    const strip = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(strip);
      if (typeof value !== 'object' || value === null) return value;
      const isCitationOfAnswer = 'itemId' in value && 'name' in value;
      const isPassage = 'chunkId' in value && 'score' in value && !('snippet' in value);
      const hidden = isCitationOfAnswer
        ? ['dataSourceId']
        : isPassage
          ? ['dataSourceId', 'knowledgeItemId', 'chunkId']
          : ['documents'];
      return Object.fromEntries(
        Object.entries(value).flatMap(([member, inner]) => (hidden.includes(member) ? [] : [[member, strip(inner)]])),
      );
    };
    for (const { details, ...key } of await prisma.experimentResult.findMany({ where: { experimentId: experiment } })) {
      const { experimentId, caseId, variant, repeat } = key;
      await prisma.experimentResult.update({
        where: { experimentId_caseId_variant_repeat: { experimentId, caseId, variant, repeat } },
        data: { details: strip(details) as object },
      });
    }
    const { pool } = service.deps.storage.db;
    const { rows } = await pool.query('select id, steps from runs where steps is not null');
    for (const { id, steps } of rows)
      await pool.query('update runs set steps = $2::jsonb where id = $1', [id, JSON.stringify(strip(steps))]);
    const logs = await pool.query('select "runId", "firstSequence", events from run_event_batches');
    for (const { runId, firstSequence, events: batch } of logs.rows) {
      const sql = 'update run_event_batches set events = $3::jsonb where "runId" = $1 and "firstSequence" = $2';
      await pool.query(sql, [runId, firstSequence, JSON.stringify(strip(batch))]);
    }
  });

  it.each([...named, ...exports])('names no document, to anybody, in: %s', async (name) => {
    const text = JSON.stringify((await records[name]?.()) ?? null);
    expect(text).not.toContain(`plan of the ${secret}`);
    expect(text.toLowerCase()).not.toContain('river bank');
  });

  it('has no titles of what its searches found', async () => {
    const steps = 'query ($id: ID!) { run(id: $id) { steps { ... on RetrievalStep { passages { title isHidden } } } } }';
    const text = JSON.stringify(await bob.ask(steps, { id: runOfBob }));
    expect(text).toContain('"isHidden":true');
    expect(text).not.toContain(`plan of the ${secret}`);
    expect(JSON.stringify((await bob.get(`/api/v1/runs/${runOfBob}/trace`)).body)).not.toContain(`plan of the ${secret}`);
    const searched = `subscription ($id: ID!) { runEvents(runId: $id) { __typename ... on RetrievalCompleted { titles } } }`;
    const seen = JSON.stringify(await Array.fromAsync(bob.subscribe(searched, { id: runOfBob })));
    expect(seen).toContain('RetrievalCompleted');
    expect(seen).not.toContain(`plan of the ${secret}`);
    const stream = String(await events());
    expect(stream).toContain(`plan of the ${secret}`);
    expect(stream).not.toContain('"titles":["');
  });

  it('learns the source of a document that is still there', async () => {
    expect(await namesOf(ann)).not.toContain(secret);
    const migration = readFileSync('prisma/migrations/295_cited_sources/migration.sql', 'utf8');
    await service.deps.storage.db.pool.query(migration);
    expect(await namesOf(ann)).toContain(`plan of the ${secret}`);
    await push([`user:${ann.email}`]);
    expect(await namesOf(ann)).toContain(`plan of the ${secret}`);
    expect(await namesOf(bob)).not.toContain(secret);
  });
});
