import { oneLine } from '../../../../lib/text/text.ts';
import { tooMuchText } from '../document-writer.ts';
import type { XmlAttributes, XmlHandler } from '../xml.ts';

/** The text of one shape. */
export interface ShapeText {
  /** Of its placeholder: `title`, `body` or another; `''` outside placeholders. */
  role: string;
  readonly lines: { readonly level: number; readonly text: string }[];
  /** Cells of a table; empty for other shapes. */
  readonly rows: string[][];
}

/** Placeholders that are the same on each slide. */
const repeatedRoles = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);
/** Elements that hold the text of one shape; comments and diagrams have others than slides. */
const shapeElements = new Set(['sp', 'graphicFrame', 'cm', 'reply', 'pt']);
const columnsMax = 1_000;

/** Collects the shapes of a slide, or of a part that belongs to one, while its XML is read. */
export class SlideReader implements XmlHandler {
  readonly #textMaxChars: number;
  readonly #open: ShapeText[] = [];
  #chars = 0;
  #fallbackDepth = 0;
  #line = '';
  #level = 0;
  #isText = false;
  /** Cell of a table that is being read. */
  #cell: { text: string } | undefined;
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
    if (shapeElements.has(name)) this.#open.push({ role: '', lines: [], rows: [] });
    switch (name) {
      case 'sld':
        this.isHidden = /^(?:0|false)$/.test(attributes.show ?? '1');
        break;
      case 'ph':
        if (shape !== undefined) shape.role = attributes.type === 'ctrTitle' ? 'title' : (attributes.type ?? 'body');
        break;
      case 'p':
        this.#line = '';
        this.#level = 0;
        break;
      case 'pPr':
        this.#level = Math.min(8, Number(attributes.lvl) || 0);
        break;
      case 'br':
        this.#line += ' ';
        break;
      case 't':
      case 'text':
        this.#isText = true;
        break;
      case 'tr':
        shape?.rows.push([]);
        break;
      case 'tc':
        this.#cell = { text: '' };
        break;
    }
  }

  close(name: string): void {
    if (this.#fallbackDepth > 0) {
      this.#fallbackDepth -= 1;
      return;
    }
    this.#isText = false;
    if (name === 'p') this.#endLine();
    else if (name === 'tc') this.#endCell();
    else if (shapeElements.has(name)) this.#endShape();
  }

  text(text: string): void {
    if (!this.#isText || this.#fallbackDepth > 0) return;
    this.#chars += text.length;
    if (this.#chars > this.#textMaxChars) throw tooMuchText(this.#textMaxChars);
    this.#line += text;
  }

  #endLine(): void {
    const text = oneLine(this.#line);
    this.#line = '';
    if (text === '') return;
    if (this.#cell === undefined) this.#open.at(-1)?.lines.push({ level: this.#level, text });
    else this.#cell.text += `${this.#cell.text === '' ? '' : ' '}${text}`;
  }

  #endCell(): void {
    const row = this.#open.at(-1)?.rows.at(-1);
    // Cells that a wider one covers follow it, without text.
    if (this.#cell !== undefined && row !== undefined && row.length < columnsMax) row.push(this.#cell.text);
    this.#cell = undefined;
  }

  #endShape(): void {
    // A comment may hold its text without a paragraph.
    this.#endLine();
    const shape = this.#open.pop();
    if (shape === undefined || repeatedRoles.has(shape.role) || (shape.lines.length === 0 && shape.rows.length === 0)) return;
    if (shape.role === 'title') this.#title = oneLine(`${this.#title} ${shape.lines.map(({ text }) => text).join(' ')}`);
    this.shapes.push(shape);
  }
}
