import type { CellObject, WorkBook } from '@e965/xlsx';
import type { DocumentWriter } from '../document-writer.ts';
import { damaged, encrypted } from '../error.ts';
import { formatNumber, isDottedDate } from './cell-format.ts';
import { type SheetCell, SheetWriter } from './sheet-writer.ts';
import { spreadsheets } from './spreadsheets.ts';

const what = 'The Excel workbook';

/**
 * A workbook of Excel 97 to 2003, sheet by sheet: values as they are shown, and comments. Hidden sheets, charts and macros are left
 * out.
 *
 * @throws ExtractError ENCRYPTED, CORRUPT.
 */
export function readXls(bytes: Uint8Array, writer: DocumentWriter): void {
  const workbook = open(bytes);
  const sheets = new SheetWriter(writer);
  const isDate1904 = workbook.Workbook?.WBProps?.date1904 === true;
  for (const [index, name] of workbook.SheetNames.entries()) {
    const rows: readonly ((CellObject | undefined)[] | undefined)[] = workbook.Sheets[name]?.['!data'] ?? [];
    if ((workbook.Workbook?.Sheets?.[index]?.Hidden ?? 0) !== 0) continue;
    sheets.begin(name);
    for (const row of rows) {
      if (!sheets.count(row?.length ?? 0)) {
        sheets.cut();
        return;
      }
      sheets.row(row === undefined ? [] : cellsOf(row, isDate1904));
    }
    sheets.end();
  }
  const title: unknown = workbook.Props?.Title;
  writer.title = typeof title === 'string' ? title : null;
}

function open(bytes: Uint8Array): WorkBook {
  try {
    return spreadsheets().read(bytes, {
      type: 'array',
      dense: true,
      cellFormula: false,
      cellHTML: false,
      cellNF: true,
      dateNF: 'yyyy-mm-dd',
    });
  } catch (error) {
    if (error instanceof RangeError && /memory|allocation|Invalid array length/i.test(error.message)) throw error;
    throw /password|encrypt/i.test(String(error)) ? encrypted(what) : damaged(what);
  }
}

function cellsOf(row: readonly (CellObject | undefined)[], isDate1904: boolean): SheetCell[] {
  const cells: SheetCell[] = [];
  for (const [column, cell] of row.entries()) {
    if (cell === undefined || cell === null) continue;
    const shown = shownText(cell, isDate1904);
    const comment = (cell.c ?? []).map(({ t }) => t ?? '').join(' / ');
    const text = comment.trim() === '' ? shown : `${shown} (comment: ${comment})`.trim();
    if (text.trim() !== '') cells.push({ column, text, isText: cell.t === 's' || cell.t === 'z' });
  }
  return cells;
}

function shownText({ v: value, w: shown, z: format }: CellObject, isDate1904: boolean): string {
  if (typeof value === 'number' && typeof format === 'string' && isDottedDate(format))
    return formatNumber(value, format, isDate1904);
  return shown ?? (value === undefined || value === null ? '' : String(value));
}
