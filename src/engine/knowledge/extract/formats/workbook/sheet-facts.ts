import type { Archive } from '../../archive.ts';
import { loadRelations } from '../../package-parts.ts';
import { attribute, type XmlAttributes, type XmlHandler } from '../../xml.ts';
import { sheetParts } from './sheet-parts.ts';
import { readSharedCellFacts, type SharedCellFacts, type WrittenCells, WrittenCellsScan } from './written-cells.ts';

/** Rows and columns that a sheet does not show, from 0. What a filter or a closed group hides is found by its readers, and counts as shown. */
export interface HiddenLines {
  readonly rows: ReadonlySet<number>;
  isColumnHidden(column: number): boolean;
}

/** What the library does not tell of a workbook. */
export interface SheetFacts {
  readonly hiddenSheets: ReadonlySet<string>;
  /** By the name of the sheet. */
  readonly hiddenLines: ReadonlyMap<string, HiddenLines>;
  /** By the name of the sheet; workbooks of Excel since 2007 only. */
  readonly writtenCells: ReadonlyMap<string, WrittenCells>;
  /** Formulas whose result the file does not hold, as programs write it that do not compute. */
  readonly formulasWithoutResult: number;
}

export const noFacts: SheetFacts = {
  hiddenSheets: new Set(),
  hiddenLines: new Map(),
  writtenCells: new Map(),
  formulasWithoutResult: 0,
};

/** Reads the sheets of a workbook of Excel since 2007. */
export async function readSheetFacts(archive: Archive): Promise<SheetFacts> {
  const hiddenLines = new Map<string, HiddenLines>();
  const writtenCells = new Map<string, WrittenCells>();
  const shared = await readSharedCellFacts(archive);
  let formulasWithoutResult = 0;
  for (const { name, part } of await sheetParts(archive)) {
    const sheet = new SheetScan(shared);
    await archive.xml(part, sheet);
    formulasWithoutResult += sheet.formulasWithoutResult;
    // Where a filter is set, nobody can tell which rows it hid.
    const isFiltered = sheet.isFiltered || (sheet.rows.size > 0 && (await hasFilteredTable(archive, part)));
    if (isFiltered) sheet.rows.clear();
    hiddenLines.set(name, sheet);
    writtenCells.set(name, sheet.writtenCells);
  }
  return { hiddenSheets: new Set(), hiddenLines, writtenCells, formulasWithoutResult };
}

class SheetScan implements XmlHandler, HiddenLines {
  readonly rows = new Set<number>();
  readonly #columns: { readonly from: number; readonly to: number }[] = [];
  #row = -1;
  #isFormula = false;
  #hasResult = false;
  isFiltered = false;
  formulasWithoutResult = 0;
  readonly writtenCells: WrittenCellsScan;

  constructor(shared: SharedCellFacts) {
    this.writtenCells = new WrittenCellsScan(shared);
  }

  open(name: string, attributes: XmlAttributes): void {
    this.writtenCells.open(name, attributes, this.#row);
    if (name === 'c') [this.#isFormula, this.#hasResult] = [false, false];
    else if (name === 'f') this.#isFormula = true;
    else if (name === 'v') this.#hasResult = true;
    else if (name === 'filterColumn') this.isFiltered = true;
    else if (name === 'col' && isHidden(attributes))
      this.#columns.push({ from: Number(attributes.min) - 1, to: Number(attributes.max) - 1 });
    else if (name === 'row') {
      this.#row = attributes.r === undefined ? this.#row + 1 : Number(attributes.r) - 1;
      if (isHidden(attributes)) this.rows.add(this.#row);
    }
  }

  text(text: string): void {
    this.writtenCells.text(text);
  }

  close(name: string): void {
    this.writtenCells.close(name);
    if (name === 'c' && this.#isFormula && !this.#hasResult) this.formulasWithoutResult += 1;
  }

  isColumnHidden(column: number): boolean {
    return this.#columns.some(({ from, to }) => column >= from && column <= to);
  }
}

/** Hidden, and not by a group that is closed. */
function isHidden({ hidden, outlineLevel }: XmlAttributes): boolean {
  return (hidden === '1' || hidden === 'true') && (outlineLevel ?? '0') === '0';
}

async function hasFilteredTable(archive: Archive, part: string): Promise<boolean> {
  let isFiltered = false;
  for (const { type, target, isExternal } of (await loadRelations(archive, part)).values()) {
    if (type !== 'table' || isExternal) continue;
    await archive.xml(target, {
      open(name) {
        isFiltered ||= name === 'filterColumn';
      },
    });
  }
  return isFiltered;
}

/**
 * Reads the tables of an OpenDocument spreadsheet.
 *
 * @param countOf  how often a row or column is repeated for the library.
 */
export async function readTableFacts(
  archive: Archive,
  countOf: (stated: number, kind: 'rows' | 'columns') => number,
): Promise<SheetFacts> {
  const hiddenStyles = new Set<string>();
  const hiddenSheets = new Set<string>();
  const hiddenLines = new Map<string, HiddenLines>();
  let style = '';
  let rows = new Set<number>();
  let columns = new Set<number>();
  let [row, column] = [0, 0];
  await archive.xml('content.xml', {
    open(name, attributes) {
      if (name === 'style') style = attribute(attributes, 'name') ?? '';
      else if (name === 'table-properties' && attribute(attributes, 'display') === 'false') hiddenStyles.add(style);
      else if (name === 'table') {
        const tableName = attribute(attributes, 'name') ?? '';
        if (hiddenStyles.has(attribute(attributes, 'style-name') ?? '')) hiddenSheets.add(tableName);
        const tableColumns = new Set<number>();
        [rows, columns, row, column] = [new Set(), tableColumns, 0, 0];
        hiddenLines.set(tableName, { rows, isColumnHidden: (number) => tableColumns.has(number) });
      } else if (name === 'table-row') {
        row = addHidden(rows, row, countOf(Number(attribute(attributes, 'number-rows-repeated')) || 1, 'rows'), attributes);
      } else if (name === 'table-column') {
        const count = countOf(Number(attribute(attributes, 'number-columns-repeated')) || 1, 'columns');
        column = addHidden(columns, column, count, attributes);
      }
    },
  });
  return { ...noFacts, hiddenSheets, hiddenLines };
}

/** @returns the number of the next line. */
function addHidden(lines: Set<number>, first: number, count: number, attributes: XmlAttributes): number {
  if (attribute(attributes, 'visibility') === 'collapse') for (let line = first; line < first + count; line += 1) lines.add(line);
  return first + count;
}
