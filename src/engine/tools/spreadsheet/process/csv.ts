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
      const cell: CellObject = plainNumber.test(value) ? { t: 'n', v: Number(value) } : { t: 's', v: withoutMark(value) };
      cells.set(nameOfCell(row + 1, column + 1), cell);
    }
  }
  return { name: 'Sheet1', cells };
}

/**
 * Writes a CSV file: the one writer of the service. Programs for spreadsheets take a text that begins like a formula for one, whoever wrote it, so such
 * a text gets the mark of a text in front, `'`, which `readCsv` takes off again.
 *
 * @param rows  the values of all cells, row by row; null for an empty one.
 */
export function writeCsv(rows: readonly (readonly (string | number | boolean | null)[])[]): Buffer {
  return Buffer.from(rows.map((row) => `${row.map(toField).join(',')}\r\n`).join(''));
}

/** Also behind white space, and in the full-width forms that some programs read alike. */
const beginsLikeFormula = /^[\s\0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

function toField(value: string | number | boolean | null): string {
  if (value === null) return '';
  const isMarked =
    typeof value === 'string' &&
    !plainNumber.test(value.replace(/%$/, '')) &&
    (beginsLikeFormula.test(value) || withoutMark(value) !== value);
  const text = isMarked ? `'${value}` : String(value);
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function withoutMark(value: string): string {
  return /^'+/.test(value) && beginsLikeFormula.test(value.replace(/^'+/, '')) ? value.slice(1) : value;
}
