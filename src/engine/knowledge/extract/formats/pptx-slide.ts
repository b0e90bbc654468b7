import { oneLine } from '../../../../lib/text/text.ts';
import { tooMuchText } from '../document-writer.ts';
import type { XmlAttributes, XmlHandler } from '../xml.ts';
import { FormulaReader } from './formula.ts';
import { formatNumber, type NumberFormat } from './list-numbers.ts';
import { withScript, withStruck } from './raised.ts';
import { type SpannedCell, spannedRows } from './spanned-rows.ts';

/** The text of one shape. */
export interface ShapeText {
  /** Of its placeholder: `title`, `body` or another; `''` outside placeholders. */
  role: string;
  /** `label`: the number before the line; `''` for lines without one. */
  readonly lines: { readonly level: number; readonly label: string; readonly text: string }[];
  /** Cells of a table; empty for other shapes. */
  readonly rows: readonly (readonly string[])[];
}

interface OpenShape extends ShapeText {
  readonly cells: SpannedCell[][];
  isHidden: boolean;
  readonly isPicture: boolean;
  /** Whether the first row of its table names the columns. */
  hasHead: boolean;
  /** The last number of each level of its list. */
  readonly numbers: (number | undefined)[];
}

/** How a line is numbered. */
interface LineNumbering {
  readonly format: NumberFormat;
  readonly start: number;
  /** `(#)`, `#)`, `#.` or `#`. */
  readonly frame: string;
}

/** Placeholders that are the same on each slide. */
const repeatedRoles = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);
/** Elements that hold the text of one shape; comments and diagrams have others than slides. */
const shapeElements = new Set(['sp', 'graphicFrame', 'pic', 'grpSp', 'cm', 'reply', 'pt']);
const columnsMax = 1_000;

/** Collects the shapes of a slide, or of a part that belongs to one, while its XML is read. */
export class SlideReader implements XmlHandler {
  readonly #textMaxChars: number;
  readonly #open: OpenShape[] = [];
  #chars = 0;
  #fallbackDepth = 0;
  #line = '';
  #level = 0;
  #numbering: LineNumbering | undefined;
  readonly #formula = new FormulaReader();
  /** How far the run is raised, below 0 lowered; where the last such text ended. */
  #raise = 0;
  #raiseEnd = -1;
  #isStruck = false;
  #struckEnd = -1;
  #isText = false;
  /** Cell of a table that is being read. */
  #cell: (SpannedCell & { text: string; isCovered: boolean }) | undefined;
  /** Shapes that are hidden. */
  hiddenCount = 0;
  #title = '';
  readonly shapes: ShapeText[] = [];
  isHidden = false;

  constructor(textMaxChars: number) {
    this.#textMaxChars = textMaxChars;
  }

  get title(): string {
    return this.#title;
  }

  open(name: string, attributes: XmlAttributes): void {
    if (this.#fallbackDepth > 0 || name === 'Fallback') {
      this.#fallbackDepth += 1;
      return;
    }
    const shape = this.#open.at(-1);
    this.#line = this.#formula.open(name, attributes, this.#line);
    if (shapeElements.has(name)) this.#open.push(newShape(name, shape?.isHidden === true));
    switch (name) {
      case 'sld':
        this.isHidden = /^(?:0|false)$/.test(attributes.show ?? '1');
        break;
      case 'ph':
        if (shape !== undefined) shape.role = attributes.type === 'ctrTitle' ? 'title' : (attributes.type ?? 'body');
        break;
      case 'cNvPr':
        if (shape !== undefined) describe(shape, attributes);
        break;
      case 'p':
        this.#line = '';
        this.#level = 0;
        this.#numbering = undefined;
        break;
      case 'pPr':
        this.#level = Math.min(8, Number(attributes.lvl) || 0);
        break;
      case 'buAutoNum':
        this.#numbering = toNumbering(attributes);
        break;
      case 'rPr':
        this.#raise = Number(attributes.baseline) || 0;
        this.#isStruck = /Strike$/.test(attributes.strike ?? '') && attributes.strike !== 'noStrike';
        break;
      case 'br':
        this.#line += ' ';
        break;
      case 't':
      case 'text':
        this.#isText = true;
        break;
      case 'tblPr':
        if (shape !== undefined) shape.hasHead = attributes.firstRow === '1';
        break;
      case 'tr':
        shape?.cells.push([]);
        break;
      case 'tc':
        this.#cell = {
          text: '',
          rows: attributes.rowSpan,
          columns: attributes.gridSpan,
          isHead: shape?.hasHead === true && shape.cells.length === 1,
          isCovered: attributes.hMerge === '1' || attributes.vMerge === '1',
        };
        break;
    }
  }

  close(name: string): void {
    if (this.#fallbackDepth > 0) {
      this.#fallbackDepth -= 1;
      return;
    }
    this.#isText = false;
    this.#line = this.#formula.close(this.#line);
    if (name === 'r') [this.#raise, this.#isStruck] = [0, false];
    if (name === 'p') this.#endLine();
    else if (name === 'tc') this.#endCell();
    else if (shapeElements.has(name)) this.#endShape();
  }

  text(text: string): void {
    if (!this.#isText || this.#fallbackDepth > 0) return;
    this.#chars += text.length;
    if (this.#chars > this.#textMaxChars) throw tooMuchText(this.#textMaxChars);
    if (this.#isStruck && text.trim() !== '') this.#addStruck(text);
    else if (this.#raise === 0) this.#line += text;
    else this.#addRaised(text);
  }

  #addStruck(text: string): void {
    this.#line = withStruck(this.#line, text, this.#struckEnd === this.#line.length);
    this.#struckEnd = this.#line.length;
  }

  /** Adds a raised or lowered text, which may come in several runs. */
  #addRaised(text: string): void {
    this.#line = withScript(this.#line, text, this.#raise > 0, this.#raiseEnd === this.#line.length);
    this.#raiseEnd = this.#line.length;
  }

  #endLine(): void {
    const text = oneLine(this.#line);
    this.#line = '';
    [this.#raiseEnd, this.#struckEnd] = [-1, -1];
    if (text === '') return;
    const shape = this.#open.at(-1);
    if (this.#cell === undefined && shape !== undefined)
      shape.lines.push({ level: this.#level, label: countLine(shape, this.#level, this.#numbering), text });
    else if (this.#cell !== undefined) this.#cell.text += `${this.#cell.text === '' ? '' : ' '}${text}`;
  }

  #endCell(): void {
    const row = this.#open.at(-1)?.cells.at(-1);
    const cell = this.#cell;
    this.#cell = undefined;
    // Cells that a wider or higher one covers follow it, without text.
    if (cell !== undefined && !cell.isCovered && row !== undefined && row.length < columnsMax) row.push(cell);
  }

  #endShape(): void {
    // A comment may hold its text without a paragraph.
    this.#endLine();
    const shape = this.#open.pop();
    if (shape === undefined || repeatedRoles.has(shape.role)) return;
    const { role, lines, cells } = shape;
    if (lines.length === 0 && cells.length === 0) return;
    if (shape.isHidden) {
      this.hiddenCount += 1;
      return;
    }
    if (role === 'title') this.#title = oneLine(`${this.#title} ${lines.map(({ text }) => text).join(' ')}`);
    this.shapes.push({ role, lines, rows: spannedRows(cells) });
  }
}

function newShape(name: string, isHidden: boolean): OpenShape {
  return { role: '', lines: [], rows: [], cells: [], isHidden, isPicture: name === 'pic', hasHead: false, numbers: [] };
}

/** What a slide says of a shape besides its text: whether it is hidden, and the words for a picture. */
function describe(shape: OpenShape, { hidden, descr }: XmlAttributes): void {
  if (hidden === '1' || hidden === 'true') shape.isHidden = true;
  const text = oneLine(descr ?? '');
  if (text !== '' && shape.isPicture) shape.lines.push({ level: 0, label: '', text });
}

/** Counts a line of a list. @returns the number before it. */
function countLine({ numbers }: OpenShape, level: number, numbering: LineNumbering | undefined): string {
  numbers.length = Math.min(numbers.length, level + 1);
  if (numbering === undefined) {
    numbers[level] = undefined;
    return '';
  }
  const number = (numbers[level] ?? numbering.start - 1) + 1;
  numbers[level] = number;
  return numbering.frame.replace('#', formatNumber(number, numbering.format));
}

const numberFormats: readonly (readonly [RegExp, NumberFormat])[] = [
  [/^alphaLc/, 'lowerLetter'],
  [/^alphaUc/, 'upperLetter'],
  [/^romanLc/, 'lowerRoman'],
  [/^romanUc/, 'upperRoman'],
];

/** From `type`, such as `arabicPeriod` or `alphaLcParenBoth`, and `startAt`. */
function toNumbering({ type = '', startAt }: XmlAttributes): LineNumbering {
  const format = numberFormats.find(([name]) => name.test(type))?.[1] ?? 'decimal';
  const start = Math.max(1, Math.trunc(Number(startAt)) || 1);
  const frame = type.endsWith('ParenBoth') ? '(#)' : type.endsWith('ParenR') ? '#)' : type.endsWith('Plain') ? '#' : '#.';
  return { format, start, frame };
}
