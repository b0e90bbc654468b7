import { attribute, type XmlAttributes } from '../../xml.ts';
import { isOn, type Styles } from './styles.ts';

/** Not part of the document as it is shown: the older form of a drawing, text at its old place, deleted text, former properties, ruby. */
const leftOut = new Set([
  'Fallback',
  'moveFrom',
  'del',
  'pPrChange',
  'rPrChange',
  'trPrChange',
  'tcPrChange',
  'numberingChange',
  'rt',
]);

/** Knows while XML of Word is read whether the text at this place is shown: it may be hidden by itself, by its style, by its paragraph's style, or by its row. */
export class ShownText {
  /** Texts that are hidden, one for each run of them. */
  hiddenCount = 0;
  readonly #styles: Styles;
  #leftOutDepth = 0;
  readonly #paragraphs: { style: string | undefined; isJoined: boolean }[] = [];
  readonly #runs: { style: string | undefined; isHidden: boolean | undefined }[] = [];
  readonly #rows: boolean[] = [];
  #rowProperties = 0;
  #paragraphProperties = 0;

  constructor(styles: Styles) {
    this.#styles = styles;
  }

  /** @returns whether the element counts. */
  open(name: string, attributes: XmlAttributes): boolean {
    const paragraph = this.#paragraphs.at(-1);
    if (this.#leftOutDepth > 0 || leftOut.has(name)) {
      if (name === 'del' && this.#paragraphProperties > 0 && paragraph !== undefined) paragraph.isJoined = true;
      this.#leftOutDepth += 1;
      return false;
    }
    const run = this.#runs.at(-1);
    if (name === 'p') this.#paragraphs.push({ style: undefined, isJoined: false });
    else if (name === 'pPr') this.#paragraphProperties += 1;
    else if (name === 'r') this.#runs.push({ style: undefined, isHidden: undefined });
    else if (name === 'tr') this.#rows.push(false);
    else if (name === 'trPr') this.#rowProperties += 1;
    else if (name === 'pStyle' && paragraph !== undefined) paragraph.style = attribute(attributes, 'val');
    else if (name === 'rStyle' && run !== undefined) run.style = attribute(attributes, 'val');
    else if (name === 'vanish' && run !== undefined) run.isHidden = isOn(attributes);
    else if (name === 'hidden' && this.#rowProperties > 0) this.#rows[this.#rows.length - 1] = isOn(attributes);
    return true;
  }

  /** @returns whether the element counted. */
  close(name: string): boolean {
    if (this.#leftOutDepth > 0) {
      this.#leftOutDepth -= 1;
      return false;
    }
    if (name === 'p') this.#paragraphs.pop();
    else if (name === 'pPr') this.#paragraphProperties -= 1;
    else if (name === 'r') this.#runs.pop();
    else if (name === 'tr') this.#rows.pop();
    else if (name === 'trPr') this.#rowProperties -= 1;
    return true;
  }

  get isShown(): boolean {
    return this.#leftOutDepth === 0 && !this.isRowHidden && !this.#isRunHidden();
  }

  /** Whether the end of the open paragraph is deleted: its words and those of the next one are one paragraph. */
  get isJoined(): boolean {
    return this.#paragraphs.at(-1)?.isJoined === true;
  }

  get isRowHidden(): boolean {
    return this.#rows.includes(true);
  }

  /** A style that hides text within a style that hides text shows it: such properties of Word switch. */
  #isRunHidden(): boolean {
    const run = this.#runs.at(-1);
    if (run?.isHidden !== undefined) return run.isHidden;
    const isHiddenBy = (style: string | undefined) => style !== undefined && this.#styles.hidden.has(style);
    return isHiddenBy(this.#paragraphs.at(-1)?.style ?? this.#styles.defaultParagraph) !== isHiddenBy(run?.style);
  }
}
