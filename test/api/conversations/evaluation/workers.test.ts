import { expect, it } from 'vitest';
import type { FinishedQuestion, NewResult } from '../../../../src/storage/conversations/evaluation/experiments.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

/** The rows of experiments, worked on by hand: this service has no background jobs. */
const { make, service } = await withService('web');
const at = new Date();

async function begin(caseCount: number): Promise<string> {
  const ann = await make.person();
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

const finish = (id: string, question: FinishedQuestion['question'], fence: number) =>
  service.deps.storage.conversations.experiments.exchange(id, fence, [{ question, result: answer }], 0);

it('one claim takes one question, by whichever plan the database finds it', async () => {
  const { db, conversations } = service.deps.storage;
  const id = await begin(4);
  const { fence } = (await conversations.experiments.begin(id, at)) ?? { fence: 0 };
  await db.transaction(async (tx) => {
    // With these settings, as with some statistics, each result is compared with the next question, which is looked for each time.
    for (const scan of ['indexscan', 'bitmapscan', 'seqscan']) await tx.execute(`set local enable_${scan} = off`);
    await conversations.experiments.exchange(id, fence, [], 1);
  });
  expect(await states(id)).toEqual({ ASKED: 1, PENDING: 3 });
});

it('a worker whose place another one took ends nothing, and its late answers count', async () => {
  const { experiments } = service.deps.storage.conversations;
  const id = await begin(3);
  const first = (await experiments.begin(id, at))?.fence ?? 0;
  const [one, two] = await experiments.exchange(id, first, [], 2);
  const second = (await experiments.begin(id, at))?.fence ?? 0;
  expect(await states(id)).toEqual({ INTERRUPTED: 2, PENDING: 1 });
  if (one === undefined || two === undefined) throw new Error('nothing was claimed');
  await finish(id, one, first);
  await finish(id, one, first);
  expect(await experiments.find(id)).toMatchObject({ doneCount: 1, interruptedCount: 1, tokens: 3 });
  // It asks nothing more, and its end is not the end.
  expect(await experiments.exchange(id, first, [], 1)).toEqual([]);
  const changes = { status: 'DONE', endedAt: at } as const;
  expect(await experiments.end(id, ['RUNNING'], changes, first)).toBe(false);
  const [last] = await experiments.exchange(id, second, [], 1);
  if (last === undefined) throw new Error('nothing was claimed');
  await finish(id, last, second);
  expect(await experiments.end(id, ['RUNNING'], changes, second)).toBe(true);
  // Resumed and asked again, the question is the new asker's.
  expect(await experiments.resume(id, { tokensMax: 1_000_000, costMax: null })).toBe(true);
  const third = (await experiments.begin(id, at))?.fence ?? 0;
  expect(await experiments.exchange(id, third, [], 1)).toMatchObject([{ caseId: two.caseId }]);
  await finish(id, two, first);
  expect(await experiments.find(id)).toMatchObject({ doneCount: 2, interruptedCount: 0 });
});

it('an answer that is written while another worker takes the experiment waits for it, and counts', async () => {
  const { db, conversations } = service.deps.storage;
  const id = await begin(1);
  const { fence } = (await conversations.experiments.begin(id, at)) ?? { fence: 0 };
  const [question] = await conversations.experiments.exchange(id, fence, [], 1);
  if (question === undefined) throw new Error('nothing was claimed');
  const other = await db.pool.connect();
  await other.query('begin');
  await other.query('select from experiments where id = $1 for update', [id]);
  const finished = finish(id, question, fence);
  // The server keeps the first 1,024 bytes of a statement.
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'with experiment as%'`;
  if (db.kind === 'server') await eventually(async () => expect((await db.pool.query(waiting)).rows).toHaveLength(1));
  await other.query(`update experiment_results set state = 'INTERRUPTED' where "experimentId" = $1`, [id]);
  await other.query('update experiments set fence = fence + 1, "interruptedCount" = 1 where id = $1', [id]);
  await other.query('commit');
  other.release();
  await finished;
  expect(await conversations.experiments.find(id)).toMatchObject({ doneCount: 1, interruptedCount: 0, tokens: 3 });
});

it('answers of one statement are counted together, each once, and a budget that ended between calls leaves its question to be asked anew', async () => {
  const { experiments } = service.deps.storage.conversations;
  const id = await begin(4);
  const fence = (await experiments.begin(id, at))?.fence ?? 0;
  const [one, two, three, ...rest] = await experiments.exchange(id, fence, [], 3);
  if (one === undefined || two === undefined || three === undefined) throw new Error('nothing was claimed');
  expect(rest).toEqual([]);
  const answers: readonly FinishedQuestion[] = [
    { question: one, result: { ...answer, answer: 'Y\u0000es \ud83d', cost: 0.5, judgeTokens: 2, judgeCost: 0.25 } },
    { question: two, result: { ...answer, state: 'FAILED', answer: null, passed: null, value: null, error: 'No' } },
    { question: three, result: { ...answer, state: 'INTERRUPTED', passed: null, value: null, error: 'The budget ended' } },
  ];
  const [last, ...none] = await experiments.exchange(id, fence, answers, 2);
  expect(none).toEqual([]);
  expect(last?.content.question).toBe('Question 3');
  const counts = { doneCount: 1, failedCount: 1, interruptedCount: 1, tokens: 11, cost: 0.75 };
  expect(await experiments.find(id)).toMatchObject(counts);
  expect(await experiments.exchange(id, fence, answers, 1)).toEqual([]);
  expect(await experiments.find(id)).toMatchObject(counts);
  const [result] = await experiments.results(id, [one.caseId]);
  expect(result).toMatchObject({ state: 'DONE', answer: 'Y\ufffdes \ufffd', cost: 0.5, durationMs: 5, passed: true });
  if (last === undefined) throw new Error('nothing was claimed');
  await finish(id, last, fence);
  expect(await experiments.end(id, ['RUNNING'], { status: 'STOPPED', endedAt: at }, fence)).toBe(true);
  expect(await experiments.resume(id, { tokensMax: 1_000_000, costMax: null })).toBe(true);
  const [again] = await experiments.results(id, [three.caseId]);
  expect(again).toMatchObject({ state: 'PENDING', answer: null, tokens: 0, durationMs: null, error: null });
  const next = (await experiments.begin(id, at))?.fence ?? 0;
  expect(await experiments.exchange(id, next, [], 4)).toMatchObject([{ caseId: three.caseId }]);
  await finish(id, three, next);
  // What the first answer took stays counted.
  expect(await experiments.find(id)).toMatchObject({ doneCount: 3, failedCount: 1, interruptedCount: 0, tokens: 17 });
});
