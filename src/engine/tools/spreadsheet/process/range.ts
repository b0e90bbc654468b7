import { createRequire } from 'node:module';
import { callCellsMax, columnsMax, rowsMax } from '../request.ts';
import { WorkbookFault } from './fault.ts';

/** A rectangle of cells; all numbers count from 1. */
export interface Range {
  readonly row: number;
  readonly column: number;
  readonly rows: number;
  readonly columns: number;
}

const { utils }: typeof import('@e965/xlsx') = createRequire(import.meta.url)('@e965/xlsx');
const grammar = /^\$?[A-Z]{1,3}\$?[1-9][0-9]{0,6}(?::\$?[A-Z]{1,3}\$?[1-9][0-9]{0,6})?$/;

/** @throws WorkbookFault for a text that is no range, such as `A1:C10`, or a range of too many cells. */
export function parseRange(text: string): Range {
  const name = text.trim().toUpperCase();
  if (!grammar.test(name)) throw new WorkbookFault(`${JSON.stringify(text)} is no range: write A1 or A1:C10, without the sheet`);
  const { s: one, e: other } = utils.decode_range(name);
  const [row, column] = [Math.min(one.r, other.r) + 1, Math.min(one.c, other.c) + 1];
  const [lastRow, lastColumn] = [Math.max(one.r, other.r) + 1, Math.max(one.c, other.c) + 1];
  if (lastColumn > columnsMax || lastRow > rowsMax) throw new WorkbookFault(`A sheet ends at XFD${rowsMax}`);
  return { row, column, rows: lastRow - row + 1, columns: lastColumn - column + 1 };
}

/** @throws WorkbookFault when a call would read or write too many cells. */
export function requireFew({ rows, columns }: Range): void {
  if (rows * columns <= callCellsMax) return;
  throw new WorkbookFault(`The range has ${rows * columns} cells; one call takes at most ${callCellsMax}: ask for a part`);
}

export function nameOfRange({ row, column, rows, columns }: Range): string {
  const first = nameOfCell(row, column);
  return rows === 1 && columns === 1 ? first : `${first}:${nameOfCell(row + rows - 1, column + columns - 1)}`;
}

export function nameOfCell(row: number, column: number): string {
  return utils.encode_cell({ r: row - 1, c: column - 1 });
}

export function parsePlace(name: string): { readonly row: number; readonly column: number } {
  const { r, c } = utils.decode_cell(name);
  return { row: Math.min(r + 1, rowsMax), column: Math.min(c + 1, columnsMax) };
}
