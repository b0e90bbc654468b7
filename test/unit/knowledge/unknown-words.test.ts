import { describe, expect, it } from 'vitest';
import { nearWordsOfUnknown } from '../../../src/engine/knowledge/search/unknown-words.ts';
import type { SourceTerm } from '../../../src/storage/knowledge/chunk-ranking.ts';

/** Lexemes of a question, each with the number of chunks that contain it. */
function termsOf(counts: Readonly<Record<string, number>>): readonly SourceTerm[] {
  return Object.entries(counts).map(([name, df]) => {
    const [config = '', term = ''] = name.split(' ');
    return { dataSourceId: 'ds_1', config, term, key: 1, count: 1, df };
  });
}

describe('words that mean the same', () => {
  it.each([
    [
      'are looked for when no passage has the word',
      'How long are bikes stored?',
      { 'english bike': 0, 'english store': 0 },
      'bicycle keep storage retain',
    ],
    ['not when a passage has it', 'rapid waves', { 'english rapid': 3, 'english wave': 0 }, ''],
    [
      'nor when only another language cuts it to a stem that nothing has',
      'rapid waves',
      { 'english rapid': 3, 'french rap': 0, 'dutch wav': 0 },
      '',
    ],
    ['nor when its stem has another last letter', 'faulty operation', { 'english faulti': 1, 'german faulty': 0 }, ''],
    ['nor when a passage has its regular form', 'the one he bought', { 'english buy': 0, 'english bought': 2 }, ''],
    ['also when another word of a passage begins like it', 'the cost', { 'english co': 9, 'english cost': 0 }, 'price fee'],
    ['are none for words that have none', 'the king of Spain', { 'english king': 0, 'english spain': 0 }, ''],
  ] as const)('%s', (_case, question, counts, words) => {
    expect(nearWordsOfUnknown(question, termsOf(counts))).toBe(words);
  });
});
