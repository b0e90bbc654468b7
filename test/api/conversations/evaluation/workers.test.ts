import { expect, it } from 'vitest';
import type { NewResult } from '../../../../src/storage/conversations/evaluation/experiments.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

/** The rows of experiments, worked on by hand: this service has no background jobs. */
const { make, service } = await withService('web');
const ann = await make.person();
const at = new Date();

async function begin(caseCount: number): Promise<string> {
  const agent = await make.agent({ owner: ann });
  const call = async (document: string, variables: object) => (await ann.graphql(document, { ...variables })).data;
  const made = await call('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "C" }) { id } }', { id: agent.id });
  const datasetId = made.createDataset.id;
  const cases = Array.from({ length: caseCount }, (_, index) => ({ question: `Question ${index}` }));
  const add = 'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }';
  await call(add, { id: datasetId, cases });
  const run = 'mutation ($id: ID!, $input: ExperimentInput!) { runExperiment(agentId: $id, input: $input) { id } }';
  const begun = await call(run, { id: agent.id, input: { versions: ['draft'], datasetId, tokensMax: 1_000 } });
  return begun.runExperiment.id;
}

const states = async (id: string) => {
  const { rows } = await service.deps.storage.db.pool.query(
    'select state, count(*)::int as n from experiment_results where "experimentId" = $1 group by state',
    [id],
  );
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
};
const answer: NewResult = {
  ...{ state: 'DONE', answer: 'Yes', citations: [], calls: [], scores: [], passed: true, value: 1, tokens: 3, cost: null },
  ...{ durationMs: 5, error: null, judgeTokens: 0, judgeCost: 0 },
};

it('one claim takes one question, by whichever plan the database finds it', async () => {
  const { db, conversations } = service.deps.storage;
  const id = await begin(4);
  const { fence } = (await conversations.experiments.begin(id, at)) ?? { fence: 0 };
  await db.transaction(async (tx) => {
    // With these settings, as with some statistics, each result is compared with the next question, which is looked for each time.
    for (const scan of ['indexscan', 'bitmapscan', 'seqscan']) await tx.execute(`set local enable_${scan} = off`);
    await conversations.experiments.claim(id, fence);
  });
  expect(await states(id)).toEqual({ ASKED: 1, PENDING: 3 });
});

it('a worker whose place another one took ends nothing, and its late answers count', async () => {
  const { experiments } = service.deps.storage.conversations;
  const id = await begin(3);
  const first = (await experiments.begin(id, at))?.fence ?? 0;
  const [one, two] = [await experiments.claim(id, first), await experiments.claim(id, first)];
  const second = (await experiments.begin(id, at))?.fence ?? 0;
  expect(await states(id)).toEqual({ INTERRUPTED: 2, PENDING: 1 });
  if (one === undefined || two === undefined) throw new Error('nothing was claimed');
  await experiments.finish(id, one, first, answer);
  await experiments.finish(id, one, first, answer);
  expect(await experiments.find(id)).toMatchObject({ doneCount: 1, interruptedCount: 1, tokens: 3 });
  // It asks nothing more, and its end is not the end.
  expect(await experiments.claim(id, first)).toBeUndefined();
  const changes = { status: 'DONE', endedAt: at } as const;
  expect(await experiments.end(id, ['RUNNING'], changes, first)).toBe(false);
  const last = await experiments.claim(id, second);
  if (last === undefined) throw new Error('nothing was claimed');
  await experiments.finish(id, last, second, answer);
  expect(await experiments.end(id, ['RUNNING'], changes, second)).toBe(true);
  // Resumed and asked again, the question is the new asker's.
  expect(await experiments.resume(id, { tokensMax: 1_000_000, costMax: null })).toBe(true);
  const third = (await experiments.begin(id, at))?.fence ?? 0;
  expect(await experiments.claim(id, third)).toMatchObject({ caseId: two.caseId });
  await experiments.finish(id, two, first, answer);
  expect(await experiments.find(id)).toMatchObject({ doneCount: 2, interruptedCount: 0 });
});

it('an answer that is written while another worker takes the experiment waits for it, and counts', async () => {
  const { db, conversations } = service.deps.storage;
  const id = await begin(1);
  const { fence } = (await conversations.experiments.begin(id, at)) ?? { fence: 0 };
  const question = await conversations.experiments.claim(id, fence);
  if (question === undefined) throw new Error('nothing was claimed');
  const other = await db.pool.connect();
  await other.query('begin');
  await other.query('select from experiments where id = $1 for update', [id]);
  const finished = conversations.experiments.finish(id, question, fence, answer);
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%"doneCount" +%'`;
  if (db.kind === 'server') await eventually(async () => expect((await db.pool.query(waiting)).rows).toHaveLength(1));
  await other.query(`update experiment_results set state = 'INTERRUPTED' where "experimentId" = $1`, [id]);
  await other.query('update experiments set fence = fence + 1, "interruptedCount" = 1 where id = $1', [id]);
  await other.query('commit');
  other.release();
  await finished;
  expect(await conversations.experiments.find(id)).toMatchObject({ doneCount: 1, interruptedCount: 0, tokens: 3 });
});
