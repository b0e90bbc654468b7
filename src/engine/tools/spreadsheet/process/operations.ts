import { type CellInput, callCellsMax, type WorkbookAnswer, type WorkbookRequest } from '../request.ts';
import { computeAll, computeMissing, findDoubtful } from './compute.ts';
import { WorkbookFault } from './fault.ts';
import { nameOfCell, nameOfRange, parseRange, type Range, requireFew } from './range.ts';
import type { CellObject, Sheet, Workbook } from './sheet.ts';
import { checked, displayValue, readWorkbook, usedRange, writeWorkbook } from './workbook.ts';

export interface Worked {
  readonly answer: WorkbookAnswer;
  readonly bytes: Buffer | undefined;
}

const sheetNameMax = 31;
const unixDay = 86_400_000;
const firstDay = Date.UTC(1899, 11, 30);

/** Carries out one operation on a workbook. @throws WorkbookFault for what the model can correct. */
export function work(request: WorkbookRequest, bytes: Buffer): Worked {
  const { operation, from, to } = request;
  const workbook = operation === 'create' ? { sheets: [], names: [] } : readWorkbook(bytes, from);
  switch (operation) {
    case 'sheets':
      return told({
        sheets: workbook.sheets.map((sheet) => ({
          name: sheet.name,
          range: nameOfRange(usedRange(sheet)),
          cells: sheet.cells.size,
        })),
      });
    case 'read':
    case 'chart_data': {
      const sheet = findSheet(workbook, request.sheet, false);
      const uncomputed = computeMissing(workbook);
      const result = operation === 'read' ? readCells(sheet, request.range) : chartData(sheet, request.range);
      return told({ ...result, ...describeUncomputed(workbook, uncomputed) });
    }
    case 'create':
    case 'write':
    case 'formula': {
      const sheet = findSheet(workbook, request.sheet, true);
      if (operation === 'formula' && request.range === null) return told(computeOnly(workbook, sheet, request.values));
      const doubtful = findDoubtful(workbook);
      const writtenRange = request.values === null && operation === 'create' ? undefined : writeCells(sheet, request);
      checked(workbook);
      const uncomputed = computeAll(workbook, doubtful);
      const table = writtenRange === undefined ? { sheet: sheet.name } : toTable(sheet, writtenRange);
      const result = { ...table, ...describeUncomputed(workbook, uncomputed) };
      // A spreadsheet program computes what has no value when it opens the file.
      for (const cell of uncomputed) Object.assign(cell, { t: 'n', v: undefined });
      return { answer: { result, isWritten: true }, bytes: writeWorkbook(workbook, to, sheet) };
    }
  }
}

function told(result: Readonly<Record<string, unknown>>): Worked {
  return { answer: { result }, bytes: undefined };
}

function findSheet(workbook: Workbook, name: string | null, mayAdd: boolean): Sheet {
  const foundSheet =
    name === null ? workbook.sheets[0] : workbook.sheets.find((sheet) => sheet.name.toLowerCase() === name.toLowerCase());
  if (foundSheet !== undefined) return foundSheet;
  if (!mayAdd) {
    const names = workbook.sheets.map((sheet) => JSON.stringify(sheet.name)).join(', ');
    throw new WorkbookFault(
      name === null ? 'The workbook has no sheet' : `There is no sheet ${JSON.stringify(name)}; there are ${names}`,
    );
  }
  const wantedName = name ?? 'Sheet1';
  if (wantedName.length > sheetNameMax || wantedName.trim() === '' || /[[\]:*?/\\]|^'|'$/.test(wantedName)) {
    throw new WorkbookFault(`A sheet is named with 1 to ${sheetNameMax} characters, none of them []:*?/\\`);
  }
  const sheet = { name: wantedName, cells: new Map<string, CellObject>() };
  workbook.sheets.push(sheet);
  return sheet;
}

function readCells(sheet: Sheet, range: string | null) {
  if (range !== null) {
    const wantedRange = parseRange(range);
    requireFew(wantedRange);
    return toTable(sheet, wantedRange);
  }
  const sheetRange = usedRange(sheet);
  const columns = Math.min(sheetRange.columns, callCellsMax);
  const rows = Math.min(sheetRange.rows, Math.max(1, Math.floor(callCellsMax / columns)));
  const isCut = rows < sheetRange.rows || columns < sheetRange.columns;
  return {
    ...toTable(sheet, { ...sheetRange, rows, columns }),
    ...(isCut ? { note: `Only a part; the sheet reaches to ${nameOfRange(sheetRange)}: ask for another range` } : {}),
  };
}

function toTable(sheet: Sheet, range: Range) {
  const formulas: Record<string, string> = {};
  const values = makeGrid(range, (row, column) => {
    const name = nameOfCell(row, column);
    const cell = sheet.cells.get(name);
    if (cell?.f !== undefined) formulas[name] = `=${cell.f}`;
    return displayValue(cell);
  });
  const hasFormulas = Object.keys(formulas).length > 0;
  return { sheet: sheet.name, range: nameOfRange(range), values, ...(hasFormulas ? { formulas } : {}) };
}

function makeGrid<Value>({ row, column, rows, columns }: Range, make: (row: number, column: number) => Value): Value[][] {
  return Array.from({ length: rows }, (_row, y) => Array.from({ length: columns }, (_column, x) => make(row + y, column + x)));
}

/** Labels and series: the first row names the series, the first column holds the labels. */
function chartData(sheet: Sheet, range: string | null) {
  const wantedRange = range === null ? usedRange(sheet) : parseRange(range);
  requireFew(wantedRange);
  const grid = makeGrid(wantedRange, (row, column) => displayValue(sheet.cells.get(nameOfCell(row, column))));
  const [head = [], ...rows] = grid;
  if (rows.length === 0 || head.length < 2)
    throw new WorkbookFault('Chart data needs a row of names, a column of labels and a value');
  const number = (value: unknown) => (typeof value === 'number' ? value : toPercent(value));
  return {
    sheet: sheet.name,
    range: nameOfRange(wantedRange),
    labels: rows.map(([label = null]) => label),
    series: head
      .slice(1)
      .map((name, index) => ({ name: name ?? `Series ${index + 1}`, values: rows.map((row) => number(row[index + 1])) })),
  };
}

function toPercent(value: unknown): number | null {
  const [, digits] = typeof value === 'string' ? (/^(-?\d+(?:\.\d+)?)%$/.exec(value) ?? []) : [];
  return digits === undefined ? null : Number(digits) / 100;
}

/** Answers the values of formulas without storing them: they stand on a sheet of their own for a moment. */
function computeOnly(workbook: Workbook, sheet: Sheet, values: WorkbookRequest['values']) {
  const formulas = (values ?? []).flat().map(toFormula);
  if (formulas.length === 0) throw new WorkbookFault('formula needs values with a formula such as [["=SUM(A1:A3)"]]');
  const place = usedRange(sheet);
  const row = place.rows + 2;
  formulas.forEach((f, index) => {
    sheet.cells.set(nameOfCell(row, index + 1), { t: 'n', f });
  });
  checked(workbook);
  const uncomputed = computeMissing(workbook);
  const results = formulas.map((f, index) => ({
    formula: `=${f}`,
    value: displayValue(sheet.cells.get(nameOfCell(row, index + 1))),
  }));
  return { sheet: sheet.name, results, ...describeUncomputed(workbook, uncomputed) };
}

const shownCellsMax = 20;

/** Names the cells that show #N/A because the engine would get them wrong. */
function describeUncomputed(
  workbook: Workbook,
  uncomputed: readonly CellObject[],
): { readonly notComputed?: Readonly<Record<string, unknown>> } {
  if (uncomputed.length === 0) return {};
  const wanted = new Set(uncomputed);
  const cells = workbook.sheets.flatMap(({ name, cells }) =>
    Array.from(cells, ([place, cell]) => (wanted.has(cell) ? [`${name}!${place}`] : [])).flat(),
  );
  return { notComputed: { count: cells.length, cells: cells.slice(0, shownCellsMax), reason: notComputedReason } };
}

const notComputedReason =
  'These formulas (conditions over ranges, functions of one value over a range, or others that the program of the file computes otherwise) are stored, and spreadsheet programs compute them; here they show #N/A. Use SUMIFS, COUNTIFS or (range=value)*1 inside SUMPRODUCT, or compute the figure otherwise.';

function toFormula(value: CellInput): string {
  const text = typeof value === 'string' ? value.trim().replace(/^=/, '') : '';
  if (text === '') throw new WorkbookFault('A formula is a text such as "=SUM(A1:A3)"');
  return text;
}

/** Puts the values into the cells from the start of the range. One value for a larger range fills it. @returns the cells written. */
function writeCells(sheet: Sheet, { values, range, operation }: WorkbookRequest): Range {
  if (values === null || values.length === 0)
    throw new WorkbookFault(`${operation} needs values: rows of cells such as [["Name", 1]]`);
  const start = parseRange(range ?? 'A1');
  const rows = values.length;
  const columns = Math.max(1, ...values.map((row) => row.length));
  const isFill = rows === 1 && columns === 1 && (start.rows > 1 || start.columns > 1);
  const target = isFill ? start : { ...start, rows, columns };
  requireFew(target);
  const isRange = !isFill && range?.includes(':') === true;
  if (isRange && (start.rows !== rows || start.columns !== columns)) {
    throw new WorkbookFault(
      `The range ${nameOfRange(start)} has ${start.rows} rows and ${start.columns} columns, values have ${rows} and ${columns}`,
    );
  }
  makeGrid(target, (row, column) => {
    const [down, right] = [row - target.row, column - target.column];
    const input = (isFill ? values[0]?.[0] : values[down]?.[right]) ?? null;
    const name = nameOfCell(row, column);
    if (input === null || input === '') {
      sheet.cells.delete(name);
      return;
    }
    const cell = makeCell(input, sheet.cells.get(name), operation === 'formula');
    sheet.cells.set(name, isFill && cell.f !== undefined ? { ...cell, f: shifted(cell.f, down, right) } : cell);
  });
  return target;
}

function makeCell(input: string | number | boolean, before: CellObject | undefined, isFormula: boolean): CellObject {
  if (isFormula || (typeof input === 'string' && input.startsWith('=') && input.length > 1)) {
    const z = before?.z === undefined ? {} : { z: before.z };
    return { t: 'n', f: toFormula(input), ...z };
  }
  if (typeof input === 'number') return { t: 'n', v: input, ...(before?.z === undefined ? {} : { z: before.z }) };
  if (typeof input === 'boolean') return { t: 'b', v: input };
  const date = parseDate(input);
  if (date !== undefined) return { t: 'n', v: date, z: 'yyyy-mm-dd' };
  const percent = toPercent(input);
  if (percent !== null) return { t: 'n', v: percent, z: input.includes('.') ? '0.00%' : '0%' };
  return { t: 's', v: input.startsWith("'") ? input.slice(1) : input };
}

/** A date of the form 2026-11-22, as the number of its day. */
function parseDate(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  const isDate = Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text);
  const day = (ms - firstDay) / unixDay;
  return isDate && day > 60 ? day : undefined;
}

const reference = /(\$?)([A-Z]{1,3})(\$?)([1-9]\d{0,6})(?![\w(.!])/g;

/** A formula that fills a range: relative references move with the cell, as in every spreadsheet. */
function shifted(formula: string, down: number, right: number): string {
  if (down === 0 && right === 0) return formula;
  return formula
    .split(/("(?:[^"]|"")*"|'(?:[^']|'')*')/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(
            reference,
            (whole, fixedColumn: string, letters: string, fixedRow: string, digits: string, at: number) => {
              if (/[\w.]/.test(part[at - 1] ?? '')) return whole;
              const { row, column } = parseRange(`${letters}${digits}`);
              const movedCell = nameOfCell(fixedRow === '' ? row + down : row, fixedColumn === '' ? column + right : column);
              const [, newLetters, newDigits] = /^([A-Z]+)(\d+)$/.exec(movedCell) ?? [];
              return `${fixedColumn}${newLetters}${fixedRow}${newDigits}`;
            },
          ),
    )
    .join('');
}
