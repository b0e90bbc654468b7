import { readArguments as readObject, wrongArguments } from '../arguments.ts';
import { type CellInput, callCellsMax, cellTextMax } from './request.ts';

export const operations = ['create', 'read', 'write', 'formula', 'chart_data', 'list'] as const;

export interface SpreadsheetArguments {
  readonly operation: (typeof operations)[number];
  readonly file: string | null;
  readonly sheet: string | null;
  readonly range: string | null;
  readonly values: readonly (readonly CellInput[])[] | null;
}

/** @throws DomainError that names the member and what is allowed. */
export function readArguments(args: string): SpreadsheetArguments {
  const parsedArguments = readObject(args);
  const operation = operations.find((name) => name === parsedArguments.operation);
  if (operation === undefined) throw wrongArguments(`operation must be one of ${operations.join(', ')}`);
  const [file, sheet, range] = (['file', 'sheet', 'range'] as const).map((member) => readText(parsedArguments, member));
  if (operation !== 'list' && operation !== 'create' && file === null)
    throw wrongArguments(`${operation} needs file, the name of a file`);
  return {
    operation,
    file: file ?? null,
    sheet: sheet ?? null,
    range: range ?? null,
    values: readValues(parsedArguments.values),
  };
}

function readText(parsedArguments: Readonly<Record<string, unknown>>, member: string): string | null {
  const value = parsedArguments[member] ?? null;
  if (value === null || value === '') return null;
  if (typeof value !== 'string' || value.length > 200) throw wrongArguments(`${member} must be a text of at most 200 characters`);
  return value;
}

function readValues(value: unknown): SpreadsheetArguments['values'] {
  if (value === undefined || value === null) return null;
  // Models write one formula, or one row, without the brackets around it.
  const rows = Array.isArray(value) ? (value.some(Array.isArray) ? value : [value]) : [[value]];
  let count = 0;
  return rows.map((row: unknown) => {
    if (!Array.isArray(row)) throw wrongArguments('values must be rows of cells, such as [["Name", 1]]');
    count += row.length;
    if (count > callCellsMax) throw wrongArguments(`values must have at most ${callCellsMax} cells`);
    return row.map(toCellInput);
  });
}

function toCellInput(cell: unknown): CellInput {
  if (cell === null || typeof cell === 'boolean') return cell;
  if (typeof cell === 'number' && Number.isFinite(cell)) return cell;
  if (typeof cell === 'string' && cell.length <= cellTextMax) return cell.toWellFormed();
  throw wrongArguments(`A cell must be a text of at most ${cellTextMax} characters, a number, true, false or null`);
}
