import type { CellObject, WorkBook } from '@e965/xlsx';
import type { DocumentWriter } from '../document-writer.ts';
import { damaged, encrypted } from '../error.ts';
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
  for (const [index, name] of workbook.SheetNames.entries()) {
    const rows: readonly ((CellObject | undefined)[] | undefined)[] = workbook.Sheets[name]?.['!data'] ?? [];
    if ((workbook.Workbook?.Sheets?.[index]?.Hidden ?? 0) !== 0) continue;
    sheets.begin(name);
    for (const row of rows) {
      if (!sheets.count(row?.length ?? 0)) {
        sheets.cut();
        return;
      }
      sheets.row(row === undefined ? [] : cellsOf(row));
    }
    sheets.end();
  }
  const title: unknown = workbook.Props?.Title;
  writer.title = typeof title === 'string' ? title : null;
}

function open(bytes: Uint8Array): WorkBook {
  try {
    return spreadsheets.read(bytes, { type: 'array', dense: true, cellFormula: false, cellHTML: false, dateNF: 'yyyy-mm-dd' });
  } catch (error) {
    if (error instanceof RangeError && /memory|allocation|Invalid array length/i.test(error.message)) throw error;
    throw /password|encrypt/i.test(String(error)) ? encrypted(what) : damaged(what);
  }
}

function cellsOf(row: readonly (CellObject | undefined)[]): SheetCell[] {
  const cells: SheetCell[] = [];
  for (const [column, cell] of row.entries()) {
    if (cell === undefined || cell === null) continue;
    const shown = cell.w ?? (cell.v === undefined || cell.v === null ? '' : String(cell.v));
    const comment = (cell.c ?? []).map(({ t }) => t ?? '').join(' / ');
    const text = comment.trim() === '' ? shown : `${shown} (comment: ${comment})`.trim();
    if (text.trim() !== '') cells.push({ column, text, isText: cell.t === 's' || cell.t === 'z' });
  }
  return cells;
}
