import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { QuestionExchange } from '../../../src/domain/conversations/evaluation/question-exchange.ts';
import type { ClaimedQuestion, FinishedQuestion } from '../../../src/storage/conversations/evaluation/experiments.ts';

/** Questions of a list that is not stored, and what was sent to it. */
function createList(count: number) {
  const left = Array.from({ length: count }, (_, index) => ({ caseId: `case_${index}`, variant: 0, repeat: 0 }));
  const sent: { readonly answers: readonly string[]; readonly count: number }[] = [];
  const state = { sent, askingCount: 0, failure: undefined as Error | undefined };
  const exchange = new QuestionExchange({
    send: async (answers, wanted) => {
      sent.push({ answers: answers.map(({ question }) => question.caseId), count: wanted });
      await turn();
      if (state.failure !== undefined) throw state.failure;
      return left.splice(0, wanted) as unknown as ClaimedQuestion[];
    },
    isAsking: () => state.askingCount > 0,
  });
  return Object.assign(state, { exchange });
}

async function askInTurns(list: ReturnType<typeof createList>): Promise<void> {
  for (;;) {
    const question = await list.exchange.next();
    if (question === undefined) return;
    list.askingCount += 1;
    await turn();
    list.exchange.finish({ question, result: {} as FinishedQuestion['result'] });
    list.askingCount -= 1;
  }
}

it('four who ask at one time share each statement, and every answer is written once', async () => {
  const list = createList(12);
  await Promise.all(Array.from({ length: 4 }, () => askInTurns(list)));
  await list.exchange.close();
  const written = list.sent.flatMap(({ answers }) => answers);
  expect(written.toSorted()).toEqual(Array.from({ length: 12 }, (_, index) => `case_${index}`).toSorted());
  expect(list.sent).toHaveLength(4);
});

it('claims nothing ahead of whoever asks, and does not wait for an answer that takes long', async () => {
  const list = createList(3);
  const first = await list.exchange.next();
  list.askingCount = 1;
  expect(await list.exchange.next()).toMatchObject({ caseId: 'case_1' });
  expect(list.sent).toEqual([
    { answers: [], count: 1 },
    { answers: [], count: 1 },
  ]);
  if (first === undefined) throw new Error('nothing was claimed');
  list.exchange.finish({ question: first, result: {} as FinishedQuestion['result'] });
  await list.exchange.close();
  expect(list.sent.at(-1)).toEqual({ answers: ['case_0'], count: 0 });
});

it('keeps answers that a statement could not write for the next one, and claims no more', async () => {
  const list = createList(3);
  const question = await list.exchange.next();
  if (question === undefined) throw new Error('nothing was claimed');
  list.failure = new Error('The database is away');
  list.exchange.finish({ question, result: {} as FinishedQuestion['result'] });
  await expect(list.exchange.next()).rejects.toThrow('The database is away');
  await expect(list.exchange.next()).rejects.toThrow('The database is away');
  await turn();
  expect(list.sent).toHaveLength(2);
  list.failure = undefined;
  await list.exchange.close();
  expect(list.sent.at(-1)).toEqual({ answers: ['case_0'], count: 0 });
});
