import { callCellsMax, columnsMax, rowsMax } from '../request.ts';
import { WorkbookFault } from './fault.ts';

/** A rectangle of cells; all numbers count from 1. */
export interface Range {
  readonly row: number;
  readonly column: number;
  readonly rows: number;
  readonly columns: number;
}

const grammar = /^\$?([A-Z]{1,3})\$?([1-9][0-9]{0,6})(?::\$?([A-Z]{1,3})\$?([1-9][0-9]{0,6}))?$/;

/** @throws WorkbookFault for a text that is no range, such as `A1:C10`, or a range of too many cells. */
export function parseRange(text: string): Range {
  const [, firstColumn, firstRow, lastColumn = firstColumn, lastRow = firstRow] = grammar.exec(text.trim().toUpperCase()) ?? [];
  if (firstColumn === undefined)
    throw new WorkbookFault(`${JSON.stringify(text)} is no range: write A1 or A1:C10, without the sheet`);
  const [column, otherColumn] = [columnNumber(firstColumn), columnNumber(lastColumn ?? firstColumn)].sort((a, b) => a - b) as [
    number,
    number,
  ];
  const [row, otherRow] = [Number(firstRow), Number(lastRow)].sort((a, b) => a - b) as [number, number];
  if (otherColumn > columnsMax || otherRow > rowsMax) throw new WorkbookFault(`A sheet ends at XFD${rowsMax}`);
  const range = { row, column, rows: otherRow - row + 1, columns: otherColumn - column + 1 };
  return range;
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
  let letters = '';
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26))
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  return `${letters}${row}`;
}

function columnNumber(letters: string): number {
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}
