import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';

/** A process that is killed while it asks the cases of an experiment: the next one goes on, no case is asked twice, and none is lost. */
let world: Killable;
beforeEach(async () => {
  world = await prepareKillable();
});
afterEach(() => world.close());

const count = 120;
const cases = Array.from({ length: count }, (_, index) => ({ question: `Question ${index}.`, mustContain: ['Answer'] }));
const members = 'status doneCount failedCount interruptedCount plannedCount summary { variants { caseCount } }';
const find = 'query ($id: ID!) { experiment(id: $id) { MEMBERS } }'.replace('MEMBERS', members);

it('kills in the middle of an experiment: no case is asked twice, and none is lost', { timeout: 600_000 }, async () => {
  world.upstream.otherwise({ text: 'Answer', headDelayMs: 15 });
  let id = '';
  for (const [round, askedMin] of [15, 50].entries()) {
    const { parley, ann } = await world.launch();
    if (round === 0) {
      const { body: agent } = await ann.post('/api/v1/ais', {
        src: 'x',
        name: 'Ada',
        description: 'd',
        instructions: 'i',
        modelId: 'openai/test-model',
      });
      const made = await ann.graphql('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "C" }) { id } }', {
        id: agent.id,
      });
      const datasetId = made.data.createDataset.id;
      await ann.graphql(
        'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }',
        { id: datasetId, cases },
      );
      const input = { versions: ['draft'], datasetId, tokensMax: 1_000_000 };
      const begun = await ann.graphql(
        'mutation ($id: ID!, $input: ExperimentInput!) { runExperiment(agentId: $id, input: $input) { id } }',
        { id: agent.id, input },
      );
      id = begun.data.runExperiment.id;
    }
    await world.upstream.until(({ requests }) => requests.length >= askedMin, 120_000);
    await parley.kill('SIGKILL');
  }
  const ann = await world.recover();
  const ended = await eventually(async () => {
    const { data } = await ann.graphql(find, { id });
    expect(data.experiment.summary).not.toBeNull();
    return data.experiment;
  }, 120_000);
  const asked = world.upstream.requests.flatMap(
    ({ body }) => /Question (\d+)\./.exec(JSON.stringify(body?.messages ?? ''))?.[1] ?? [],
  );
  expect(asked.length).toBe(new Set(asked).size);
  expect(ended).toMatchObject({ status: 'DONE', failedCount: 0, plannedCount: count });
  expect(ended.doneCount + ended.interruptedCount).toBe(count);
  expect(ended.interruptedCount).toBeLessThanOrEqual(8);
  // What was under way is asked once more when a person says so.
  if (ended.interruptedCount === 0) return;
  await ann.graphql('mutation ($id: ID!) { resumeExperiment(id: $id) { id } }', { id });
  await eventually(async () => {
    const { data } = await ann.graphql(find, { id });
    expect(data.experiment).toMatchObject({ status: 'DONE', doneCount: count, interruptedCount: 0 });
  }, 120_000);
});
