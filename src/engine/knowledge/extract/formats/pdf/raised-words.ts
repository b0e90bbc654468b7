import { loweredText, raisedText } from '../raised.ts';
import type { Glyph } from './glyphs.ts';

/** A word with a raised or lowered part: `106` that is shown as 10⁶. */
export interface RaisedWord {
  /** The word before it on its line; `''` at the beginning. */
  readonly before: string;
  readonly plain: string;
  readonly written: string;
}

/** Smaller than the glyph before it by this factor. */
const sizeMaxShare = 0.85;
/** How far its baseline is away from the one of that glyph, in sizes of the larger font. */
const riseMinEms = 0.08;
const riseMaxEms = 0.8;
/** A wider gap, in sizes of the font, ends a word. */
const gapMaxEms = 0.18;
/** Words of one page that are looked for. */
const wordsMax = 500;

/** Finds the words with raised or lowered figures in the order in which the page draws them. */
export function findRaisedWords(glyphs: readonly Glyph[]): RaisedWord[] {
  const words: RaisedWord[] = [];
  const walk = new WordWalk(words);
  for (const glyph of glyphs) {
    if (words.length >= wordsMax) break;
    walk.add(glyph);
  }
  walk.endWord();
  return words;
}

class WordWalk {
  readonly #words: RaisedWord[];
  #before = '';
  #plain = '';
  #written = '';
  /** The part that is raised (above 0) or lowered. */
  #part = '';
  #rise = 0;
  /** The last glyph on the baseline of the word, and the last one of all. */
  #base: Glyph | undefined;
  #last: Glyph | undefined;

  constructor(words: RaisedWord[]) {
    this.#words = words;
  }

  add(glyph: Glyph): void {
    const { across } = place(glyph);
    const base = this.#base;
    const follows = this.#last !== undefined && isNext(this.#last, glyph);
    const rise = base === undefined ? 0 : across - place(base).across;
    const reach = base === undefined ? 0 : Math.abs(rise) / base.size;
    const isPart =
      follows && base !== undefined && glyph.size < sizeMaxShare * base.size && reach > riseMinEms && reach < riseMaxEms;
    const isBack = follows && base !== undefined && reach < riseMinEms;
    this.#last = glyph;
    if (glyph.text.trim() === '') {
      this.endWord();
      this.#base = undefined;
      return;
    }
    if (isPart) {
      if (Math.sign(rise) !== Math.sign(this.#rise)) this.#endPart();
      this.#rise = rise;
      this.#part += glyph.text;
      return;
    }
    if (!isBack) this.endWord(base === undefined || isSameLine(base, glyph));
    this.#endPart();
    this.#plain += glyph.text;
    this.#written += glyph.text;
    this.#base = glyph;
  }

  /** @param isLineGoing  whether the next word is of the same line. */
  endWord(isLineGoing = true): void {
    this.#endPart();
    if (this.#plain !== this.#written) this.#words.push({ before: this.#before, plain: this.#plain, written: this.#written });
    if (!isLineGoing) this.#before = '';
    else if (this.#plain !== '') this.#before = this.#plain;
    this.#plain = '';
    this.#written = '';
  }

  #endPart(): void {
    const part = this.#part;
    if (part === '') return;
    this.#written += this.#rise > 0 ? raisedText(this.#written, part) : loweredText(this.#written, part);
    this.#plain += part;
    this.#part = '';
    this.#rise = 0;
  }
}

function place({ x, y, angle }: Glyph): { readonly along: number; readonly across: number } {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return { along: x * cos + y * sin, across: y * cos - x * sin };
}

function isSameLine(one: Glyph, other: Glyph): boolean {
  const isTurned = Math.abs(one.angle - other.angle) > 0.01;
  return !isTurned && Math.abs(place(one).across - place(other).across) < riseMinEms * one.size;
}

/** Whether a glyph stands right behind another, in its line or a little above or below it. */
function isNext(one: Glyph, other: Glyph): boolean {
  if (Math.abs(one.angle - other.angle) > 0.01) return false;
  const gap = place(other).along - place(one).along - one.width;
  return Math.abs(gap) < gapMaxEms * Math.max(one.size, other.size);
}

/** Writes the words where a text has them without their signs. */
export function withRaisedWords(text: string, words: readonly RaisedWord[]): string {
  let written = text;
  let from = 0;
  for (const word of words) {
    const at = findWord(written, word, from) ?? findWord(written, word, 0);
    if (at === undefined) continue;
    written = written.slice(0, at) + word.written + written.slice(at + word.plain.length);
    from = at + word.written.length;
  }
  return written;
}

/** @returns where the word stands for itself behind the same word as on the page. */
function findWord(text: string, { before, plain }: RaisedWord, from: number): number | undefined {
  for (let at = text.indexOf(plain, from); at !== -1; at = text.indexOf(plain, at + 1)) {
    const isWhole = !/[\p{L}\p{N}]/u.test(`${text[at - 1] ?? ''}${text[at + plain.length] ?? ''}`);
    if (isWhole && (before === '' || text.slice(0, at).trimEnd().endsWith(before))) return at;
  }
  return undefined;
}
