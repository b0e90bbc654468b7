import { createRequire } from 'node:module';
import { oneLine } from '../../../../../lib/text/text.ts';
import type { DocumentWriter } from '../../document-writer.ts';

const { utils }: typeof import('@e965/xlsx') = createRequire(import.meta.url)('@e965/xlsx');

export interface SheetCell {
  /** From 0. */
  readonly column: number;
  /** As it is shown. */
  readonly text: string;
  /** Whether it is text, not a number, date or truth value: a row of nothing but text may be a head. */
  readonly isText: boolean;
  /** Where the cell lies in a merged one, seen from its first cell. */
  readonly cover?: 'below' | 'right';
}

/** Rows of one block; passages may be cut between any two rows. */
const rowsPerBlock = 50;

/**
 * Writes the sheets of a workbook: a heading for each sheet, then one line for each row, each cell with its column's name
 * (`- part: chains; usual stock: 60`). The first row with several cells names the columns if they are all text; else columns have their
 * letters. A second row of nothing but text below a head with merged cells belongs to the head. A lone cell above a table is a paragraph. Another table begins after an empty row, with a row of nothing but text, below a
 * lone cell or where numbers were.
 */
export class SheetWriter {
  readonly #writer: DocumentWriter;
  /** The name of a sheet without rows so far: an empty sheet leaves no heading. */
  #name = '';
  /** Names of the columns; undefined above the first table. */
  #columns: ReadonlyMap<number, string> | undefined;
  /** Names of columns that a row of the table has a value for. */
  readonly #usedNames = new Set<string>();
  /** Whether no row came after the head. */
  #isHeadOnly = false;
  /** Whether the head is one row, with a cell merged over several columns: the names below it complete it. */
  #isHalfHead = false;
  /** Columns of the table that have held numbers. */
  readonly #numbers = new Set<number>();
  #isAfterGap = false;
  #isAfterTitle = false;
  #lines: string[] = [];

  constructor(writer: DocumentWriter) {
    this.#writer = writer;
  }

  begin(name: string): void {
    this.#name = name;
  }

  /** @param cells  in the order of their columns; none for an empty row. */
  row(all: readonly SheetCell[]): void {
    const cells = all.filter(({ cover }) => cover !== 'right');
    const [first] = cells;
    if (first === undefined) {
      this.#isAfterGap = true;
      return;
    }
    this.#writer.heading(1, this.#name);
    this.#name = '';
    if (cells.length === 1 && (this.#columns === undefined || (this.#isAfterGap && first.isText))) {
      this.#flush();
      this.#writer.block('paragraph', first.text);
      this.#isAfterTitle = true;
      return;
    }
    const isText = cells.length > 1 && cells.every((cell) => cell.isText);
    if (this.#isHalfHead && isText && !this.#isAfterGap && this.#columns !== undefined) {
      this.#columns = joinedNames(this.#columns, cells);
      this.#isHalfHead = false;
      return;
    }
    this.#isHalfHead = false;
    if (this.#columns !== undefined && !(isText && this.#beginsTable(cells))) this.#addLine(cells, this.#columns);
    else {
      this.#endTable();
      this.#numbers.clear();
      this.#columns = new Map(isText ? all.map(({ column, text }) => [column, oneLine(text)]) : []);
      this.#isHeadOnly = isText;
      this.#isHalfHead = isText && all.length > cells.length;
      if (!isText) this.#addLine(cells, this.#columns);
    }
    this.#isAfterGap = false;
    this.#isAfterTitle = false;
  }

  /** Ends the sheet. */
  end(): void {
    this.#endTable();
    this.#columns = undefined;
    this.#isAfterGap = false;
    this.#isAfterTitle = false;
  }

  /** Adds a text that lies over the cells. */
  textBox(text: string): void {
    this.#writer.heading(1, this.#name);
    this.#name = '';
    this.#writer.block('paragraph', text);
  }

  #beginsTable(cells: readonly SheetCell[]): boolean {
    if (!this.#isAfterGap) return false;
    return this.#isAfterTitle || cells.some(({ column }) => this.#numbers.has(column) || this.#columns?.has(column) !== true);
  }

  #addLine(cells: readonly SheetCell[], columns: ReadonlyMap<number, string>): void {
    const namedCells = cells.map(({ column, text, isText }) => {
      if (!isText) this.#numbers.add(column);
      const name = columns.get(column) ?? `column ${utils.encode_col(column)}`;
      this.#usedNames.add(name);
      return `${name}: ${oneLine(text)}`;
    });
    this.#isHeadOnly = false;
    this.#lines.push(`- ${namedCells.join('; ')}`);
    if (this.#lines.length >= rowsPerBlock) this.#flush();
  }

  /** Names of columns without a value are words of the sheet as well, such as the blanks of a form: they stand below the rows. */
  #endTable(): void {
    if (!this.#isHeadOnly) {
      const unusedNames = [...new Set(this.#columns?.values())].filter((name) => !this.#usedNames.has(name));
      if (unusedNames.length > 0) this.#lines.push(`- ${unusedNames.map((name) => `${name}:`).join(' ')}`);
    }
    this.#usedNames.clear();
    this.#flush();
  }

  /** Writes the rows so far. A table with only its head row still tells what it is about. */
  #flush(): void {
    if (this.#isHeadOnly && this.#columns !== undefined)
      this.#writer.block('table', [...new Set(this.#columns.values())].join('; '));
    this.#isHeadOnly = false;
    this.#writer.block('table', this.#lines.join('\n'));
    this.#lines = [];
  }
}

/** Names of columns in two rows: `2026 Q1`. A cell that is merged over both rows names its column once. */
function joinedNames(above: ReadonlyMap<number, string>, below: readonly SheetCell[]): ReadonlyMap<number, string> {
  const names = new Map(above);
  for (const { column, text } of below) {
    const [first, second] = [above.get(column), oneLine(text)];
    names.set(column, first === undefined || first === second ? second : `${first} ${second}`);
  }
  return names;
}
