import { expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { pricedModelSettings } from '../../../support/runs/priced-model.ts';
import { withService } from '../../../support/service.ts';

/** A bound in money, with a model that has a price: $0.4 and $1.6 for a million tokens. */
const { make, upstream } = await withService('model', { env: await pricedModelSettings() });

it('an experiment never costs more than its bound, and comes near it', { timeout: 60_000 }, async () => {
  const ann = await make.person();
  const agent = await make.agent({ owner: ann, modelId: 'lab/priced', options: { maxOutputTokens: [100] } });
  const call = async (document: string, variables: object) => (await ann.graphql(document, { ...variables })).data;
  const made = await call('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "C" }) { id } }', { id: agent.id });
  const datasetId = made.createDataset.id;
  const cases = Array.from({ length: 40 }, (_, index) => ({ question: `Question ${index}?`, mustContain: ['Yes'] }));
  const add = 'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }';
  await call(add, { id: datasetId, cases });
  // A whole answer costs 20 × 0.4 + 100 × 1.6 = 168 millionths; the model keeps to the most tokens that it is given.
  upstream.otherwise(({ body }) => {
    const most = Number(body?.max_completion_tokens ?? body?.max_tokens ?? 100);
    return { text: 'Yes', usage: { prompt_tokens: 20, completion_tokens: Math.min(100, most) } };
  });
  const run = 'mutation ($id: ID!, $input: ExperimentInput!) { runExperiment(agentId: $id, input: $input) { id } }';
  const input = { versions: ['draft'], datasetId, tokensMax: 1_000_000, costMax: 0.002 };
  const begun = await call(run, { id: agent.id, input });
  const members = 'status error doneCount cost tokens summary { variants { caseCount } }';
  const stopped = await eventually(async () => {
    const { experiment } = await call(`query ($id: ID!) { experiment(id: $id) { ${members} } }`, { id: begun.runExperiment.id });
    expect(experiment.summary).not.toBeNull();
    return experiment;
  }, 30_000);
  expect(stopped).toMatchObject({ status: 'STOPPED', error: 'The budget of 0.002 does not reach for another answer' });
  expect(stopped.cost).toBeLessThanOrEqual(0.002);
  expect(stopped.cost).toBeGreaterThan(0.0015);
  expect(upstream.requests.length).toBe(stopped.doneCount);

  const resume = (budget: object) =>
    ann.graphql(
      'mutation ($id: ID!, $costMax: Float, $tokensMax: Count) { resumeExperiment(id: $id, costMax: $costMax, tokensMax: $tokensMax) { status costMax } }',
      { id: begun.runExperiment.id, ...budget },
    );
  const refused = await resume({ costMax: stopped.cost / 2, tokensMax: 1 });
  expect(refused.errors?.[0]?.extensions.faults).toMatchObject([{ path: 'tokensMax' }, { path: 'costMax' }]);
  expect((await resume({ costMax: 1 })).data.resumeExperiment).toMatchObject({ status: 'WAITING', costMax: 1 });
  await eventually(async () => {
    const { experiment } = await call(`query ($id: ID!) { experiment(id: $id) { ${members} } }`, { id: begun.runExperiment.id });
    expect(experiment).toMatchObject({ status: 'DONE', error: null, doneCount: 40, summary: { variants: [{ caseCount: 40 }] } });
  }, 30_000);
  // No case was asked twice.
  const questions = upstream.requests.map(({ body }) => /Question \d+\?/.exec(JSON.stringify(body))?.[0]);
  expect(questions).toHaveLength(40);
  expect(new Set(questions).size).toBe(40);
});

it('judges that the budget left unasked are asked with more money, about the answers that are there', {
  timeout: 60_000,
}, async () => {
  const ann = await make.person();
  const agent = await make.agent({ owner: ann, modelId: 'lab/priced', options: { maxOutputTokens: [100] } });
  const call = async (document: string, variables: object) => (await ann.graphql(document, { ...variables })).data;
  const made = await call('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "J" }) { id } }', { id: agent.id });
  const datasetId = made.createDataset.id;
  const cases = Array.from({ length: 4 }, (_, index) => ({ question: `Weighed ${index}?`, rubric: 'It says yes.' }));
  const add = 'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }';
  await call(add, { id: datasetId, cases });
  const isJudge = (body: unknown) => JSON.stringify(body).includes('It says yes.');
  const begunAt = upstream.requests.length;
  upstream.otherwise(({ body }) => ({
    text: isJudge(body)
      ? JSON.stringify(body).includes('better')
        ? '{"better":"one","reason":""}'
        : '{"verdict":"pass","reason":"It does."}'
      : 'Yes',
    usage: { prompt_tokens: 20, completion_tokens: 50 },
  }));
  const run = 'mutation ($id: ID!, $input: ExperimentInput!) { runExperiment(agentId: $id, input: $input) { id } }';
  // Each answer takes 70 tokens; a judge may need 1,000, which the budget never has.
  const scorers = [{ kind: 'CONTAINS' }, { kind: 'JUDGE', modelId: 'lab/priced' }];
  const { runExperiment } = await call(run, { id: agent.id, input: { versions: ['draft'], datasetId, tokensMax: 130, scorers } });
  const find = async () =>
    (
      await call(
        `query ($id: ID!) { experiment(id: $id) { status error doneCount tokens summary { variants { caseCount unscoredCount rate } } } }`,
        { id: runExperiment.id },
      )
    ).experiment;
  const stopped = await eventually(async () => {
    const experiment = await find();
    expect(experiment.status).toBe('STOPPED');
    expect(experiment.summary).not.toBeNull();
    return experiment;
  }, 30_000);
  expect(stopped.doneCount).toBe(1);
  expect(stopped.summary.variants[0]).toMatchObject({ unscoredCount: 1, rate: null });
  await call('mutation ($id: ID!) { resumeExperiment(id: $id, tokensMax: 100000) { id } }', { id: runExperiment.id });
  const done = await eventually(async () => {
    const experiment = await find();
    expect(experiment).toMatchObject({ status: 'DONE', doneCount: 4 });
    expect(experiment.summary?.variants[0]?.unscoredCount).toBe(0);
    return experiment;
  }, 30_000);
  expect(done.summary.variants[0].rate).toBe(1);
  expect(done.tokens).toBe(4 * 2 * 70);
  const asked = upstream.requests.slice(begunAt).map(({ body }) => body);
  expect(asked.filter(isJudge)).toHaveLength(4);
  expect(asked.filter((body) => !isJudge(body))).toHaveLength(4);
});

it('answers that the budget left uncompared are compared with more money', { timeout: 60_000 }, async () => {
  const ann = await make.person();
  const agent = await make.agent({ owner: ann, modelId: 'lab/priced', options: { maxOutputTokens: [100] } });
  const call = async (document: string, variables: object) => (await ann.graphql(document, { ...variables })).data;
  const made = await call('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "P" }) { id } }', { id: agent.id });
  const datasetId = made.createDataset.id;
  const add = 'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }';
  await call(add, { id: datasetId, cases: [{ question: 'One?' }, { question: 'Two?' }] });
  upstream.otherwise(({ body }) => ({
    text: JSON.stringify(body).includes('neither') ? '{"better":"neither","reason":"Both say yes."}' : 'Yes',
    usage: { prompt_tokens: 20, completion_tokens: 50 },
  }));
  const run = 'mutation ($id: ID!, $input: ExperimentInput!) { runExperiment(agentId: $id, input: $input) { id } }';
  const scorers = [{ kind: 'JUDGE_PAIR', modelId: 'lab/priced' }];
  const input = { versions: ['draft', 'published'], datasetId, tokensMax: 4 * 130, scorers };
  const { runExperiment } = await call(run, { id: agent.id, input });
  const find = `query ($id: ID!) { experiment(id: $id) { status doneCount tokens summary { variants { caseCount } } }
    experimentPairs(experimentId: $id) { nodes { results { variant pair { choice error } } } } }`;
  const end = (status: string) =>
    eventually(async () => {
      const reply = await call(find, { id: runExperiment.id });
      expect(reply.experiment).toMatchObject({ status, doneCount: 4 });
      expect(reply.experiment.summary).not.toBeNull();
      return reply;
    }, 30_000);
  const stopped = await end('STOPPED');
  expect(stopped.experiment.tokens).toBeLessThanOrEqual(520);
  await call('mutation ($id: ID!) { resumeExperiment(id: $id, tokensMax: 100000) { id } }', { id: runExperiment.id });
  const done = await end('DONE');
  const pairs = done.experimentPairs.nodes.flatMap(({ results }: { results: readonly { pair: unknown }[] }) =>
    results.flatMap(({ pair }) => (pair === null ? [] : [pair])),
  );
  expect(pairs).toEqual([
    { choice: 'TIE', error: null },
    { choice: 'TIE', error: null },
  ]);
});

it('a question whose answer the budget cut off between two calls of the model is asked anew with more', {
  timeout: 60_000,
}, async () => {
  const ann = await make.person();
  const agent = await make.agent({ owner: ann, modelId: 'lab/priced', options: { maxOutputTokens: [100] } });
  const call = async (document: string, variables: object) => (await ann.graphql(document, { ...variables })).data;
  const data = {
    url: 'https://example.com/pay',
    method: 'POST',
    description: 'Pays',
    parameters: { type: 'object', properties: {} },
  };
  expect((await ann.post(`/api/v1/ais/${agent.id}/tools`, { name: 'pay', type: 'API_FUNCTION', data })).status).toBeLessThan(300);
  const made = await call('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "T" }) { id } }', { id: agent.id });
  const datasetId = made.createDataset.id;
  const add = 'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }';
  const recordedCalls = [{ name: 'pay', arguments: '{}', output: 'Paid' }];
  await call(add, { id: datasetId, cases: [{ question: 'Pay it', mustContain: ['Yes'], recordedCalls }] });
  upstream.otherwise(({ body }) =>
    JSON.stringify(body).includes('"role":"tool"')
      ? { text: 'Yes', usage: { prompt_tokens: 20, completion_tokens: 50 } }
      : { toolCalls: [{ id: 'call_1', name: 'pay', arguments: '{}' }], usage: { prompt_tokens: 1_950, completion_tokens: 50 } },
  );
  const run = 'mutation ($id: ID!, $input: ExperimentInput!) { runExperiment(agentId: $id, input: $input) { id } }';
  const { runExperiment } = await call(run, { id: agent.id, input: { versions: ['draft'], datasetId, tokensMax: 2_001 } });
  const members = 'status error doneCount failedCount interruptedCount tokens summary { variants { caseCount rate tokens } }';
  const find = `query ($id: ID!) { experiment(id: $id) { ${members} }
    experimentPairs(experimentId: $id) { nodes { results { state answer tokens error } } } }`;
  const end = (status: string) =>
    eventually(async () => {
      const reply = await call(find, { id: runExperiment.id });
      expect(reply.experiment).toMatchObject({ status });
      expect(reply.experiment.summary).not.toBeNull();
      return reply;
    }, 30_000);
  const stopped = await end('STOPPED');
  expect(stopped.experiment).toMatchObject({ doneCount: 0, failedCount: 0, interruptedCount: 1, tokens: 2_000 });
  expect(stopped.experimentPairs.nodes[0].results).toMatchObject([{ state: 'INTERRUPTED', tokens: 2_000 }]);
  await call('mutation ($id: ID!) { resumeExperiment(id: $id, tokensMax: 100000) { id } }', { id: runExperiment.id });
  const done = await end('DONE');
  // The budget counts both answers, the figures of the version the one that is there.
  expect(done.experiment).toMatchObject({
    error: null,
    doneCount: 1,
    failedCount: 0,
    interruptedCount: 0,
    tokens: 2_000 + 2_000 + 70,
  });
  expect(done.experiment.summary.variants).toEqual([{ caseCount: 1, rate: 1, tokens: 2_070 }]);
  expect(done.experimentPairs.nodes[0].results).toEqual([{ state: 'DONE', answer: 'Yes', tokens: 2_070, error: null }]);
});
