import { createRequire } from 'node:module';
import type { CellObject, Range, WorkBook } from '@e965/xlsx';
import { oneLine } from '../../../../../lib/text/text.ts';
import type { Archive } from '../../archive.ts';
import type { DocumentWriter } from '../../document-writer.ts';
import { damaged, encrypted } from '../../error.ts';
import { chartsIn, givenTitle } from '../../package-parts.ts';
import { drawnTexts } from './drawn-texts.ts';
import { noFacts, readSheetFacts, readTableFacts, type SheetFacts } from './sheet-facts.ts';
import { type SheetCell, SheetWriter } from './sheet-writer.ts';
import { noWrittenCells, type WrittenCells } from './written-cells.ts';

const require = createRequire(import.meta.url);
/** Its form for `require` brings the code pages of old files along. */
const spreadsheets: typeof import('@e965/xlsx') = require('@e965/xlsx');

/** Parts that hold text of a workbook; pictures, macros and embedded files are never unpacked. */
const textPart = /\.(?:xml|rels)$/i;
/** Columns of the largest sheet that programs make. */
const columnsMax = 16_384;
/** Equal rows beyond this are written once. */
const equalRowsMax = 100;

/** A workbook of Excel 97 to 2003, see `writeWorkbook`. */
export function readXls(bytes: Uint8Array, writer: DocumentWriter): void {
  const what = 'The Excel workbook';
  writeWorkbook(open(bytes, what), writer, noFacts, true);
}

/** A workbook of Excel since 2007, see `writeWorkbook`. */
export async function readXlsx(archive: Archive, writer: DocumentWriter): Promise<void> {
  archive.what = 'The Excel workbook';
  const facts = await readSheetFacts(archive);
  writeWorkbook(open(await repacked(archive), archive.what), writer, facts, true, await drawnTexts(archive));
  writer.omit('CHARTS', chartsIn(archive));
  // The library gives no cell for them.
  writer.omit('FORMULAS', facts.formulasWithoutResult);
}

/** An OpenDocument spreadsheet, see `writeWorkbook`. */
export async function readOds(archive: Archive, writer: DocumentWriter): Promise<void> {
  archive.what = 'The spreadsheet';
  const facts = await readTableFacts(archive, repeatsOf);
  // Cells have their text in the file, written in the language of the document.
  writeWorkbook(open(await repacked(archive, true, withoutLongRepeats), archive.what), writer, facts, false);
}

/**
 * Writes a workbook sheet by sheet: values as they are shown (results of formulas, not formulas), comments, and text boxes. Merged cells have their value
 * in each of their rows. Hidden sheets, rows and columns, charts, pictures and macros are left out, and formulas whose result the file does not hold.
 *
 * @param drawn  texts of drawings by the name of their sheet.
 */
function writeWorkbook(
  workbook: WorkBook,
  writer: DocumentWriter,
  { hiddenSheets, hiddenLines, writtenCells }: SheetFacts,
  formatsNumbers: boolean,
  drawnTextsBySheet: ReadonlyMap<string, readonly string[]> = new Map(),
): void {
  const sheets = new SheetWriter(writer);
  const isDate1904 = workbook.Workbook?.WBProps?.date1904 === true;
  for (const [index, name] of workbook.SheetNames.entries()) {
    if (hiddenSheets.has(name) || (workbook.Workbook?.Sheets?.[index]?.Hidden ?? 0) !== 0) {
      writer.omit('HIDDEN_SHEETS');
      continue;
    }
    const sheet = workbook.Sheets[name];
    const rows: readonly (readonly (CellObject | undefined)[])[] = sheet?.['!data'] ?? [];
    const written = writtenCells.get(name) ?? noWrittenCells;
    const textAt = (cell: CellObject, row: number, column: number): string =>
      shownText(writtenValue(formattedValue(cell, formatsNumbers, isDate1904), written, row, column), cell);
    const coveredByRow = coveredCells(sheet?.['!merges'] ?? [], rows, textAt);
    const hidden = hiddenLines.get(name);
    const hiddenColumns = new Set<number>();
    let last = -1;
    // A table of OpenDocument may be without a name.
    sheets.begin(name ?? '');
    // The array has holes, which may be as many as a hostile reference says; `forEach` passes over them.
    rows.forEach((row, number) => {
      const cells: SheetCell[] = [];
      const isHidden = hidden?.rows.has(number) === true;
      row.forEach((cell, column) => {
        if (cell === undefined) return;
        const text = textAt(cell, number, column);
        if (text === '') return;
        if (!isHidden && hidden?.isColumnHidden(column) === true) hiddenColumns.add(column);
        else cells.push({ column, text, isText: cell.t === 's' || cell.t === 'z' });
      });
      if (isHidden && cells.length > 0) writer.omit('HIDDEN_PARTS');
      if (number > last + 1) sheets.row([]);
      last = number;
      if (isHidden) return;
      const own = new Set(cells.map(({ column }) => column));
      const others = (coveredByRow.get(number) ?? []).filter(
        ({ column }) => !own.has(column) && hidden?.isColumnHidden(column) !== true,
      );
      sheets.row(others.length === 0 ? cells : [...cells, ...others].sort((a, b) => a.column - b.column));
    });
    sheets.end();
    writer.omit('HIDDEN_PARTS', hiddenColumns.size);
    for (const text of drawnTextsBySheet.get(name) ?? []) sheets.textBox(text);
  }
  const title: unknown = workbook.Props?.Title;
  writer.title = typeof title === 'string' ? givenTitle(title) : null;
}

function open(bytes: Uint8Array, what: string): WorkBook {
  try {
    return spreadsheets.read(bytes, {
      type: 'buffer',
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

/**
 * The text parts of an archive as a plain archive. The library inflates whatever an archive holds, and believes the sizes that it states;
 * `Archive` keeps the bounds.
 */
async function repacked(
  archive: Archive,
  needsStyles = false,
  change = (bytes: Uint8Array): Uint8Array => bytes,
): Promise<Uint8Array> {
  const { CFB } = spreadsheets;
  const container: unknown = CFB.utils.cfb_new();
  for (const name of archive.names.filter((part) => textPart.test(part))) {
    CFB.utils.cfb_add(container, `/${name}`, change((await archive.read(name)) ?? new Uint8Array()));
  }
  // The library demands one, which small programs leave out.
  if (needsStyles && !archive.names.includes('styles.xml')) CFB.utils.cfb_add(container, '/styles.xml', Buffer.from('<styles/>'));
  return CFB.write(container, { fileType: 'zip', type: 'buffer' });
}

/** How often a row or column is repeated in `withoutLongRepeats`. */
function repeatsOf(stated: number, kind: 'rows' | 'columns'): number {
  return stated <= (kind === 'rows' ? equalRowsMax : columnsMax) ? stated : 1;
}

/** The library makes a cell for each repetition that a document states. Empty rows and columns keep their number. */
function withoutLongRepeats(xml: Uint8Array): Uint8Array {
  const text = Buffer.from(xml.buffer, xml.byteOffset, xml.byteLength).toString('latin1');
  const shortenedText = text.replace(
    /number-(rows|columns)-repeated=["']\s*(\d+)\s*["']/g,
    (whole, kind: 'rows' | 'columns', count: string) =>
      repeatsOf(Number(count), kind) === Number(count) ? whole : `number-${kind}-repeated="1"`,
  );
  return Buffer.from(shortenedText, 'latin1');
}

/** A value with what is said by form alone: `10^6`, and `~50~` for what is struck out. */
function writtenValue(value: string, written: WrittenCells, row: number, column: number): string {
  if (value.trim() === '') return value;
  const text = written.textAt(row, column) ?? value;
  return written.isStruck(row, column) ? `~${text}~` : text;
}

function shownText(value: string, cell: CellObject): string {
  const comment = oneLine((cell.c ?? []).map(({ t }) => t ?? '').join(' / '));
  return (comment === '' ? value : `${value} (comment: ${comment})`).trim();
}

/** The library takes dots between the parts of a date only as escaped ones. */
const dottedDate = /(?<=[dmyhs])\.(?=\s?[dmyhs])/gi;
/** Format 22, whose order of day and month depends on the reader's country; the library has an option for format 14 only. */
const countryDateTime = 'm/d/yy h:mm';

function formattedValue(
  { v: value, w: formattedText, z: format }: CellObject,
  formatsNumbers: boolean,
  isDate1904: boolean,
): string {
  const plain = formattedText ?? String(value ?? '');
  if (!formatsNumbers || typeof value !== 'number' || typeof format !== 'string') return plain;
  // People look for an article's number as it is printed, and not for 4.0E+12.
  if (Number.isSafeInteger(value) && /\dE[+-]?\d+$/.test(plain)) return String(value);
  const [code, shown] =
    format === countryDateTime ? ['yyyy-mm-dd hh:mm', value] : withGeneral(format.replace(dottedDate, '\\.'), value);
  if (code === format && shown === value) return plain;
  try {
    return String(spreadsheets.SSF.format(code, shown, { date1904: isDate1904 }));
  } catch {
    return plain;
  }
}

/**
 * The library shows the number alone where a section of a format begins with `General`, and leaves out the unit behind it (`General" kg"`). In the section
 * for negative numbers it shows their sign beside that of the section.
 *
 * @returns a format and a number that the library shows as the spreadsheet does.
 */
function withGeneral(format: string, value: number): readonly [string, number] {
  if (!/general/i.test(format) || /^general$/i.test(format)) return [format, value];
  const sections = sectionsOf(format);
  const [, negative = ''] = sections;
  if (value < 0 && /general/i.test(negative) && !format.includes('[')) return [`""${negative}`, -value];
  return [sections.map((section) => (/^general/i.test(section) ? `""${section}` : section)).join(';'), value];
}

function sectionsOf(format: string): readonly string[] {
  const sections = [''];
  for (const piece of format.match(/"[^"]*"|\\.|[^"\\;]+|[";\\]/g) ?? []) {
    if (piece === ';') sections.push('');
    else sections[sections.length - 1] += piece;
  }
  return sections;
}

/** A hostile file may say that all its cells are merged. */
const coveredMax = 200_000;

/**
 * The cells that merged cells cover, by row: those below the first cell have its value in each row, those right of it only name columns.
 *
 * @param textOf  the text of a cell as it is shown.
 */
function coveredCells(
  merges: readonly Range[],
  rows: readonly (readonly (CellObject | undefined)[])[],
  textOf: (cell: CellObject, row: number, column: number) => string,
): ReadonlyMap<number, readonly SheetCell[]> {
  const coveredByRow = new Map<number, SheetCell[]>();
  let count = 0;
  for (const { s: start, e: end } of merges) {
    const first = rows[start.r]?.[start.c];
    const text = first === undefined ? '' : textOf(first, start.r, start.c);
    if (first === undefined || text === '') continue;
    const lastRow = Math.min(end.r, rows.length - 1);
    for (let row = start.r; row <= lastRow; row += 1) {
      for (let column = start.c; column <= end.c; column += 1) {
        if (row === start.r && column === start.c) continue;
        count += 1;
        if (count > coveredMax) return coveredByRow;
        const cells = coveredByRow.get(row) ?? [];
        coveredByRow.set(row, cells);
        cells.push({ column, text, isText: first.t === 's', cover: column === start.c ? 'below' : 'right' });
      }
    }
  }
  return coveredByRow;
}
