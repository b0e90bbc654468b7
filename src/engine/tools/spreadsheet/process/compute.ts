import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { initSync, Model } from '@ironcalc/wasm';
import { WorkbookFault } from './fault.ts';
import { parsePlace } from './range.ts';
import type { CellObject, Workbook } from './sheet.ts';
import { displayValue, errorCodes, isDateFormat } from './workbook.ts';

const require = createRequire(import.meta.url);
let isLoaded = false;
/** Numbers are read from the engine with the fifteen digits that spreadsheets keep. */
const exactFormat = '0.00000000000000E+00';
/** The engine takes the difference of two dates for a date. A number of fewer days than this (the year 1910) is a difference. */
const firstShownDay = 3_654;
/** Kinds of cells in the engine. */
const kinds = { number: 1, text: 2, boolean: 4, error: 16 };

/** Computes every formula and puts the results into the cells. A circular reference is an error text in its cells. */
export function compute(workbook: Workbook): void {
  const formulas = workbook.sheets.flatMap(({ cells }, sheet) =>
    Array.from(cells, ([name, cell]) => ({ sheet, cell, ...parsePlace(name) })).filter(({ cell }) => cell.f !== undefined),
  );
  if (formulas.length === 0) return;
  const model = buildModel(workbook);
  const numbers: ((typeof formulas)[number] & { readonly format: string })[] = [];
  for (const place of formulas) {
    const { sheet, row, column, cell } = place;
    const shownValue = model.getFormattedCellValue(sheet, row, column);
    const kind = model.getCellType(sheet, row, column);
    if (kind === kinds.number) {
      const { style } = model.getCellStyle(sheet, row, column) as { readonly style?: { readonly num_fmt?: string } };
      numbers.push({ ...place, format: String(style?.num_fmt ?? 'general') });
    } else if (kind === kinds.boolean) put(cell, 'b', shownValue === 'TRUE');
    else if (kind === kinds.error) put(cell, 'e', errorCodes.get(shownValue) ?? shownValue);
    else put(cell, 's', shownValue);
  }
  model.pauseEvaluation();
  for (const { sheet, row, column, cell, format } of numbers) {
    model.updateRangeStyle({ sheet, row, column, width: 1, height: 1 }, 'num_fmt', exactFormat);
    const value = Number(model.getFormattedCellValue(sheet, row, column));
    if (Number.isFinite(value)) {
      put(cell, 'n', value);
      if (cell.z === undefined || cell.z === 'General') setFormat(cell, format, value);
    } else put(cell, 'e', '#NUM!');
  }
  model.free();
}

function put(cell: CellObject, t: CellObject['t'], v: string | number | boolean): void {
  cell.t = t;
  cell.v = v;
}

function setFormat(cell: CellObject, format: string, value: number): void {
  if (isDateFormat(format) && value < firstShownDay) return;
  if (isDateFormat(format)) cell.z = /h/i.test(format) ? 'yyyy-mm-dd hh:mm:ss' : 'yyyy-mm-dd';
  else if (format.includes('%')) cell.z = format;
}

function buildModel(workbook: Workbook): Model {
  if (!isLoaded) initSync({ module: readFileSync(require.resolve('@ironcalc/wasm/wasm_bg.wasm')) });
  isLoaded = true;
  const model = new Model('Workbook', 'en', 'UTC', 'en');
  model.pauseEvaluation();
  try {
    // Other names first: the engine names new sheets itself, perhaps as a later sheet of the file is named.
    for (const index of workbook.sheets.keys()) {
      if (index > 0) model.newSheet();
      model.renameSheet(index, `being made ${index}`);
    }
    for (const [index, { name }] of workbook.sheets.entries()) model.renameSheet(index, name);
  } catch {
    throw new WorkbookFault('A sheet of the workbook has a name that formulas cannot have');
  }
  for (const { Name, Ref, Sheet } of workbook.names) {
    try {
      model.newDefinedName(Name, Sheet ?? null, Ref);
    } catch {
      // Formulas that use the name show #NAME?.
    }
  }
  for (const [sheet, { cells }] of workbook.sheets.entries()) {
    for (const [name, cell] of cells) {
      const { row, column } = parsePlace(name);
      model.setUserInput(sheet, row, column, toInput(cell));
    }
  }
  model.resumeEvaluation();
  model.evaluate();
  return model;
}

function toInput(cell: CellObject): string {
  if (cell.f !== undefined) return `=${cell.f}`;
  if (cell.t === 'b') return cell.v === true ? 'TRUE' : 'FALSE';
  // A date in the engine's own form: what is computed from it is a date too.
  if (cell.t === 'n' && cell.z !== undefined && isDateFormat(cell.z) && Number.isInteger(cell.v))
    return String(displayValue({ ...cell, z: 'yyyy-mm-dd' }));
  if (cell.t === 'n') return String(cell.v);
  if (cell.t === 'e') return String(displayValue(cell));
  return `'${cell.v}`;
}
