import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { initSync, Model } from '@ironcalc/wasm';
import { isComputable } from './array-formulas.ts';
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

/** A value in a cell, as the engine computed it. */
type Computed = Pick<CellObject, 't' | 'v' | 'z'>;

/** Computes the formulas whose values a file does not hold; a circular reference is an error text. @returns the cells whose formulas the engine does not compute as spreadsheets do. */
export function computeMissing(workbook: Workbook): readonly CellObject[] {
  return fill(
    workbook,
    listFormulas(workbook, ({ v }) => v === undefined),
  );
}

/**
 * Computes every formula anew.
 *
 * @param doubtful  those that are not computed: see `findDoubtful`.
 * @returns the cells that are not computed; they show #N/A, and what uses them does.
 */
export function computeAll(workbook: Workbook, doubtful: ReadonlySet<CellObject>): readonly CellObject[] {
  return fill(workbook, listFormulas(workbook), doubtful);
}

/** The formulas of an unchanged file that the engine computes otherwise than the program that wrote the file. */
export function findDoubtful(workbook: Workbook): ReadonlySet<CellObject> {
  const formulas = listFormulas(workbook, ({ v, f = '' }) => v !== undefined && !changing.test(f));
  if (formulas.length === 0) return new Set();
  const values = evaluate(workbook, listFormulas(workbook));
  return new Set(formulas.map(({ cell }) => cell).filter((cell) => !isSame(cell, values.get(cell))));
}

/** Functions whose values differ from one time to another. */
const changing = /\b(?:NOW|TODAY|RAND|RANDBETWEEN|RANDARRAY|CELL|INFO)\(/i;

function isSame(cell: CellObject, value: Computed | undefined): boolean {
  if (value === undefined || cell.t !== value.t) return false;
  if (typeof cell.v !== 'number' || typeof value.v !== 'number' || cell.t !== 'n') return cell.v === value.v;
  return Math.abs(cell.v - value.v) <= 1e-9 * Math.max(1, Math.abs(cell.v));
}

interface FormulaPlace {
  readonly sheet: number;
  readonly row: number;
  readonly column: number;
  readonly cell: CellObject;
}

function listFormulas({ sheets }: Workbook, isWanted: (cell: CellObject) => boolean = () => true): readonly FormulaPlace[] {
  return sheets.flatMap(({ cells }, sheet) =>
    Array.from(cells, ([name, cell]) => ({ sheet, cell, ...parsePlace(name) })).filter(
      ({ cell }) => cell.f !== undefined && isWanted(cell),
    ),
  );
}

function fill(workbook: Workbook, formulas: readonly FormulaPlace[], doubtful: ReadonlySet<CellObject> = new Set()) {
  const uncomputed: CellObject[] = [];
  for (const [cell, value] of evaluate(workbook, formulas, doubtful)) {
    if (value === undefined) uncomputed.push(cell);
    Object.assign(cell, value ?? missing);
  }
  return uncomputed;
}

const missing: Computed = { t: 'e', v: errorCodes.get('#N/A') ?? '#N/A' };

/** The values of some formulas; undefined of one that is not computed. The other formulas have the values that stand in their cells. */
function evaluate(
  workbook: Workbook,
  formulas: readonly FormulaPlace[],
  doubtful: ReadonlySet<CellObject> = new Set(),
): ReadonlyMap<CellObject, Computed | undefined> {
  const values = new Map<CellObject, Computed | undefined>();
  if (formulas.length === 0) return values;
  const rangeNames = new Set(workbook.names.filter(({ Ref }) => Ref.includes(':')).map(({ Name }) => Name.toUpperCase()));
  const isRangeName = (name: string) => rangeNames.has(name.toUpperCase());
  const inputs = new Map(
    formulas.map(({ cell }) => {
      const isRefused = doubtful.has(cell) || !isComputable(cell.f ?? '', isRangeName);
      return [cell, isRefused ? undefined : `=${cell.f}`];
    }),
  );
  const model = buildModel(workbook, (cell) => (inputs.has(cell) ? (inputs.get(cell) ?? '=NA()') : toInput(cell)));
  const numbers: (FormulaPlace & { readonly format: string })[] = [];
  for (const place of formulas) {
    const { sheet, row, column, cell } = place;
    values.set(cell, undefined);
    if (inputs.get(cell) === undefined) continue;
    const shownValue = model.getFormattedCellValue(sheet, row, column);
    const kind = model.getCellType(sheet, row, column);
    if (kind === kinds.number) {
      const { style } = model.getCellStyle(sheet, row, column) as { readonly style?: { readonly num_fmt?: string } };
      numbers.push({ ...place, format: String(style?.num_fmt ?? 'general') });
    } else if (kind === kinds.boolean) values.set(cell, { t: 'b', v: shownValue === 'TRUE' });
    else if (kind === kinds.error) values.set(cell, { t: 'e', v: errorCodes.get(shownValue) ?? shownValue });
    else values.set(cell, { t: 's', v: shownValue });
  }
  model.pauseEvaluation();
  for (const { sheet, row, column, cell, format } of numbers) {
    model.updateRangeStyle({ sheet, row, column, width: 1, height: 1 }, 'num_fmt', exactFormat);
    const value = Number(model.getFormattedCellValue(sheet, row, column));
    values.set(cell, Number.isFinite(value) ? { t: 'n', v: value, ...findFormat(cell, format, value) } : overflow);
  }
  model.free();
  return values;
}

const overflow: Computed = { t: 'e', v: '#NUM!' };

/** The format of a value whose cell has none. */
function findFormat(cell: CellObject, format: string, value: number): Pick<CellObject, 'z'> {
  if (cell.z !== undefined && cell.z !== 'General') return {};
  if (isDateFormat(format) && value < firstShownDay) return {};
  if (isDateFormat(format)) return { z: /h/i.test(format) ? 'yyyy-mm-dd hh:mm:ss' : 'yyyy-mm-dd' };
  return format.includes('%') ? { z: format } : {};
}

function buildModel(workbook: Workbook, toText: (cell: CellObject) => string): Model {
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
      model.setUserInput(sheet, row, column, toText(cell));
    }
  }
  model.resumeEvaluation();
  model.evaluate();
  return model;
}

function toInput(cell: CellObject): string {
  if (cell.t === 'b') return cell.v === true ? 'TRUE' : 'FALSE';
  // A date in the engine's own form: what is computed from it is a date too.
  if (cell.t === 'n' && cell.z !== undefined && isDateFormat(cell.z) && Number.isInteger(cell.v))
    return String(displayValue({ ...cell, z: 'yyyy-mm-dd' }));
  if (cell.t === 'n') return String(cell.v);
  if (cell.t === 'e') return String(displayValue(cell));
  return `'${cell.v}`;
}
