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
});
