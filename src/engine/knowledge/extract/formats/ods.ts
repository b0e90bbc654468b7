import { oneLine } from '../../../../lib/text.ts';
import type { Archive } from '../archive.ts';
import { type DocumentWriter, tooMuchText } from '../document-writer.ts';
import { damaged, encrypted } from '../error.ts';
import { attribute, type XmlAttributes, type XmlHandler } from '../xml.ts';
import { type SheetCell, SheetWriter } from './sheet-writer.ts';

/** Equal rows beyond this are written once. */
const equalRowsMax = 100;
/** Equal cells beside each other beyond this are written once. */
const equalCellsMax = 100;

/** An OpenDocument spreadsheet, sheet by sheet: values as they are shown, and comments. Hidden sheets and macros are left out. */
export async function readOds(archive: Archive, writer: DocumentWriter): Promise<void> {
  archive.what = 'The spreadsheet';
  await requirePlain(archive);
  writer.title = await readTitle(archive);
  if (!(await archive.xml('content.xml', new OdsReader(writer)))) throw damaged(archive.what);
}

/** The manifest names the parts that are encrypted. */
async function requirePlain(archive: Archive): Promise<void> {
  await archive.xml('META-INF/manifest.xml', {
    open(name) {
      if (name === 'encryption-data') throw encrypted(archive.what);
    },
  });
}

async function readTitle(archive: Archive): Promise<string | null> {
  let isTitle = false;
  let title = '';
  await archive.xml('meta.xml', {
    open: (name) => {
      isTitle = name === 'title';
    },
    close: () => {
      isTitle = false;
    },
    text: (text) => {
      if (isTitle) title += text;
    },
  });
  return title.trim() === '' ? null : title;
}

interface OpenCell {
  readonly column: number;
  readonly repeated: number;
  readonly isText: boolean;
  text: string;
  comment: string;
}

class OdsReader implements XmlHandler {
  readonly #writer: DocumentWriter;
  readonly #sheets: SheetWriter;
  readonly #hiddenStyles = new Set<string>();
  #style = '';
  #isSheet = false;
  #row: SheetCell[] = [];
  #rowRepeated = 1;
  #column = 0;
  #cell: OpenCell | undefined;
  #commentDepth = 0;
  #paragraphDepth = 0;
  #chars = 0;
  /** Whether the bound on cells was reached. */
  isDone = false;

  constructor(writer: DocumentWriter) {
    this.#writer = writer;
    this.#sheets = new SheetWriter(writer);
  }

  open(name: string, attributes: XmlAttributes): void {
    if (this.isDone) return;
    switch (name) {
      case 'style':
        this.#style = attribute(attributes, 'name') ?? '';
        break;
      case 'table-properties':
        if (attribute(attributes, 'display') === 'false') this.#hiddenStyles.add(this.#style);
        break;
      case 'table':
        this.#isSheet = !this.#hiddenStyles.has(attribute(attributes, 'style-name') ?? '');
        if (this.#isSheet) this.#sheets.begin(attribute(attributes, 'name') ?? '');
        break;
      case 'table-row':
        this.#row = [];
        this.#column = 0;
        this.#rowRepeated = repeated(attributes, 'number-rows-repeated');
        break;
      case 'table-cell':
      case 'covered-table-cell':
        this.#openCell(attributes);
        break;
      case 'annotation':
        this.#commentDepth += 1;
        break;
      case 'p':
        this.#paragraphDepth += 1;
        this.#add(' ');
        break;
      case 's':
      case 'tab':
      case 'line-break':
        this.#add(' ');
        break;
    }
  }

  close(name: string): void {
    if (this.isDone) return;
    if (name === 'annotation') this.#commentDepth -= 1;
    else if (name === 'p') this.#paragraphDepth -= 1;
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#closeCell();
    else if (name === 'table-row') this.#closeRow();
    else if (name === 'table' && this.#isSheet) {
      this.#sheets.end();
      this.#isSheet = false;
    }
  }

  text(text: string): void {
    if (this.#paragraphDepth > 0) this.#add(text);
  }

  #openCell(attributes: XmlAttributes): void {
    const type = attribute(attributes, 'value-type') ?? 'string';
    const count = repeated(attributes, 'number-columns-repeated');
    this.#cell = { column: this.#column, repeated: count, isText: type === 'string', text: '', comment: '' };
    this.#column += count;
    if (!this.#isSheet || this.#sheets.count(1)) return;
    this.isDone = true;
    this.#sheets.cut();
  }

  #closeCell(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    if (cell === undefined) return;
    const comment = oneLine(cell.comment);
    const text = `${oneLine(cell.text)}${comment === '' ? '' : ` (comment: ${comment})`}`.trim();
    if (text === '') return;
    const count = cell.repeated > equalCellsMax ? 1 : cell.repeated;
    for (let index = 0; index < count; index += 1) this.#row.push({ column: cell.column + index, text, isText: cell.isText });
  }

  #closeRow(): void {
    if (!this.#isSheet) return;
    const count = this.#row.length === 0 || this.#rowRepeated > equalRowsMax ? 1 : this.#rowRepeated;
    for (let index = 0; index < count; index += 1) this.#sheets.row(this.#row);
  }

  #add(text: string): void {
    if (this.#cell === undefined || !this.#isSheet) return;
    this.#chars += text.length;
    if (this.#chars > this.#writer.textMaxChars) throw tooMuchText(this.#writer.textMaxChars);
    if (this.#commentDepth > 0) this.#cell.comment += text;
    else this.#cell.text += text;
  }
}

function repeated(attributes: XmlAttributes, name: string): number {
  const count = Number(attribute(attributes, name));
  return Number.isInteger(count) && count > 0 ? count : 1;
}
