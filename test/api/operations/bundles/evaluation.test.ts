import { expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

/** Datasets and the gate of an agent in its bundle. */
const { make, service } = await withService('web');
const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });

async function ask(document: string, variables: object) {
  return ann.ask(document, { ...variables });
}

const cases = [
  { question: 'What does the lamp cost?', messages: [{ role: 'user', content: 'It costs 20 francs.' }], mustContain: ['20'] },
  { question: 'Pay it', userInputs: { city: 'Bern' }, mustCall: [{ name: 'pay', arguments: { amount: 20 } }], tags: ['must'] },
  { question: 'Not yet?', weight: 2, isDraft: true },
];
const scorers = [{ kind: 'CONTAINS' }, { kind: 'JSON_SCHEMA', schema: '{"type":"object"}' }];

async function agentWithGate() {
  const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
  const { id } = agent;
  const create =
    'mutation ($id: ID!, $name: String!) { createDataset(agentId: $id, input: { name: $name, callsTools: true }) { id } }';
  const empty = (await ask(create, { id, name: 'Another' })).createDataset.id as string;
  const datasetId = (await ask(create, { id, name: 'Lamps' })).createDataset.id as string;
  const content = cases.map((one) => JSON.stringify(one)).join('\n');
  await ask(
    'mutation ($id: ID!, $content: String!) { importDatasetCases(datasetId: $id, input: { format: JSONL, content: $content }) { id } }',
    {
      id: datasetId,
      content,
    },
  );
  await ask('mutation ($id: ID!) { setAgentPublishing(id: $id, publishing: ON_REQUEST) { id } }', { id });
  const gate = { datasetId, mustTag: 'must', rateDropMax: 2.5, tokensMax: 5_000, scorers };
  await ask('mutation ($id: ID!, $input: SetAgentGateInput!) { setAgentGate(agentId: $id, input: $input) { mustTag } }', {
    id,
    input: gate,
  });
  return { id, datasetId, empty };
}

const bundleOf = async (who: Person, id: string, query = '') => (await who.get(`/api/v1/ais/${id}/export${query}`)).body;
const timeless = (bundle: object) => ({ ...bundle, exportedAt: undefined, agent: undefined });

it('goes with its datasets and its gate, and is the same where it is imported', async () => {
  const { id } = await agentWithGate();
  const bundle = await bundleOf(ann, id);
  expect(bundle.datasets).toEqual([
    { name: 'Another', description: '', callsTools: true, cases: [] },
    { name: 'Lamps', description: '', callsTools: true, cases },
  ]);
  expect(bundle.gate).toEqual({
    ...{ dataset: 1, mustTag: 'must', rateDropMax: 2.5, costRatioMax: null, tokensMax: 5_000 },
    scorers: [{ kind: 'CONTAINS' }, { kind: 'JSON_SCHEMA', schema: { type: 'object' } }],
  });
  expect(bundle.warnings).toBeUndefined();
  const dry = await ann.post('/api/v1/ais/import?dryRun=true', { bundle });
  expect(dry.body).toEqual({ aiId: null, warnings: [] });
  const imported = await ann.post('/api/v1/ais/import', { bundle, name: 'A copy' });
  expect(imported.body.warnings).toEqual([]);
  const { aiId } = imported.body;
  expect(timeless(await bundleOf(ann, aiId))).toEqual(timeless(bundle));
  const query = `query ($id: ID!) { agent(id: $id) { publishing } agentGate(agentId: $id) { datasetId report { verdict } }
    datasets(agentId: $id) { nodes { id name revision caseCount draftCount callsTools } } }`;
  const { agent, agentGate, datasets } = await ask(query, { id: aiId });
  expect(agent.publishing).toBe('ON_REQUEST');
  expect(datasets.nodes).toHaveLength(2);
  expect(datasets.nodes).toEqual(
    expect.arrayContaining([
      { id: agentGate.datasetId, name: 'Lamps', revision: 1, caseCount: 3, draftCount: 1, callsTools: true },
      expect.objectContaining({ name: 'Another', revision: 0, caseCount: 0 }),
    ]),
  );
  // GraphQL reads and writes the same file.
  const { agentBundle } = await ask('query ($id: ID!) { agentBundle(agentId: $id) { file } }', { id: aiId });
  const again = await ask('mutation ($input: ImportAgentInput!) { importAgent(input: $input) { agentId warnings } }', {
    input: { bundle: agentBundle.file, name: 'Another copy' },
  });
  expect(again.importAgent.warnings).toEqual([]);
  expect((await bundleOf(ann, again.importAgent.agentId)).gate).toEqual(bundle.gate);
});

it('has the bytes it had where there is neither, and where the caller leaves them out', async () => {
  const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
  const before = timeless(await bundleOf(ann, agent.id));
  expect(Object.keys(before)).not.toEqual(expect.arrayContaining(['datasets']));
  const create = 'mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "Lamps" }) { id } }';
  await ask(create, { id: agent.id });
  expect(JSON.stringify(timeless(await bundleOf(ann, agent.id, '?includeEvaluation=false')))).toBe(JSON.stringify(before));
  expect((await bundleOf(ann, agent.id)).datasets).toHaveLength(1);
  // Who may only use the agent reads no dataset, and is told that there are some.
  const used = await bundleOf(bob, agent.id);
  expect(used).not.toHaveProperty('datasets');
  expect(used.warnings).toContainEqual({
    ...{ code: 'left_out', param: 'datasets' },
    message: 'datasets left out: only the owner, editors and administrators may read it',
  });
});

it('leaves out what people said, and names it', async () => {
  const { id, datasetId } = await agentWithGate();
  const chat = await make.chat({ owner: ann, agentId: id });
  await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'My secret is 4711' });
  const said = 'query ($id: ID!) { chat(id: $id) { messages(last: 1) { nodes { runId } } } }';
  const { messages } = (await ask(said, { id: chat.id })).chat;
  await ask('mutation ($id: ID!, $runs: [ID!]!) { addRunsToDataset(datasetId: $id, runIds: $runs) { caseCount } }', {
    id: datasetId,
    runs: [messages.nodes[0].runId],
  });
  const bundle = await bundleOf(ann, id);
  expect(bundle.datasets[1].cases).toEqual(cases);
  expect(JSON.stringify(bundle)).not.toContain('4711');
  expect(bundle.warnings).toEqual([
    { code: 'left_out', message: '1 cases of Lamps left out: they were made of what people said', param: 'datasets' },
  ]);
});

it('is refused whole, naming the place of each fault', async () => {
  const { id } = await agentWithGate();
  const bundle = await bundleOf(ann, id);
  const count = async () => (await service.deps.storage.db.pool.query('select count(*)::int as n from datasets')).rows[0].n;
  const before = await count();
  const faulty = {
    ...bundle,
    datasets: [{ name: ' ', cases: [{ question: 'Why?' }, { question: '', mustCall: [{}], color: 'red' }] }],
    gate: { dataset: 3, tokensMax: 0, scorers: [{ kind: 'MATCHES', pattern: '(a)\\1' }, 7] },
  };
  expect((await ann.post('/api/v1/ais/import', { bundle: faulty })).status).toBe(400);
  const { errors } = await ann.graphql('mutation ($input: ImportAgentInput!) { importAgent(input: $input) { agentId } }', {
    input: { bundle: faulty },
  });
  const params = errors?.[0]?.extensions.faults.map(({ path }: { path: string }) => path.replace(/^input\./, ''));
  expect(params).toEqual(
    expect.arrayContaining([
      'bundle.datasets.0.name',
      'bundle.datasets.0.cases.1.question',
      'bundle.datasets.0.cases.1.mustCall.0.name',
      'bundle.datasets.0.cases.1.color',
      'bundle.gate.dataset',
      'bundle.gate.mustTag',
      'bundle.gate.tokensMax',
      'bundle.gate.scorers.0.pattern',
      'bundle.gate.scorers.1.kind',
    ]),
  );
  expect(await count()).toBe(before);
});

it('loses its gate where a model that judges is missing', async () => {
  const { id } = await agentWithGate();
  const bundle = await bundleOf(ann, id);
  const gate = { ...bundle.gate, scorers: [{ kind: 'JUDGE', modelId: 'nobody/nothing' }] };
  const { body } = await ann.post('/api/v1/ais/import', { bundle: { ...bundle, gate } });
  expect(body.warnings).toEqual(['gate left out: its judge nobody/nothing is not available']);
  const query = 'query ($id: ID!) { agent(id: $id) { publishing } agentGate(agentId: $id) { mustTag } }';
  expect(await ask(query, { id: body.aiId })).toEqual({ agent: { publishing: 'AT_ONCE' }, agentGate: null });
});
