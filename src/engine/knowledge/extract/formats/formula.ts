import type { XmlAttributes } from '../xml.ts';
import { attribute } from '../xml.ts';

/** A part of a formula that is to be read as one: what is longer than one sign or number stands in parentheses. */
export function grouped(text: string): string {
  const part = text.trim();
  return /^(?:[\p{L}\p{N}.,]+|.?|\(.*\))$/u.test(part) && (part.length < 2 || /^[\d.,]+$|^\(/.test(part)) ? part : `(${part})`;
}

/** Marks before a part, by the element that holds it. */
const marks: Readonly<Record<string, string>> = { sup: '^', sub: '_', den: '/' };

/**
 * Formulas of Office programs in one line, as people type them: `c^2`, `(a+b)/2`, `√n`. The reader of the document hands over the elements inside
 * `oMath`, and the line that it has so far.
 */
export class FormulaReader {
  readonly #open: { readonly name: string; readonly start: number }[] = [];

  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  /** @returns the line, changed. */
  open(name: string, attributes: XmlAttributes, line: string): string {
    if (!this.isOpen && name !== 'oMath') return line;
    // The sign of a sum or an integral is an attribute.
    const sign = name === 'chr' && this.#open.at(-1)?.name === 'naryPr' ? (attribute(attributes, 'val') ?? '') : '';
    this.#open.push({ name, start: line.length });
    return line + sign;
  }

  /** @returns the line, changed. */
  close(line: string): string {
    const part = this.#open.pop();
    if (part === undefined) return line;
    const above = line.slice(0, part.start);
    const text = line.slice(part.start);
    if (text.trim() === '') return line;
    const parent = this.#open.at(-1)?.name;
    switch (part.name) {
      case 'sup':
      case 'sub':
      case 'den':
        return `${above}${marks[part.name]}${grouped(text)}`;
      case 'num':
        return `${above}${grouped(text)}`;
      case 'fName':
        return `${above}${text} `;
      case 'd':
        return `${above}(${text})`;
      case 'deg':
        // The degree of a root: none is a square root.
        return `${above}${text}`;
      case 'e':
        return parent === 'rad' ? `${above}√${grouped(text)}` : line;
      default:
        return line;
    }
  }
}
