import type { TextStream } from '../masking.ts';
import { AutomatonReader } from './automaton.ts';
import type { GuardEngine, Reading } from './port.ts';

/** What a stream asks of the engines. `before` is the character that stands before a text. */
export interface MaskingRule {
  /** The end of the text. */
  maskEnd(text: string, before: string): string;
  maskBeginning(text: string, before: string): MaskedBeginning;
  /** Others when a value or a pattern is added. */
  readings(): Readings;
}

/** How streams know what may pass. */
export interface Readings {
  /** The engines must see all. */
  readonly isBlind: boolean;
  readonly classes: CharClasses;
  readonly automata: readonly Extract<Reading, { readonly type: 'automaton' }>[];
}

/** What may leave of a text that goes on. The rest, from `open`, may be the beginning of a value: it waits. */
export interface MaskedBeginning {
  readonly masked: string;
  readonly open: number;
}

/** The class of each character of ASCII, and of all others. */
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

/** The place of characters outside ASCII. */
const foreign = 128;

/** How the built-in patterns know ordinary text. */
const ordinaryCharClasses: CharClasses = Uint8Array.from({ length: foreign + 1 }, (_, code) => {
  if (code === foreign) return small;
  const char = String.fromCharCode(code);
  const special = { '-': dash, '+': plus, ':': colon, '@': telling, '[': telling, ']': telling }[char];
  if (special !== undefined) return special;
  if (/[a-z]/.test(char)) return small;
  if (/[A-Z]/.test(char)) return capital;
  if (/[0-9]/.test(char)) return digit;
  if (/[._%=/]/.test(char)) return inWord;
  return /[ ()]/.test(char) ? soft : hard;
});

/** Where no engine knows values by ordinary words, only placeholders tell. */
const placeholderCharClasses: CharClasses = Uint8Array.from(ordinaryCharClasses, (_, code) =>
  code === 91 || code === 93 ? telling : hard,
);

export function createReadings(engines: readonly GuardEngine[]): Readings {
  const readings = engines.flatMap(({ reading }) => (reading === undefined ? [] : [reading]));
  const ordinary = readings.filter((reading) => reading.type === 'ordinary');
  const marked = markBeginnings(
    ordinary.length === 0 ? placeholderCharClasses : ordinaryCharClasses,
    ordinary.flatMap(({ beginnings }) => beginnings),
  );
  return {
    isBlind: readings.length < engines.length || marked === undefined,
    classes: marked ?? ordinaryCharClasses,
    automata: readings.filter((reading) => reading.type === 'automaton'),
  };
}

/** Also marks the characters with which these values begin. Those outside ASCII leave no ordinary text at all. */
function markBeginnings(classes: CharClasses, values: readonly string[]): CharClasses | undefined {
  const marked = classes.slice();
  for (const value of values) {
    const code = value.charCodeAt(0);
    if (code >= foreign) return undefined;
    marked[code] = beginning;
  }
  return marked;
}

/**
 * Masks a text that arrives in pieces; what may be the beginning of a value waits for the next piece.
 *
 * Each character is looked at once. Ordinary words and numbers leave by that look. Engines are asked once for a part that may be of a value, when it ends.
 */
export class MaskingStream implements TextStream {
  readonly #rule: MaskingRule;
  readonly #part = new OpenPart();
  #readings: Readings;
  #readers: readonly LimitedReader[];
  #held = '';
  /** The last character that left. */
  #before = '';
  /** Whether the engines must see what is held. */
  #isSuspect = false;
  /** Characters of it that they have not seen. */
  #pending = 0;
  maskedCount = 0;

  constructor(rule: MaskingRule) {
    this.#rule = rule;
    this.#readings = rule.readings();
    this.#readers = readersOf(this.#readings);
  }

  get isHolding(): boolean {
    return this.#held !== '';
  }

  feed(piece: string): string {
    const readings = this.#rule.readings();
    if (readings !== this.#readings) this.#use(readings);
    if (this.#isSuspect || !this.#read(piece)) return this.#ask(piece);
    let openLength = this.#part.length;
    if (openLength > localMax) {
      if (!this.#part.isWord) return this.#ask(piece);
      // The beginning of a long ordinary word may go.
      openLength = localMax;
    }
    if (this.#readers.length > 0) {
      for (const { reader, openMax } of this.#readers) openLength = Math.max(openLength, Math.min(reader.openLength, openMax));
    }
    return this.#leave(piece, openLength);
  }

  flush(): string {
    const rest = this.#held;
    const before = this.#before;
    this.#before = '';
    this.#hold('');
    return rest === '' ? rest : this.#count(this.#rule.maskEnd(rest, before), rest);
  }

  /** @returns whether what is open then is ordinary. */
  #read(piece: string): boolean {
    if (this.#readings.isBlind || !this.#part.scan(piece, this.#readings.classes)) return false;
    return this.#readers.length === 0 || !this.#readers.some(({ reader }) => reader.read(piece));
  }

  /** Lets go what is held and a piece, but for so many characters at the end. */
  #leave(piece: string, openLength: number): string {
    const length = this.#held.length + piece.length;
    if (openLength >= length) {
      this.#held += piece;
      return '';
    }
    let left = this.#held;
    if (openLength === 0) {
      left += piece;
      this.#held = '';
    } else if (openLength === piece.length) this.#held = piece;
    else if (openLength < piece.length && openLength < localMax) {
      left += piece.slice(0, piece.length - openLength);
      this.#held = piece.slice(piece.length - openLength);
    } else {
      const text = left + piece;
      const from = length - openLength - (isSecondHalf(text.charCodeAt(length - openLength)) ? 1 : 0);
      left = text.slice(0, from);
      this.#held = text.slice(from);
    }
    if (this.#readers.length > 0 && left !== '') this.#before = left.charAt(left.length - 1);
    return left;
  }

  #ask(piece: string): string {
    const text = this.#held + piece;
    this.#pending += piece.length;
    if (this.#pending <= pendingMax && !hasSeparator(piece)) {
      this.#held = text;
      this.#isSuspect = true;
      return '';
    }
    const { masked, open } = this.#rule.maskBeginning(text, this.#before);
    if (open > 0) this.#before = text.charAt(open - 1);
    this.#hold(text.slice(open));
    return this.#count(masked, text.slice(0, open));
  }

  #use(readings: Readings): void {
    this.#readings = readings;
    this.#readers = readersOf(readings);
    this.#hold(this.#held);
  }

  #hold(text: string): void {
    this.#held = text;
    this.#pending = 0;
    this.#part.clear();
    for (const { reader } of this.#readers) reader.clear();
    this.#isSuspect = text !== '' && !this.#read(text);
  }

  #count(masked: string, text: string): string {
    if (masked !== text) this.maskedCount += 1;
    return masked;
  }
}

interface LimitedReader {
  readonly reader: AutomatonReader;
  /** So many characters are open at most. */
  readonly openMax: number;
}

function readersOf({ automata }: Readings): readonly LimitedReader[] {
  return automata.map(({ automaton, lengthMax }) => ({
    reader: new AutomatonReader(automaton),
    openMax: Math.max(1, lengthMax - 1),
  }));
}

/**
 * The part of a text that may go on at its end: a word, or a number with the spaces and brackets that numbers have. By its length, and by the characters that
 * it has and lacks, it is ordinary, or may be a value.
 */
class OpenPart {
  /** Characters other than small letters. */
  #signs = 0;
  #digits = 0;
  #capitals = 0;
  #dots = 0;
  #colons = 0;
  #pluses = 0;
  #zeros = 0;
  /** Side by side at its end. */
  #dashes = 0;
  /** Characters of ASCII since the last space or sign. */
  #wordLength = 0;
  /** Characters. */
  length = 0;
  #before = hard;

  /** Without any number. */
  get isWord(): boolean {
    return this.#digits + this.#pluses + this.#colons === 0;
  }

  clear(): void {
    this.#startNext();
    this.#dashes = 0;
    this.#wordLength = 0;
    this.length = 0;
    this.#before = hard;
  }

  /** @returns whether it is ordinary behind a piece that follows, as well as the parts that ended in that. */
  scan(piece: string, classes: CharClasses): boolean {
    let before = this.#before;
    let wordLength = this.#wordLength;
    // Where the part begins, before the piece.
    let from = -this.length;
    for (let index = 0; index < piece.length; index += 1) {
      const code = piece.charCodeAt(index);
      const charClass = classes[code < foreign ? code : foreign] ?? hard;
      if (charClass > soft && code < foreign) {
        wordLength += 1;
        if (wordLength > wordMax) return false;
      } else wordLength = 0;
      // Most characters: a letter in a word, or what stands between words of letters.
      if (this.#signs === 0 && charClass <= small) {
        if (charClass !== small) from = index + 1;
        before = charClass;
        continue;
      }
      if (charClass === small && before !== soft) {
        this.#dashes = 0;
        before = small;
        continue;
      }
      if (this.#endsBefore(charClass, before)) {
        if (this.#mayBeValue(index - from)) return false;
        from = charClass > soft ? index : index + 1;
        this.#startNext();
      }
      if (this.#takes(charClass, code)) return false;
      before = charClass;
    }
    this.#before = before;
    this.#wordLength = wordLength;
    this.length = piece.length - from;
    return true;
  }

  /** Behind a number only a word of small letters is another part: the groups of some values have capital ones. */
  #endsBefore(charClass: number, before: number): boolean {
    if (charClass > soft) return before === soft && (charClass === small || (charClass === capital && this.#capitals < 2));
    return charClass === hard || this.#digits + this.#pluses === 0;
  }

  #mayBeValue(length: number): boolean {
    if (this.#pluses > 0 || this.#colons >= 2) return true;
    if (this.#digits < 2) return false;
    return (
      this.#digits >= 13 ||
      (this.#capitals >= 2 && length > wordMax) ||
      (this.#zeros >= 2 && this.#digits >= 8) ||
      (this.#dots >= 3 && this.#digits >= 4)
    );
  }

  #startNext(): void {
    this.#signs = 0;
    this.#digits = 0;
    this.#capitals = 0;
    this.#dots = 0;
    this.#colons = 0;
    this.#pluses = 0;
    this.#zeros = 0;
  }

  /** @returns whether it is of a value for sure. */
  #takes(charClass: number, code: number): boolean {
    if (charClass > soft) this.#signs += 1;
    if (charClass === dash) {
      this.#dashes += 1;
      return this.#dashes >= 5;
    }
    this.#dashes = 0;
    if (charClass === digit) {
      this.#digits += 1;
      if (code === 48) this.#zeros += 1;
    } else if (charClass === capital) this.#capitals += 1;
    else if (charClass === inWord) this.#dots += 1;
    else if (charClass === colon) this.#colons += 1;
    else if (charClass === plus) this.#pluses += 1;
    return charClass >= telling;
  }
}

function hasSeparator(piece: string): boolean {
  for (let index = 0; index < piece.length; index += 1) {
    const charClass = ordinaryCharClasses[piece.charCodeAt(index)];
    if (charClass !== undefined && charClass <= soft) return true;
  }
  return false;
}

/** Of a character that takes two units. */
function isSecondHalf(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
