import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer, type UpstreamRequest } from '../../../support/upstream.ts';

const { make, service, upstream } = await withService('model');
const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });

const members = `id status error revision repeats plannedCount doneCount failedCount interruptedCount tokens tokensMax seed
  variants { version modelId } scorers { kind prompt }
  summary { variants { variant caseCount rate interval { low high } failedCount unscoredCount tokens cost medianMs }
    comparisons { variant better same worse difference interval { low high } verdict costRatio } }`;
const pairMembers = `caseId question verdict tags results { variant repeat state answer passed value tokens error citations { name } calls { name }
  scores { kind passed value note error } pair { choice reason error } }`;

async function datasetOf(agentId: string, cases: readonly object[], callsTools = false): Promise<string> {
  const { data } = await ann.graphql(
    'mutation ($agentId: ID!, $input: CreateDatasetInput!) { createDataset(agentId: $agentId, input: $input) { id } }',
    { agentId, input: { name: 'Cases', callsTools } },
  );
  const { id } = data.createDataset;
  await ann.graphql(
    'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }',
    { id, cases },
  );
  return id;
}
const run = (who: Person, agentId: string, input: object) =>
  who.graphql(
    `mutation ($agentId: ID!, $input: ExperimentInput!) { runExperiment(agentId: $agentId, input: $input) { ${members} } }`,
    {
      agentId,
      input: { versions: ['draft'], tokensMax: 100_000, ...input },
    },
  );
const find = async (id: string) =>
  (await ann.graphql(`query ($id: ID!) { experiment(id: $id) { ${members} } }`, { id })).data.experiment;
const ended = (id: string) =>
  eventually(async () => {
    const experiment = await find(id);
    expect(experiment.summary).not.toBeNull();
    return experiment;
  }, 30_000);
const pairs = async (id: string, more = '') =>
  (
    await ann.graphql(
      `query ($id: ID!) { experimentPairs(experimentId: $id, first: 12${more}) { nodes { ${pairMembers} } totalCount pageInfo { hasNextPage endCursor } } }`,
      { id },
    )
  ).data.experimentPairs;
const textsOf = (body: UpstreamRequest['body']): readonly string[] =>
  ((body?.messages ?? []) as readonly { readonly content: string }[]).map(({ content }) => content);
const faultsOf = ({
  errors,
}: {
  readonly errors?:
    | readonly { readonly message: string; readonly extensions: { readonly faults?: readonly { readonly message: string }[] } }[]
    | undefined;
}) => errors?.[0]?.extensions.faults?.map(({ message }) => message) ?? errors?.map(({ message }) => message);

describe('an experiment with the built-in model', () => {
  it('asks every case once, scores the answers and says what it found', async () => {
    const agent = await make.agent({ owner: ann, modelId: 'parley/offline' });
    const lamp = [{ role: 'USER', content: 'The lamp costs 20 francs. The table costs 90 francs.' }];
    const files = [{ filename: 'lamp.txt', text: 'The lamp is made of brass and weighs three kilograms.' }];
    const datasetId = await datasetOf(agent.id, [
      { question: 'What does the lamp cost?', messages: lamp, mustContain: ['20 francs'], tags: ['must'] },
      { question: 'What does the table cost?', messages: lamp, mustContain: ['80 francs'] },
      { question: 'What is the lamp made of?', files, mustContain: ['brass'] },
      { question: 'Who wrote Hamlet?', mustRefuse: true, weight: 2 },
      { question: 'Not asked yet?', isDraft: true },
    ]);
    const begun = (await run(ann, agent.id, { datasetId, repeats: 2, seed: 7 })).data.runExperiment;
    expect(begun).toMatchObject({ revision: 1, plannedCount: 8, summary: null });
    const experiment = await ended(begun.id);
    expect(experiment).toMatchObject({ status: 'DONE', doneCount: 8, failedCount: 0, interruptedCount: 0, error: null, seed: 7 });
    expect(experiment.tokens).toBeGreaterThan(100);
    expect(experiment.summary.variants).toMatchObject([
      { variant: 0, caseCount: 4, rate: 0.8, failedCount: 0, unscoredCount: 0 },
    ]);
    const { nodes, totalCount } = await pairs(begun.id);
    expect(totalCount).toBe(4);
    expect(nodes.map(({ results }: { results: readonly object[] }) => results.length)).toEqual([2, 2, 2, 2]);
    expect(nodes[1].results[0]).toMatchObject({
      ...{ state: 'DONE', passed: false, value: 0 },
      scores: [{ kind: 'CONTAINS', passed: false, note: 'It lacks “80 francs”', error: null }],
    });
    const page = await ann.graphql(
      'query ($id: ID!) { experimentPairs(experimentId: $id, first: 3) { nodes { caseId } pageInfo { hasNextPage endCursor } } }',
      { id: begun.id },
    );
    const rest = await pairs(begun.id, `, after: "${page.data.experimentPairs.pageInfo.endCursor}"`);
    expect(rest.nodes.map(({ question }: { question: string }) => question)).toEqual(['Who wrote Hamlet?']);
  });

  it('leaves a report for people and one for pipelines', async () => {
    const agent = await make.agent({ owner: ann, modelId: 'parley/offline' });
    const messages = [{ role: 'USER', content: 'The lamp costs 20 francs.' }];
    const datasetId = await datasetOf(agent.id, [
      { question: 'What does the "lamp" cost?', messages, mustContain: ['20 francs'] },
      { question: 'What does the lamp\uffff <cost>?', messages, mustContain: ['9 & 9'], tags: ['must'] },
    ]);
    const { id } = (await run(ann, agent.id, { datasetId })).data.runExperiment;
    await ended(id);
    const report = async (format: string) =>
      (
        await ann.graphql(`query ($id: ID!) { experimentReport(id: $id, format: ${format}) { filename contentType content } }`, {
          id,
        })
      ).data.experimentReport;
    const csv = await report('CSV');
    expect(csv.contentType).toBe('text/csv; charset=utf-8');
    expect(csv.content.split('\n')[0]).toMatch(/^case,question,tags,version,model,repeat,state,passed/);
    expect(csv.content).toContain('"What does the ""lamp"" cost?",,draft,,0,DONE,true,1');
    const { content } = await report('JUNIT');
    expect(content).toContain('<testsuite name="draft" tests="2" failures="1" errors="0" skipped="0">');
    expect(content).toMatch(
      /name="What does the lamp &lt;cost&gt;\?" time="[\d.]+"><failure message="CONTAINS: It lacks “9 &amp; 9”"\/>/,
    );
  });
});

describe('two models beside each other', () => {
  it('are compared case by case, and a judge is asked in both orders', async () => {
    const agent = await make.agent({ owner: ann });
    const questions = Array.from({ length: 6 }, (_, index) => ({
      question: `Question ${index}?`,
      expected: `Right ${index}`,
      mustContain: [`right ${index}`],
    }));
    const datasetId = await datasetOf(agent.id, questions);
    // The judge likes the answer that is right, whichever comes first.
    upstream.otherwise(({ body }) => {
      const text = textsOf(body).join('\n');
      if (text.includes('judge two answers')) {
        const one = /<answer one>\n([\s\S]*?)\n<\/answer one>/.exec(text)?.[1] ?? '';
        return { text: JSON.stringify({ better: one.startsWith('Right') ? 'one' : 'two', reason: 'It is right.' }) };
      }
      const number = /Question (\d)/.exec(text)?.[1] ?? '';
      return { text: `Right ${number}` };
    });
    const models = ['parley/offline', 'openai/test-model'];
    const scorers = [{ kind: 'CONTAINS' }, { kind: 'JUDGE_PAIR', modelId: 'openai/test-model' }];
    const begun = await run(ann, agent.id, { datasetId, models, scorers, seed: 7 });
    expect(begun.errors).toBeUndefined();
    const experiment = await ended(begun.data.runExperiment.id);
    expect(experiment.summary.comparisons).toMatchObject([
      { variant: 1, better: 6, same: 0, worse: 0, difference: 1, interval: { low: 1, high: 1 }, verdict: 'BETTER' },
    ]);
    expect(experiment.scorers[1].prompt).toContain('You judge two answers');
    const better = await pairs(experiment.id, ', verdict: BETTER');
    expect(better.nodes).toHaveLength(6);
    expect(better.nodes[0].results[1].pair).toEqual({ choice: 'SECOND', reason: 'It is right.', error: null });
    expect((await pairs(experiment.id, ', verdict: WORSE')).nodes).toEqual([]);
  });

  it('an unsteady judge is said to be one, and one that answers prose never lets an answer pass', async () => {
    const agent = await make.agent({ owner: ann });
    const datasetId = await datasetOf(agent.id, [{ question: 'Why?', expected: 'Because.' }]);
    upstream.otherwise(({ body }) => {
      const text = JSON.stringify(body?.messages);
      if (text.includes('judge two answers')) return { text: '{"better":"one","reason":"It stands first."}' };
      return { text: text.includes('You judge the answer') ? 'It passes, surely.' : 'Because.' };
    });
    const modelId = 'openai/test-model';
    const scorers = [{ kind: 'JUDGE', modelId, rubric: 'It is short.' }, { kind: 'JUDGE_PAIR', modelId }, { kind: 'EQUALS' }];
    const { data } = await run(ann, agent.id, { datasetId, models: ['parley/offline', 'openai/test-model'], scorers });
    const experiment = await ended(data.runExperiment.id);
    expect(experiment.summary.variants[1]).toMatchObject({ caseCount: 0, rate: null, unscoredCount: 1 });
    const { nodes } = await pairs(experiment.id);
    expect(nodes[0].results[1]).toMatchObject({
      ...{ passed: null, value: null, pair: { choice: 'UNSTEADY' } },
      scores: [
        { kind: 'JUDGE', passed: null, value: null, error: 'The judge did not answer with the JSON that it was asked for' },
        { kind: 'EQUALS', passed: true },
      ],
    });
  });
});

describe('the tools of an experiment', () => {
  it('that change something give what was recorded, and are not called', async () => {
    const agent = await make.agent({ owner: ann });
    let calledCount = 0;
    const { createServer } = await import('node:http');
    const server = createServer((_request, response) => {
      calledCount += 1;
      response.end('{"state":"called"}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { readonly port: number };
    for (const [name, method] of [
      ['pay_bill', 'POST'],
      ['find_bill', 'GET'],
    ]) {
      const data = {
        url: `http://127.0.0.1:${port}/${name}`,
        method,
        description: name,
        parameters: { type: 'object', properties: {} },
      };
      const made = await ann.post(`/api/v1/ais/${agent.id}/tools`, { name, type: 'API_FUNCTION', data });
      expect(made.status).toBeLessThan(300);
    }
    const recordedCalls = [{ name: 'pay_bill', arguments: '{}', output: 'Paid: 20 francs' }];
    const datasetId = await datasetOf(agent.id, [
      { question: 'Pay the bill', mustCall: [{ name: 'pay_bill' }], mustContain: ['Paid'], recordedCalls },
      { question: 'Find the bill', mustCall: [{ name: 'find_bill' }], mustNotCall: ['pay_bill'], mustContain: ['called'] },
      { question: 'Pay another bill', mustContain: ['No output of pay_bill is recorded'] },
    ]);
    upstream.otherwise(({ body }) => {
      const last = textsOf(body).at(-1) ?? '';
      const isOutput = JSON.stringify(body?.messages).includes('"role":"tool"');
      if (isOutput) return { text: `The tool said: ${last}` };
      return { toolCalls: [{ id: 'call_1', name: last.startsWith('Pay') ? 'pay_bill' : 'find_bill', arguments: '{}' }] };
    });
    const { data } = await run(ann, agent.id, { datasetId });
    const experiment = await ended(data.runExperiment.id);
    const { nodes } = await pairs(experiment.id);
    expect(nodes.map(({ results }: { results: readonly { answer: string; passed: boolean }[] }) => results[0]?.answer)).toEqual([
      'The tool said: Paid: 20 francs',
      expect.stringContaining('called'),
      expect.stringContaining('No output of pay_bill is recorded'),
    ]);
    expect(experiment.summary.variants[0].rate).toBe(1);
    expect(calledCount).toBe(1);
    server.close();
  });
});

describe('a budget', () => {
  it('is never exceeded, and the rest is asked when somebody gives more', async () => {
    const agent = await make.agent({ owner: ann, modelId: 'parley/offline', options: { maxOutputTokens: [50] } });
    const cases = Array.from({ length: 30 }, (_, index) => ({ question: `What is the number ${index}?`, mustRefuse: true }));
    const datasetId = await datasetOf(agent.id, cases);
    const begun = (await run(ann, agent.id, { datasetId, tokensMax: 600 })).data.runExperiment;
    const stopped = await ended(begun.id);
    expect(stopped.status).toBe('STOPPED');
    expect(stopped.error).toMatch(/^The budget of 600 tokens/);
    expect(stopped.tokens).toBeLessThanOrEqual(600);
    expect(stopped.doneCount).toBeGreaterThan(0);
    expect(stopped.doneCount).toBeLessThan(30);
    const resume = (tokensMax: number) =>
      ann.graphql(
        `mutation ($id: ID!, $tokensMax: Count) { resumeExperiment(id: $id, tokensMax: $tokensMax) { status tokensMax } }`,
        { id: begun.id, tokensMax },
      );
    expect(faultsOf(await resume(stopped.tokens))).toEqual([expect.stringMatching(/^tokensMax must be above the/)]);
    expect((await resume(100_000)).data.resumeExperiment).toMatchObject({ status: 'WAITING', tokensMax: 100_000 });
    const done = await eventually(async () => {
      const experiment = await find(begun.id);
      expect(experiment).toMatchObject({ status: 'DONE', doneCount: 30, failedCount: 0 });
      expect(experiment.summary.variants[0].caseCount).toBe(30);
      return experiment;
    }, 30_000);
    expect(done.summary.variants[0].rate).toBe(1);
    expect((await resume(200_000)).errors?.[0]?.extensions.code).toBe('CONFLICT');
  });
});

it('beside the runs of people an experiment asks now and then, and goes on as fast as it can when they are over', async () => {
  const [agent, other] = [
    await make.agent({ owner: ann, modelId: 'parley/offline' }),
    await make.agent({ owner: bob, modelId: 'openai/test-model' }),
  ];
  const cases = Array.from({ length: 40 }, (_, index) => ({ question: `What is the number ${index}?`, mustRefuse: true }));
  const datasetId = await datasetOf(agent.id, cases);
  const held = Promise.withResolvers<void>();
  upstream.next({ text: 'At last.', gate: held.promise });
  const before = upstream.requests.length;
  const messages = [{ role: 'user', content: 'Are you there?' }];
  const person = bob.post('/api/v1/chat/completions', { model: other.id, messages });
  await eventually(async () => expect(upstream.requests.length).toBe(before + 1));
  const startedMs = performance.now();
  const { id } = (await run(ann, agent.id, { datasetId })).data.runExperiment;
  const { doneCount } = await eventually(async () => {
    const experiment = await find(id);
    expect(experiment.doneCount).toBeGreaterThanOrEqual(4);
    return experiment;
  }, 30_000);
  // One question in a quarter of a second, and none at the same time.
  expect(doneCount).toBeLessThanOrEqual((performance.now() - startedMs) / 250);
  expect(doneCount).toBeLessThan(40);
  held.resolve();
  expect((await person).status).toBe(200);
  expect(await ended(id)).toMatchObject({ status: 'DONE', doneCount: 40 });
});

describe('an experiment is refused', () => {
  let agentId: string;
  let datasetId: string;
  beforeAll(async () => {
    agentId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION', modelId: 'parley/offline' })).id;
    datasetId = await datasetOf(agentId, [{ question: 'Why?', mustContain: ['x'] }]);
  });
  it.each([
    ['a version that does not exist', { versions: ['9'] }, /versions\.0.*version 9/],
    ['no version', { versions: [] }, /versions must have at least one/],
    ['a model that does not exist', { models: ['openai/none', 'nobody/nothing'] }, /models\.1 is no model/],
    ['a budget of nothing', { tokensMax: 0 }, /tokensMax must be a number of tokens from 1/],
    ['no money', { costMax: 0 }, /costMax must be above 0/],
    ['a bound in money for a model without a price', { costMax: 1 }, /costMax cannot be held: parley\/offline has no price/],
    ['six repeats', { repeats: 6 }, /repeats must be a whole number from 1 to 5/],
    [
      'a pattern that is not linear',
      { scorers: [{ kind: 'MATCHES', pattern: '(a)\\1' }] },
      /scorers\.0\.pattern uses what RE2 does not support/,
    ],
    [
      'a pattern that is half a character',
      { scorers: [{ kind: 'MATCHES', pattern: 'a\ud800' }] },
      /scorers\.0\.pattern must be well-formed text/,
    ],
    ['no pattern', { scorers: [{ kind: 'MATCHES' }] }, /scorers\.0\.pattern is required by MATCHES/],
    ['a setting without effect', { scorers: [{ kind: 'EQUALS', max: 3 }] }, /scorers\.0\.max has no effect on EQUALS/],
    ['a schema that is none', { scorers: [{ kind: 'JSON_SCHEMA', schema: '{"type":"nothing"}' }] }, /scorers.0..schema/],
    ['a judge that only quotes', { scorers: [{ kind: 'JUDGE', modelId: 'parley/offline' }] }, /parley\/offline only quotes/],
    ['a revision that there is not', { revision: 2 }, /revision must be from 0 to 1/],
    ['a revision without cases', { revision: 0 }, /no case to ask/],
  ])('with %s', async (_what, input, message) => {
    const reply = await run(ann, agentId, { datasetId, ...input });
    expect(faultsOf(reply)?.join('\n')).toMatch(message);
    const listed = await ann.graphql('query ($id: ID!) { experiments(agentId: $id) { nodes { id } } }', { id: agentId });
    expect(listed.data.experiments.nodes).toEqual([]);
  });

  it('with a dataset of another agent, and for who may only use the agent', async () => {
    const other = await make.agent({ owner: ann });
    expect(faultsOf(await run(ann, other.id, { datasetId }))?.[0]).toMatch(/datasetId is a dataset of another agent/);
    expect((await run(bob, agentId, { datasetId })).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });
});

it('an experiment that is cancelled asks nothing more, and its watchers are told', async () => {
  const agent = await make.agent({ owner: ann });
  const datasetId = await datasetOf(
    agent.id,
    Array.from({ length: 12 }, (_, index) => ({ question: `Question ${index}?`, mustContain: ['a'] })),
  );
  upstream.otherwise({ text: 'An answer' });
  const { id } = (await run(ann, agent.id, { datasetId })).data.runExperiment;
  const cancelled = await ann.graphql('mutation ($id: ID!) { cancelExperiment(id: $id) { status } }', { id });
  expect(cancelled.data.cancelExperiment.status).toBe('CANCELLED');
  const again = await ann.graphql('mutation ($id: ID!) { cancelExperiment(id: $id) { status } }', { id });
  expect(again.errors?.[0]?.extensions.code).toBe('CONFLICT');
  const experiment = await ended(id);
  expect(experiment.doneCount).toBeLessThanOrEqual(12);
});

describe('an experiment stops, and leaves the other questions to be asked, when', () => {
  it.each([
    [
      'its person leaves the organization',
      /^Its owner is no member/,
      async (_agentId: string, userId: string) => {
        const chief = await make.person({ organization, role: 'ADMIN' });
        const ofPerson = { where: { orgId_userId: { orgId: organization.id, userId } } };
        const { id } = await service.deps.storage.db.prisma.membership.findUniqueOrThrow(ofPerson);
        await chief.ask('mutation ($id: ID!) { deleteMembership(id: $id) { id } }', { id });
      },
    ],
    [
      'its person may not use the agent any more',
      /agent/,
      async (agentId: string) => {
        await ann.patch(`/api/v1/ais/${agentId}`, { editors: [], visibility: 'PRIVATE' });
      },
    ],
    [
      'its agent is deleted',
      /agent/,
      async (agentId: string) => {
        await ann.delete(`/api/v1/ais/${agentId}`);
      },
    ],
  ])('%s', async (_when, reason, happens) => {
    const cat = await make.person({ organization });
    const agent = await make.agent({ owner: ann, editors: [{ email: cat.email }], visibility: 'ORGANIZATION' });
    const cases = Array.from({ length: 200 }, (_, index) => ({ question: `Question ${index}?`, mustContain: ['a'] }));
    const datasetId = await datasetOf(agent.id, cases);
    const { script, goOn } = heldAnswer({ text: ['An', ' answer'] });
    upstream.otherwise(script);
    const { id } = (await run(cat, agent.id, { datasetId })).data.runExperiment;
    await upstream.until(({ requests }) => requests.length >= 4);
    await happens(agent.id, cat.userId);
    goOn();
    const row = await eventually(async () => {
      const found = await service.deps.storage.conversations.experiments.find(id);
      expect(found?.endedAt).not.toBeNull();
      return found;
    });
    expect(row).toMatchObject({ status: 'STOPPED', error: expect.stringMatching(reason), failedCount: 0 });
    expect(row?.doneCount).toBeLessThan(200);
  });
});
