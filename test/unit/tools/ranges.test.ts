import { describe, expect, it } from 'vitest';
import { parseRange } from '../../../src/engine/tools/spreadsheet/process/range.ts';

describe('a range of cells that a model writes', () => {
  it.each([
    ['A1', { row: 1, column: 1, rows: 1, columns: 1 }],
    [' $b$2:d9 ', { row: 2, column: 2, rows: 8, columns: 3 }],
    ['C9:A1', { row: 1, column: 1, rows: 9, columns: 3 }],
  ])('is read: %s', (text, range) => {
    expect(parseRange(text)).toEqual(range);
  });

  it.each(['', 'A', '7', 'A0', 'A:C', '1:3', 'Sheet1!A1', 'A1:B2:C3', 'A1;B2', 'AAAA1', 'A12345678'])(
    'that is none is refused in words that help: %j',
    (text) => {
      expect(() => parseRange(text)).toThrow(`${JSON.stringify(text)} is no range: write A1 or A1:C10`);
    },
  );

  it('ends where a sheet ends', () => {
    expect(() => parseRange('XFE1')).toThrow('A sheet ends at');
    expect(() => parseRange('A1:A1048577')).toThrow('A sheet ends at');
  });
});
