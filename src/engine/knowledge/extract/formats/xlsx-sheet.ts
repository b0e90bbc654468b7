import { attribute, type XmlAttributes, type XmlHandler } from '../xml.ts';
import { formatNumber } from './cell-format.ts';
import { columnOf, type SheetCell, type SheetWriter } from './sheet-writer.ts';
import { type CellStyles, unescaped } from './xlsx-tables.ts';

export interface SheetContext {
  readonly strings: readonly string[];
  readonly styles: CellStyles;
  /** Comments by the reference of their cell. */
  readonly comments: ReadonlyMap<string, string>;
  readonly isDate1904: boolean;
}

const columnsMax = 16_384;

/** Writes the rows of a sheet while its XML is read. */
export class SheetReader implements XmlHandler {
  readonly #sheets: SheetWriter;
  readonly #context: SheetContext;
  #row: SheetCell[] = [];
  #lastRow = 0;
  #reference = '';
  #column = 0;
  #type = 'n';
  #style = 0;
  #value = '';
  #isValue = false;
  /** Inside the reading of Japanese text. */
  #isReading = false;
  /** Whether the bound on cells was reached. */
  isDone = false;

  constructor(sheets: SheetWriter, context: SheetContext) {
    this.#sheets = sheets;
    this.#context = context;
  }

  open(name: string, attributes: XmlAttributes): void {
    if (this.isDone) return;
    switch (name) {
      case 'row': {
        this.#row = [];
        this.#column = -1;
        const row = Number(attribute(attributes, 'r')) || this.#lastRow + 1;
        if (row > this.#lastRow + 1) this.#sheets.row([]);
        this.#lastRow = row;
        break;
      }
      case 'c':
        this.#reference = attributes.r ?? '';
        this.#column = Math.min(columnsMax, columnOf(this.#reference) ?? this.#column + 1);
        this.#type = attributes.t ?? 'n';
        this.#style = Number(attributes.s) || 0;
        this.#value = '';
        break;
      case 'v':
      case 't':
        this.#isValue = true;
        break;
      case 'rPh':
        this.#isReading = true;
        break;
    }
  }

  close(name: string): void {
    if (this.isDone) return;
    this.#isValue = false;
    if (name === 'rPh') this.#isReading = false;
    else if (name === 'c') this.#endCell();
    else if (name === 'row') this.#sheets.row(this.#row);
  }

  text(text: string): void {
    if (this.#isValue && !this.#isReading) this.#value += text;
  }

  #endCell(): void {
    if (!this.#sheets.count(1)) {
      this.isDone = true;
      return;
    }
    const shown = this.#value === '' ? '' : this.#shown();
    const comment = this.#context.comments.get(this.#reference);
    const text = comment === undefined ? shown : `${shown} (comment: ${comment})`.trim();
    if (text === '') return;
    const isText = this.#type === 's' || this.#type === 'str' || this.#type === 'inlineStr' || this.#value === '';
    this.#row.push({ column: this.#column, text, isText });
  }

  #shown(): string {
    const { strings, styles, isDate1904 } = this.#context;
    switch (this.#type) {
      case 's':
        return strings[Number(this.#value)] ?? '';
      case 'str':
      case 'inlineStr':
        return unescaped(this.#value);
      case 'e':
        return this.#value;
      case 'b':
        return this.#value === '1' || this.#value === 'true' ? 'TRUE' : 'FALSE';
      case 'd':
        return this.#value.replace(/T00:00(?::00(?:\.0+)?)?Z?$/, '');
      default: {
        const number = Number(this.#value);
        const format = styles[this.#style] ?? 0;
        // General needs no library.
        if (!Number.isFinite(number) || (format === 0 && Number.isInteger(number))) return this.#value;
        return formatNumber(number, format, isDate1904);
      }
    }
  }
}
