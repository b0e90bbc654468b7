import { parse } from 'csv-parse/sync';
import { workbookCellsMax } from '../request.ts';
import { WorkbookFault } from './fault.ts';
import { nameOfCell } from './range.ts';
import type { CellObject, Sheet } from './sheet.ts';

const separators = [',', ';', '\t'];
const plainNumber = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;

/** The cells of a CSV file: numbers and text. Nothing in it is a formula, whatever it begins with. @throws WorkbookFault. */
export function readCsv(bytes: Buffer): Sheet {
  const text = bytes.toString('utf8');
  const firstLine = text.slice(0, 10_000).split('\n', 1)[0] ?? '';
  const counts = separators.map((separator) => firstLine.split(separator).length);
  const delimiter = separators[counts.indexOf(Math.max(...counts))] ?? ',';
  let rows: readonly (readonly string[])[];
  try {
    rows = parse(text, { bom: true, delimiter, relax_column_count: true, relax_quotes: true, to: workbookCellsMax });
  } catch {
    throw new WorkbookFault('The file cannot be read as CSV');
  }
  const cells = new Map<string, CellObject>();
  for (const [row, values] of rows.entries()) {
    for (const [column, value] of values.entries()) {
      if (value === '') continue;
      const cell: CellObject = plainNumber.test(value) ? { t: 'n', v: Number(value) } : { t: 's', v: value };
      cells.set(nameOfCell(row + 1, column + 1), cell);
    }
  }
  return { name: 'Sheet1', cells };
}

/** @param rows  the texts of all cells, row by row. */
export function writeCsv(rows: readonly (readonly string[])[]): Buffer {
  const quoted = (value: string) => (/[",;\t\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  return Buffer.from(rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join(''));
}
