import { describe, expect, it } from 'vitest';
import { findNumbers } from '../../../src/engine/evaluation/numbers.ts';
import { type Expectations, scoreAnswer } from '../../../src/engine/evaluation/score.ts';
import type { ScoredAnswer, Scorer, ScorerKind } from '../../../src/entities/conversations/evaluation/experiment.ts';

const nothing: Expectations = {
  ...{ expected: null, mustContain: [], mustNotContain: [], mustCite: [], mustCall: [], mustNotCall: [], mustRefuse: null },
};
const answered: ScoredAnswer = { text: '', isRefusal: false, citations: [], calls: [], durationMs: 900, tokens: 120, cost: 0.02 };
const warranty = { itemId: 'ki_1', dataSourceId: 'ds_1', name: 'warranty.md' };
const prices = { itemId: 'ki_2', dataSourceId: 'ds_1', name: 'prices.md' };
const find = (args: string) => ({ name: 'find', arguments: args });
const schema = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } };

type Row = readonly [
  what: string,
  kind: ScorerKind,
  wanted: Partial<Expectations>,
  answer: Partial<ScoredAnswer>,
  settings: Partial<Scorer>,
  right: readonly [passed: boolean, value: number, note?: string] | undefined,
];
/** Right values, worked out by hand. */
const rows: readonly Row[] = [
  ['the expected answer', 'EQUALS', { expected: 'Two  years.' }, { text: ' two\nyears. ' }, {}, [true, 1]],
  ['another answer', 'EQUALS', { expected: 'Two years.' }, { text: 'Two years' }, {}, [false, 0]],
  ['nothing expected', 'EQUALS', {}, { text: 'Two' }, {}, undefined],
  ['all facts', 'CONTAINS', { mustContain: ['TWO years', 'purchase'] }, { text: 'two years from Purchase' }, {}, [true, 1]],
  [
    'one of three facts, and one that must not be',
    'CONTAINS',
    { mustContain: ['two', 'purchase', 'receipt'], mustNotContain: ['three'] },
    { text: 'two, not three' },
    {},
    [false, 0.25, 'It lacks “purchase”, “receipt”. It has “three”'],
  ],
  ['a pattern', 'MATCHES', {}, { text: 'Order 4711.' }, { pattern: 'Order \\d{4}' }, [true, 1]],
  ['no match', 'MATCHES', {}, { text: 'Order 47.' }, { pattern: '^Order \\d{4}' }, [false, 0]],
  ['JSON that fits', 'JSON_SCHEMA', {}, { text: '{"city":"Bern"}' }, { schema }, [true, 1]],
  ['JSON that does not', 'JSON_SCHEMA', {}, { text: '{"city":7}' }, { schema }, [false, 0]],
  ['prose', 'JSON_SCHEMA', {}, { text: 'Bern' }, { schema }, [false, 0, 'It is not JSON']],
  ['a number that is near', 'NUMBERS', { expected: '1,000 in 2 years' }, { text: '2: 1.049' }, { tolerance: 0.05 }, [true, 1]],
  [
    'one that is not',
    'NUMBERS',
    { expected: '1000 in 2 years' },
    { text: '1051, 2' },
    { tolerance: 0.05 },
    [false, 0.5, 'It lacks “1000”'],
  ],
  ['numbers as they are', 'NUMBERS', { expected: '3,5' }, { text: 'It is 3.5.' }, {}, [true, 1]],
  ['no number expected', 'NUMBERS', { expected: 'Two' }, { text: '2' }, {}, undefined],
  ['the document by its name', 'CITES', { mustCite: ['Warranty.md'] }, { citations: [warranty, prices] }, {}, [true, 1]],
  [
    'one of two documents',
    'CITES',
    { mustCite: ['ki_1', 'ki_3'] },
    { citations: [warranty] },
    {},
    [false, 0.5, 'It does not cite “ki_3”'],
  ],
  ['no other document', 'CITES_NO_OTHER', { mustCite: ['ki_1'] }, { citations: [warranty] }, {}, [true, 1]],
  [
    'another document',
    'CITES_NO_OTHER',
    { mustCite: ['ki_1'] },
    { citations: [warranty, prices] },
    {},
    [false, 0, 'It cites “prices.md”'],
  ],
  ['a refusal that is wanted', 'REFUSES', { mustRefuse: true }, { text: 'I don’t know that.' }, {}, [true, 1]],
  ['a refusal of the model', 'REFUSES', { mustRefuse: true }, { text: 'No.', isRefusal: true }, {}, [true, 1]],
  ['an answer instead', 'REFUSES', { mustRefuse: true }, { text: 'Two years.' }, {}, [false, 0]],
  ['a refusal that is not', 'REFUSES', { mustRefuse: false }, { text: 'Das kann ich nicht beantworten.' }, {}, [false, 0]],
  [
    'a call with its arguments',
    'TOOL_CALLS',
    { mustCall: [{ name: 'find', arguments: { number: 7, tags: ['a'] } }] },
    { calls: [find('{"tags":["a"],"number":7,"page":1}')] },
    {},
    [true, 1],
  ],
  [
    'two wanted calls that one call would meet',
    'TOOL_CALLS',
    {
      mustCall: [
        { name: 'find', arguments: null },
        { name: 'find', arguments: null },
      ],
    },
    { calls: [find('{"number":7}')] },
    {},
    [false, 1 / 2, 'It does not call “find”'],
  ],
  [
    'calls in another order than the wanted ones, of which one could be either',
    'TOOL_CALLS',
    {
      mustCall: [
        { name: 'find', arguments: null },
        { name: 'find', arguments: { number: 7 } },
      ],
    },
    { calls: [find('{"number":7}'), find('{"number":8}')] },
    {},
    [true, 1],
  ],
  [
    'a call with others, and one that must not be',
    'TOOL_CALLS',
    {
      mustCall: [
        { name: 'find', arguments: { number: 7 } },
        { name: 'find', arguments: null },
      ],
      mustNotCall: ['pay'],
    },
    { calls: [find('{"number":"7"}'), { name: 'pay', arguments: '{}' }] },
    {},
    [false, 1 / 3, 'It does not call “find”. It calls “pay”'],
  ],
  ['an answer in time', 'LATENCY', {}, {}, { max: 900 }, [true, 1]],
  ['too many tokens', 'TOKENS', {}, {}, { max: 119 }, [false, 0, '120 tokens are more than 119']],
  ['its cost', 'COST', {}, {}, { max: 0.02 }, [true, 1]],
  ['no price', 'COST', {}, { cost: null }, { max: 0.02 }, undefined],
];
it.each(rows)('%s: %s', (_what, kind, wanted, answer, settings, right) => {
  const scorer = { pattern: null, schema: null, tolerance: null, max: null, modelId: null, rubric: null, ...settings, kind };
  const score = scoreAnswer(scorer, { ...nothing, ...wanted }, { ...answered, ...answer });
  if (right === undefined) expect(score).toBeUndefined();
  else {
    const [passed, value, note] = right;
    expect(score).toEqual({ kind, passed, value, error: null, note: note ?? expect.any(String) });
  }
});

describe('the numbers of a text', () => {
  it.each([
    ['1,234.5 and 1.234,5', [1234.5, 1234.5]],
    ["12'000, 1 000 000 or 0.125", [12_000, 1_000_000, 0.125]],
    ['-3 °C, −4 and 5', [-3, -4, 5]],
    ['A4, v2 and 3rd of 2.5.', [3, 2.5]],
    ['1,5 and 1.500', [1.5, 1500]],
  ])('%s', (text, numbers) => {
    expect(findNumbers(text)).toEqual(numbers);
  });
});
