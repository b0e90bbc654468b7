import type { Archive } from '../../archive.ts';
import { attribute, type XmlAttributes, type XmlHandler } from '../../xml.ts';
import { withScript, withStruck } from '../raised.ts';

/** Texts of cells that are not what the library gives: figures are raised, words are struck out. */
export interface WrittenCells {
  /** The text of a cell with raised, lowered or struck words written out. Rows and columns count from 0. */
  textAt(row: number, column: number): string | undefined;
  isStruck(row: number, column: number): boolean;
}

export const noWrittenCells: WrittenCells = { textAt: () => undefined, isStruck: () => false };

/** What the cells of all sheets share. */
export interface SharedCellFacts {
  /** Shared texts with raised, lowered or struck words, by their number. */
  readonly texts: ReadonlyMap<string, string>;
  /** Numbers of the cell formats whose font is struck. */
  readonly struckFormats: ReadonlySet<string>;
}

export async function readSharedCellFacts(archive: Archive): Promise<SharedCellFacts> {
  const strings = new SharedStrings();
  await archive.xml('xl/sharedStrings.xml', strings);
  const styles = new StruckFormats();
  await archive.xml('xl/styles.xml', styles);
  return { texts: strings.texts, struckFormats: styles.formats };
}

/** Collects the runs of a text. */
export class RunText {
  text = '';
  /** Whether the text says something by form. */
  isWritten = false;
  #isText = false;
  #phoneticDepth = 0;
  #isStruck = false;
  #struckEnd = -1;
  #script: string | undefined;
  #scriptEnd = -1;

  open(name: string, attributes: XmlAttributes): void {
    if (name === 'r') [this.#isStruck, this.#script] = [false, undefined];
    else if (name === 'rPh') this.#phoneticDepth += 1;
    else if (name === 'strike') this.#isStruck = isOn(attributes);
    else if (name === 'vertAlign') this.#script = attribute(attributes, 'val');
    this.#isText = name === 't';
  }

  close(name: string): void {
    this.#isText = false;
    if (name === 'rPh') this.#phoneticDepth -= 1;
  }

  add(text: string): void {
    if (!this.#isText || this.#phoneticDepth > 0) return;
    if (this.#isStruck && text.trim() !== '') this.#addStruck(text);
    else if (this.#script === 'superscript' || this.#script === 'subscript') this.#addScript(text, this.#script);
    else this.text += text;
  }

  #addStruck(text: string): void {
    this.text = withStruck(this.text, text, this.#struckEnd === this.text.length);
    this.#struckEnd = this.text.length;
    this.isWritten = true;
  }

  #addScript(text: string, script: 'superscript' | 'subscript'): void {
    const plain = this.text + text;
    this.text = withScript(this.text, text, script === 'superscript', this.#scriptEnd === this.text.length);
    this.#scriptEnd = this.text.length;
    this.isWritten ||= this.text !== plain;
  }
}

class SharedStrings implements XmlHandler {
  readonly texts = new Map<string, string>();
  #number = -1;
  #runs: RunText | undefined;

  open(name: string, attributes: XmlAttributes): void {
    if (name === 'si') {
      this.#number += 1;
      this.#runs = new RunText();
    } else this.#runs?.open(name, attributes);
  }

  close(name: string): void {
    this.#runs?.close(name);
    if (name !== 'si') return;
    if (this.#runs?.isWritten === true) this.texts.set(String(this.#number), this.#runs.text);
    this.#runs = undefined;
  }

  text(text: string): void {
    this.#runs?.add(text);
  }
}

class StruckFormats implements XmlHandler {
  readonly formats = new Set<string>();
  readonly #struckFonts = new Set<number>();
  #isInFonts = false;
  #isInFormats = false;
  #font = -1;
  #format = -1;

  open(name: string, attributes: XmlAttributes): void {
    if (name === 'fonts') this.#isInFonts = true;
    else if (name === 'cellXfs') this.#isInFormats = true;
    else if (name === 'font' && this.#isInFonts) this.#font += 1;
    else if (name === 'strike' && this.#isInFonts && isOn(attributes)) this.#struckFonts.add(this.#font);
    else if (name === 'xf' && this.#isInFormats) {
      this.#format += 1;
      if (this.#struckFonts.has(Number(attributes.fontId ?? '0'))) this.formats.add(String(this.#format));
    }
  }

  close(name: string): void {
    if (name === 'fonts') this.#isInFonts = false;
    else if (name === 'cellXfs') this.#isInFormats = false;
  }
}

/** Gathers the written cells of one sheet while its XML is read. */
export class WrittenCellsScan implements WrittenCells {
  readonly #shared: SharedCellFacts;
  readonly #texts = new Map<string, string>();
  readonly #struck = new Set<string>();
  #cell: { readonly key: string; readonly isShared: boolean; readonly isStruck: boolean } | undefined;
  #column = -1;
  #value: string | undefined;
  #inline: RunText | undefined;

  constructor(shared: SharedCellFacts) {
    this.#shared = shared;
  }

  /** @param row  of the element, from 0. */
  open(name: string, attributes: XmlAttributes, row: number): void {
    if (this.#inline !== undefined) this.#inline.open(name, attributes);
    else if (name === 'row') this.#column = -1;
    else if (name === 'c') {
      this.#column = columnOf(attributes.r) ?? this.#column + 1;
      const isStruck = this.#shared.struckFormats.has(attributes.s ?? '0');
      this.#cell = { key: keyOf(row, this.#column), isShared: attributes.t === 's', isStruck };
      if (isStruck) this.#struck.add(this.#cell.key);
    } else if (name === 'v' && this.#cell?.isShared === true) this.#value = '';
    else if (name === 'is') this.#inline = new RunText();
  }

  close(name: string): void {
    if (name === 'is') {
      if (this.#cell !== undefined && this.#inline?.isWritten === true) this.#texts.set(this.#cell.key, this.#inline.text);
      this.#inline = undefined;
    } else if (name === 'v' && this.#cell !== undefined && this.#value !== undefined) {
      const text = this.#shared.texts.get(this.#value.trim());
      if (text !== undefined) this.#texts.set(this.#cell.key, text);
      this.#value = undefined;
    }
    this.#inline?.close(name);
  }

  text(text: string): void {
    if (this.#inline !== undefined) this.#inline.add(text);
    else if (this.#value !== undefined) this.#value += text;
  }

  textAt(row: number, column: number): string | undefined {
    return this.#texts.get(keyOf(row, column));
  }

  isStruck(row: number, column: number): boolean {
    return this.#struck.has(keyOf(row, column));
  }
}

function keyOf(row: number, column: number): string {
  return `${row},${column}`;
}

/** From an address such as `AB12`, from 0. */
function columnOf(address: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(address ?? '')?.[0];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

function isOn(attributes: XmlAttributes): boolean {
  return !/^(?:0|false|off)$/.test(attribute(attributes, 'val') ?? '1');
}
