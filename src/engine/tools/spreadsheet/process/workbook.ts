import { createRequire } from 'node:module';
import type { WorkBook, WorkSheet } from '@e965/xlsx';
import { type FileKind, sheetsMax, workbookCellsMax } from '../request.ts';
import { readCsv, writeCsv } from './csv.ts';
import { WorkbookFault } from './fault.ts';
import { nameOfCell, parsePlace, type Range } from './range.ts';
import type { CellObject, Sheet, Workbook } from './sheet.ts';

const require = createRequire(import.meta.url);
const excel: typeof import('@e965/xlsx') = require('@e965/xlsx');

const cellName = /^[A-Z]{1,3}[1-9]\d*$/;
const errorTexts = new Map<number, string>([
  [0x00, '#NULL!'],
  [0x07, '#DIV/0!'],
  [0x0f, '#VALUE!'],
  [0x17, '#REF!'],
  [0x1d, '#NAME?'],
  [0x24, '#NUM!'],
  [0x2a, '#N/A'],
]);

/** @throws WorkbookFault for bytes that are no workbook, or hold more than is read. */
export function readWorkbook(bytes: Buffer, kind: FileKind): Workbook {
  if (kind === 'csv') return checked({ sheets: [readCsv(bytes)], names: [] });
  let read: WorkBook;
  try {
    read = excel.read(bytes, {
      type: 'buffer',
      cellFormula: true,
      cellNF: true,
      cellHTML: false,
      cellText: false,
      sheetRows: 100_000,
    });
  } catch (error) {
    const isLocked = /password/i.test(String(error));
    throw new WorkbookFault(isLocked ? 'The workbook has a password' : 'The file cannot be read as a workbook');
  }
  const sheets = read.SheetNames.map((name) => toSheet(name, read.Sheets[name] ?? {}));
  const names = (read.Workbook?.Names ?? []).filter(({ Name, Ref }) => typeof Name === 'string' && typeof Ref === 'string');
  return checked({ sheets, names: names as Workbook['names'] });
}

export function checked(workbook: Workbook): Workbook {
  if (workbook.sheets.length > sheetsMax) throw new WorkbookFault(`The workbook has more than ${sheetsMax} sheets`);
  const cells = workbook.sheets.reduce((sum, sheet) => sum + sheet.cells.size, 0);
  if (cells > workbookCellsMax) throw new WorkbookFault(`The workbook has more than ${workbookCellsMax} cells with content`);
  return workbook;
}

function toSheet(name: string, sheet: WorkSheet): Sheet {
  const cells = new Map<string, CellObject>();
  const more: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(sheet)) {
    if (key === '!cols' || key === '!rows' || key === '!merges') more[key] = value;
    if (!cellName.test(key) || cells.size > workbookCellsMax) continue;
    const { t, v, f, z, F } = value as CellObject & { readonly F?: string };
    if (t === 'z' || (v === undefined && f === undefined)) continue;
    // The other cells of an array formula hold its results only.
    if (F !== undefined && f === undefined) continue;
    const cell: CellObject = { t, ...(v === undefined ? {} : { v }), ...(z === undefined ? {} : { z }) };
    if (f !== undefined && f !== '') cell.f = plainFormula(f);
    cells.set(key, cell);
  }
  return { name, cells, more };
}

/** @param sheet  the sheet that a CSV file holds. */
export function writeWorkbook(workbook: Workbook, kind: FileKind, sheet: Sheet): Buffer {
  if (kind === 'csv') return writeCsv(listValues(sheet));
  const book = {
    SheetNames: workbook.sheets.map(({ name }) => name),
    Sheets: {} as Record<string, WorkSheet>,
    Workbook: { Names: [...workbook.names] },
  };
  for (const { name, cells, more } of workbook.sheets) {
    const { row, column } = findEnd(cells);
    const writtenSheet: Record<string, unknown> = { ...more, '!ref': `A1:${nameOfCell(Math.max(1, row), Math.max(1, column))}` };
    for (const [key, cell] of cells)
      writtenSheet[key] = cell.f === undefined ? { ...cell } : { ...cell, f: formulaForFile(cell.f) };
    book.Sheets[name] = writtenSheet as WorkSheet;
  }
  return excel.write(book as unknown as WorkBook, { type: 'buffer', bookType: 'xlsx', compression: true }) as Buffer;
}

function listValues({ cells }: Sheet): readonly (readonly (string | number | boolean | null)[])[] {
  const { row, column } = findEnd(cells);
  if (row * column > workbookCellsMax * 4) throw new WorkbookFault('The cells lie too far apart for a CSV file');
  return Array.from({ length: row }, (_row, y) =>
    Array.from({ length: column }, (_column, x) => displayValue(cells.get(nameOfCell(y + 1, x + 1)))),
  );
}

/** The last row and column with content; 0 for an empty sheet. */
export function findEnd(cells: ReadonlyMap<string, CellObject>): { readonly row: number; readonly column: number } {
  let row = 0;
  let column = 0;
  for (const name of cells.keys()) {
    const place = parsePlace(name);
    row = Math.max(row, place.row);
    column = Math.max(column, place.column);
  }
  return { row, column };
}

export function usedRange(sheet: Sheet): Range {
  const { row, column } = findEnd(sheet.cells);
  return { row: 1, column: 1, rows: Math.max(1, row), columns: Math.max(1, column) };
}

/** The value of a cell for people and models: dates and percentages as they are shown, other numbers as they are. */
export function displayValue(cell: CellObject | undefined): string | number | boolean | null {
  if (cell?.v === undefined) return null;
  if (cell.t === 'e') return typeof cell.v === 'number' ? (errorTexts.get(cell.v) ?? '#ERROR!') : String(cell.v);
  if (cell.t === 'n' && cell.z !== undefined && (isDateFormat(cell.z) || cell.z.includes('%'))) {
    return String(excel.SSF.format(isDateFormat(cell.z) ? isoFormat(cell.z) : cell.z, cell.v));
  }
  return cell.v;
}

export function isDateFormat(format: string): boolean {
  return !/^general$/i.test(format) && excel.SSF.is_date(format) === true;
}

/** Dates are shown in one way, whatever the language of the file. */
function isoFormat(format: string): string {
  const hasDay = /[dy]/i.test(format);
  const hasTime = /[hs]/i.test(format);
  return hasDay && hasTime ? 'yyyy-mm-dd hh:mm:ss' : hasDay ? 'yyyy-mm-dd' : format;
}

export const errorCodes: ReadonlyMap<string, number> = new Map(Array.from(errorTexts, ([code, text]) => [text, code]));

/** Functions that a file names with a prefix, because they are younger than its format. Excel shows `#NAME?` without it. */
const future =
  /\b(ACOT|ACOTH|AGGREGATE|ARABIC|BASE|BITAND|BITLSHIFT|BITOR|BITRSHIFT|BITXOR|BYCOL|BYROW|CEILING\.MATH|CHOOSECOLS|CHOOSEROWS|COMBINA|CONCAT|COT|COTH|CSC|CSCH|DAYS|DECIMAL|DROP|EXPAND|FLOOR\.MATH|FORMULATEXT|HSTACK|IFNA|IFS|ISFORMULA|ISOWEEKNUM|LAMBDA|LET|MAKEARRAY|MAP|MAXIFS|MINIFS|NORM\.DIST|NORM\.INV|NUMBERVALUE|PDURATION|PERCENTILE\.EXC|PERCENTILE\.INC|QUARTILE\.EXC|QUARTILE\.INC|RANDARRAY|RANK\.AVG|RANK\.EQ|REDUCE|RRI|SCAN|SEC|SECH|SEQUENCE|SHEET|SHEETS|SORTBY|STDEV\.P|STDEV\.S|SWITCH|TAKE|TEXTAFTER|TEXTBEFORE|TEXTJOIN|TEXTSPLIT|TOCOL|TOROW|UNICHAR|UNICODE|UNIQUE|VALUETOTEXT|VAR\.P|VAR\.S|VSTACK|WRAPCOLS|WRAPROWS|XLOOKUP|XMATCH|XOR)(?=\()/gi;
const worksheet = /\b(FILTER|SORT)(?=\()/gi;

/** A formula as a file holds it. Text in quotes stays as it is. */
function formulaForFile(formula: string): string {
  return formula
    .split(/("(?:[^"]|"")*")/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .replaceAll(/_xlfn\.(?:_xlws\.)?/gi, '')
            .replaceAll(future, (name) => `_xlfn.${name.toUpperCase()}`)
            .replaceAll(worksheet, (name) => `_xlfn._xlws.${name.toUpperCase()}`),
    )
    .join('');
}

/** A formula as people write it. */
function plainFormula(formula: string): string {
  return formula.replaceAll(/_xl(?:fn|ws|pm)\./gi, '');
}
