import type { TextStream } from '../masking.ts';

/** What a stream asks of the patterns. */
export interface MaskingRule {
  mask(text: string): string;
  maskBeginning(text: string): MaskedBeginning;
  /** They change when a value is added; undefined: the patterns must see all. */
  charClasses(): CharClasses | undefined;
}

/** What may leave of a text that goes on. The rest, from `open`, may be the beginning of a value: it waits. */
export interface MaskedBeginning {
  readonly masked: string;
  readonly open: number;
}

/** The class of each character of ASCII. */
export type CharClasses = Uint8Array;

/** No value has such a character, or begins with it. */
const hard = 0;
/** Numbers have such a character, but do not begin with it. */
const soft = 1;
const small = 2;
const capital = 3;
/** Stands in words, and in values that are long. */
const inWord = 4;
const dash = 5;
const digit = 6;
const plus = 7;
const colon = 8;
/** Only values and placeholders have it. */
const telling = 9;
/** A value that a model has named begins so. */
const beginning = 10;

/** No value is shorter that has letters, dashes and such signs only: `xoxb-` and ten further ones. */
const wordMax = 14;
/** The longest local part of an e-mail address: so much of a text without separators waits. */
const localMax = 64;
/** Pieces of one word are looked at together, up to so many characters. */
const pendingMax = 32;

/** How the built-in patterns know ordinary text. */
export const ordinaryCharClasses: CharClasses = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  const special = { '-': dash, '+': plus, ':': colon, '@': telling, '[': telling, ']': telling }[char];
  if (special !== undefined) return special;
  if (/[a-z]/.test(char)) return small;
  if (/[A-Z]/.test(char)) return capital;
  if (/[0-9]/.test(char)) return digit;
  if (/[._%=/]/.test(char)) return inWord;
  return /[ ()]/.test(char) ? soft : hard;
});

/** Also marks the characters with which these values begin. Those outside ASCII leave no ordinary text at all. */
export function markBeginnings(classes: CharClasses, values: readonly string[]): CharClasses | undefined {
  const marked = classes.slice();
  for (const value of values) {
    const code = value.charCodeAt(0);
    if (code >= marked.length) return undefined;
    marked[code] = beginning;
  }
  return marked;
}

/**
 * Masks a text that arrives in pieces; what may be the beginning of a value waits for the next piece.
 *
 * Ordinary words leave by a look at each of their characters, whole. The patterns are asked once for a word that may be of a value, when it ends.
 */
export class MaskingStream implements TextStream {
  readonly #rule: MaskingRule;
  #held = '';
  /** Whether what is held is ordinary so far: characters of one word. */
  #isOrdinary = true;
  /** Characters of ASCII at its end. */
  #wordLength = 0;
  /** By which it is ordinary. */
  #classes: CharClasses | undefined;
  /** Characters that the patterns have not seen. */
  #pending = 0;
  maskedCount = 0;

  constructor(rule: MaskingRule) {
    this.#rule = rule;
    this.#classes = rule.charClasses();
  }

  get isHolding(): boolean {
    return this.#held !== '';
  }

  feed(piece: string): string {
    const classes = this.#rule.charClasses();
    if (classes !== this.#classes) this.#hold(this.#held, classes);
    if (classes === undefined || !this.#isOrdinary) return this.#ask(piece, classes);
    const end = this.#scan(piece, classes);
    if (end === undefined) return this.#ask(piece, classes);
    if (end === 0) {
      this.#held += piece;
      return this.#held.length > localMax + pendingMax ? this.#shorten() : '';
    }
    const text = this.#held + piece.slice(0, end);
    this.#held = piece.slice(end);
    return text;
  }

  flush(): string {
    const rest = this.#held;
    this.#hold('', this.#rule.charClasses());
    return rest === '' ? rest : this.#count(this.#rule.mask(rest), rest);
  }

  /** @returns where its last word begins; undefined where it is not ordinary. */
  #scan(piece: string, classes: CharClasses): number | undefined {
    let wordLength = this.#wordLength;
    let end = 0;
    for (let index = 0; index < piece.length; index += 1) {
      const code = piece.charCodeAt(index);
      // Of a local part of an e-mail address, and of nothing else.
      const charClass = code < 128 ? classes[code] : undefined;
      if (charClass === undefined) wordLength = 0;
      else if (charClass <= soft) {
        end = index + 1;
        wordLength = 0;
      } else {
        wordLength += 1;
        if (charClass >= digit || wordLength > wordMax) return undefined;
        // A block of a private key begins with dashes.
        if (charClass === dash && (wordLength === 1 || (index === 0 ? this.#held.endsWith('-') : piece[index - 1] === '-')))
          return undefined;
      }
    }
    this.#wordLength = wordLength;
    return end;
  }

  #ask(piece: string, classes: CharClasses | undefined): string {
    const text = this.#held + piece;
    this.#pending += piece.length;
    if (this.#pending <= pendingMax && !hasSeparator(piece)) {
      this.#held = text;
      this.#isOrdinary = false;
      return '';
    }
    const end = classes === undefined ? undefined : findOrdinaryEnd(text, classes);
    if (end !== undefined && (end > 0 || text.length <= localMax)) {
      if (end === text.length) this.#clear();
      else this.#hold(text.slice(end), classes);
      return end === text.length ? text : text.slice(0, end);
    }
    const { masked, open } = this.#rule.maskBeginning(text);
    this.#hold(text.slice(open), classes);
    return this.#count(masked, text.slice(0, open));
  }

  /** Lets the beginning of a long ordinary word go. */
  #shorten(): string {
    const text = this.#held;
    let from = text.length - localMax;
    if (isSecondHalf(text.charCodeAt(from))) from -= 1;
    this.#held = text.slice(from);
    return text.slice(0, from);
  }

  #clear(): void {
    this.#held = '';
    this.#wordLength = 0;
    this.#pending = 0;
    this.#isOrdinary = true;
  }

  #hold(text: string, classes: CharClasses | undefined): void {
    this.#clear();
    this.#classes = classes;
    this.#isOrdinary = classes !== undefined && (text === '' || this.#scan(text, classes) === 0);
    this.#held = text;
  }

  #count(masked: string, text: string): string {
    if (masked !== text) this.maskedCount += 1;
    return masked;
  }
}

function hasSeparator(piece: string): boolean {
  for (let index = 0; index < piece.length; index += 1) {
    const charClass = ordinaryCharClasses[piece.charCodeAt(index)];
    if (charClass !== undefined && charClass <= soft) return true;
  }
  return false;
}

/**
 * Where the last part of a text begins that may go on: a word, or a number with the spaces and brackets that numbers have. Undefined where a part before
 * it may be a value: by its length and by the characters that it has, and lacks.
 */
function findOrdinaryEnd(text: string, classes: CharClasses): number | undefined {
  let start = 0;
  let [digits, capitals, dots, colons, pluses, zeros, dashes, wordLength] = [0, 0, 0, 0, 0, 0, 0, 0];
  let before = hard;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const charClass = code < 128 ? (classes[code] ?? hard) : small;
    const isNumber = digits + pluses > 0;
    const isWordBehindNumber = before === soft && (charClass === small || (charClass === capital && capitals < 2));
    if (charClass === hard || (charClass === soft && !isNumber) || isWordBehindNumber) {
      if (pluses > 0 || colons >= 2 || digits >= 13 || (zeros >= 2 && digits >= 8) || (dots >= 3 && digits >= 4))
        return undefined;
      if (capitals >= 2 && digits >= 2 && index - start > wordMax) return undefined;
      start = isWordBehindNumber ? index : index + 1;
      digits = capitals = dots = colons = pluses = zeros = 0;
    }
    dashes = charClass === dash ? dashes + 1 : 0;
    wordLength = charClass <= soft || code >= 128 ? 0 : wordLength + 1;
    if (charClass >= telling || dashes >= 5 || wordLength > wordMax) return undefined;
    if (charClass === digit) {
      digits += 1;
      if (code === 48) zeros += 1;
    } else if (charClass === capital) capitals += 1;
    else if (charClass === inWord) dots += 1;
    else if (charClass === colon) colons += 1;
    else if (charClass === plus) pluses += 1;
    before = charClass;
  }
  return start;
}

/** Of a character that takes two units. */
function isSecondHalf(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
