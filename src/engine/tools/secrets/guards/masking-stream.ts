import { quoteUnescaped } from '../../../../lib/json/string-literal.ts';
import type { TextStream } from '../masking.ts';
import { AutomatonReader } from './automaton.ts';
import type { GuardEngine, Reading } from './port.ts';

/** What a stream asks of the engines. `before` is the character that stands before a text. */
export interface MaskingRule {
  /** The end of the text. */
  maskEnd(text: string, before: string): string;
  maskBeginning(text: string, before: string): MaskedBeginning;
  /** The same where what waits is known. @param engines  those that may find something in the text. */
  maskBefore(open: number, text: string, before: string, engines: readonly GuardEngine[]): MaskedBeginning;
  /** The current ones are others when a value or a pattern is added. */
  readonly readings: { readonly current: Readings };
}

/** How streams know what may pass. */
export interface Readings {
  /** The engines must see all. */
  readonly isBlind: boolean;
  readonly classes: CharClasses;
  /** The same in JSON string literals. */
  readonly literalClasses: CharClasses;
  readonly automata: readonly Extract<Reading, { readonly type: 'automaton' }>[];
  /** The engines to ask for what is of an `endedPart`, an `endedMatch`, or both. */
  readonly engines: readonly (readonly GuardEngine[])[];
}

/** What may leave of a text that goes on. The rest, from `open`, may be the beginning of a value: it waits. */
export interface MaskedBeginning {
  readonly masked: string;
  readonly open: number;
  /** Whether there is a value in the rest. */
  readonly hasMore: boolean;
}

/** The class of each character of ASCII, and of all others. */
export type CharClasses = Uint8Array;

/** No value has such a character, or begins with it. */
const hard = 0;
/** Numbers have such a character, but do not begin with it. */
const soft = 1;
/** As small letters are, but no part of a word of ASCII. */
const foreign = 2;
const small = 3;
const capital = 4;
/** Stands in words, and in values that are long. */
const inWord = 5;
const dash = 6;
const digit = 7;
const plus = 8;
const colon = 9;
/** Only values and placeholders have it: what has it is shown to the engines when it ends. */
const telling = 10;
/** A value that a model has named begins so. */
const beginning = 11;
/** Stands before an escape, in literals only. */
const backslash = 12;

/** No value is shorter that has letters, dashes and such signs only: `xoxb-` and ten further ones. */
const wordMax = 14;
/** The longest local part of an e-mail address: so much of a text without separators waits. */
const localMax = 64;
/** Pieces of one word are looked at together, up to so many characters. */
const pendingMax = 32;

/** The place of characters outside ASCII. */
const foreignAt = 128;

/** What reading a piece gives where no characters wait: engines must see what is held and the piece. */
const suspect = -1;
/** In place of a character. */
const nothing = -1;

/** What has ended may be a value of the engines that know ordinary text. */
const endedPart = 1;
/** The same of the engines that have automata. */
const endedMatch = 2;

/** How the built-in patterns know ordinary text. */
const ordinaryCharClasses: CharClasses = Uint8Array.from({ length: foreignAt + 1 }, (_, code) => {
  if (code === foreignAt) return foreign;
  const char = String.fromCharCode(code);
  const special = { '-': dash, '+': plus, ':': colon, '@': telling, '[': telling, ']': inWord }[char];
  if (special !== undefined) return special;
  if (/[a-z]/.test(char)) return small;
  if (/[A-Z]/.test(char)) return capital;
  if (/[0-9]/.test(char)) return digit;
  if (/[._%=/]/.test(char)) return inWord;
  return /[ ()]/.test(char) ? soft : hard;
});

/** Where no engine knows values by ordinary words, only placeholders tell. */
const placeholderCharClasses: CharClasses = Uint8Array.from(ordinaryCharClasses, (_, code) => {
  const char = String.fromCharCode(code);
  if (char === '[') return telling;
  return /[A-Z0-9_\]]/.test(char) ? inWord : hard;
});

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
    literalClasses: (marked ?? ordinaryCharClasses).map((charClass, code) => (code === 92 ? backslash : charClass)),
    automata: readings.filter((reading) => reading.type === 'automaton'),
    engines: [
      [],
      engines.filter(({ reading }) => reading?.type === 'ordinary'),
      engines.filter(({ reading }) => reading?.type === 'automaton'),
      engines,
    ],
  };
}

/** Also marks the characters with which these values begin. Those outside ASCII leave no ordinary text at all. */
function markBeginnings(classes: CharClasses, values: readonly string[]): CharClasses | undefined {
  const marked = classes.slice();
  for (const value of values) {
    const code = value.charCodeAt(0);
    if (code >= foreignAt) return undefined;
    marked[code] = beginning;
  }
  return marked;
}

/**
 * Masks a text that arrives in pieces; what may be the beginning of a value waits for the next piece.
 *
 * Each character is looked at once. Ordinary words and numbers leave by that look. Engines are asked once for what may be a value, when it has ended.
 */
export class MaskingStream implements TextStream {
  readonly #rule: MaskingRule;
  readonly #part = new OpenPart();
  #readings: Readings;
  #readers: readonly AutomatonReader[];
  #held = '';
  /** The last character that left. */
  #before = nothing;
  /** Whether something that has ended in what is held may be a value: the sum of `endedPart` and `endedMatch`. */
  #ended = 0;
  /** Whether only engines can tell where a value in what is held begins or ends. */
  #isSuspect = false;
  /** Characters of it that they have not seen. */
  #pending = 0;
  maskedCount = 0;

  constructor(rule: MaskingRule) {
    this.#rule = rule;
    this.#readings = rule.readings.current;
    this.#readers = readersOf(this.#readings);
  }

  get isHolding(): boolean {
    return this.#held !== '';
  }

  feed(piece: string): string {
    this.#follow();
    const openLength = this.#isSuspect ? suspect : this.#read(piece, 0, piece.length, this.#readings.classes);
    return openLength < 0 ? this.#ask(piece) : this.#leave(piece, openLength);
  }

  /** As few strings are made as can be: an answer has hundreds of pieces for each kilobyte. */
  feedLiteral(json: string): string | undefined {
    this.#follow();
    const end = json.length - 1;
    const openLength = this.#isSuspect ? suspect : this.#read(json, 1, end, this.#readings.literalClasses);
    const cut = end - openLength;
    if (openLength < 0 || this.#ended > 0 || cut <= 1 || isSecondHalf(json.charCodeAt(cut)))
      return this.#feedOpen(json, openLength);
    const held = this.#held;
    this.#before = json.charCodeAt(cut - 1);
    if (cut === end) {
      this.#held = '';
      return held === '' ? json : `"${held}${json.slice(1)}`;
    }
    this.#held = json.slice(cut, end);
    // Most pieces: a space and the beginning of a word.
    return cut === 2 && this.#before === 32 ? `"${held} "` : `"${held}${json.slice(1, cut)}"`;
  }

  /** Of which all waits, or has ended. @param openLength  as reading the literal gave it. */
  #feedOpen(json: string, openLength: number): string | undefined {
    if (openLength < 0 && json.includes('\\')) {
      if (!this.#isSuspect) this.#hold(this.#held);
      return undefined;
    }
    const piece = json.slice(1, -1);
    if (openLength < 0) return quoteUnescaped(this.#ask(piece));
    if (openLength < this.#held.length + piece.length) return quoteUnescaped(this.#leave(piece, openLength));
    this.#held += piece;
    return '""';
  }

  flush(): string {
    const rest = this.#held;
    const before = this.#before;
    this.#before = nothing;
    this.#hold('');
    if (rest === '') return rest;
    const masked = this.#rule.maskEnd(rest, charOf(before));
    if (masked !== rest) this.maskedCount += 1;
    return masked;
  }

  /** @returns how many characters at the end must wait; `suspect`: engines must see it, or it has escapes. */
  #read(text: string, from: number, to: number, classes: CharClasses): number {
    if (this.#readings.isBlind) return suspect;
    const part = this.#part;
    let openLength = part.scan(text, from, to, classes);
    if (openLength > localMax) {
      if (!part.isWord) return suspect;
      // The beginning of a long ordinary word may go.
      openLength = localMax;
    }
    if (openLength < 0) return openLength;
    if (part.hasEnded) this.#ended |= endedPart;
    for (const reader of this.#readers) {
      const readerLength = reader.read(text, from, to);
      if (reader.hasEnded) this.#ended |= endedMatch;
      if (readerLength <= openLength) continue;
      // What may be a value waits as a whole, or engines cut it.
      if (readerLength > reader.openMax && reader.hasOpenEnd) return suspect;
      openLength = Math.max(openLength, Math.min(readerLength, reader.openMax));
    }
    return openLength;
  }

  /** Lets go what is held and a piece, but for so many characters at the end. */
  #leave(piece: string, openLength: number): string {
    const text = this.#held + piece;
    let open = Math.max(0, text.length - openLength);
    if (isSecondHalf(text.charCodeAt(open))) open -= 1;
    if (open <= 0) {
      this.#held = text;
      return '';
    }
    if (this.#ended === 0) {
      this.#held = text.slice(open);
      this.#before = text.charCodeAt(open - 1);
      return text.slice(0, open);
    }
    const beginning = this.#rule.maskBefore(open, text, charOf(this.#before), this.#readings.engines[this.#ended] ?? []);
    if (beginning.hasMore) {
      this.#hold(text.slice(beginning.open));
      this.#isSuspect = true;
    } else {
      this.#held = text.slice(open);
      this.#ended = 0;
    }
    return this.#count(beginning, text);
  }

  #ask(piece: string): string {
    const text = this.#held + piece;
    this.#pending += piece.length;
    if (this.#pending <= pendingMax && !hasSeparator(piece)) {
      this.#held = text;
      this.#isSuspect = true;
      return '';
    }
    const beginning = this.#rule.maskBeginning(text, charOf(this.#before));
    this.#hold(text.slice(beginning.open));
    return this.#count(beginning, text);
  }

  #follow(): void {
    const { current } = this.#rule.readings;
    if (current === this.#readings) return;
    this.#readings = current;
    this.#readers = readersOf(current);
    this.#hold(this.#held);
  }

  #hold(text: string): void {
    this.#held = text;
    this.#pending = 0;
    this.#part.clear();
    for (const reader of this.#readers) reader.clear();
    this.#ended = 0;
    this.#isSuspect = text !== '' && (this.#read(text, 0, text.length, this.#readings.classes) < 0 || this.#ended > 0);
  }

  /** @param text  of which this beginning left. */
  #count({ masked, open }: MaskedBeginning, text: string): string {
    if (open > 0) this.#before = text.charCodeAt(open - 1);
    if (masked.length !== open || !text.startsWith(masked)) this.maskedCount += 1;
    return masked;
  }
}

function readersOf({ automata }: Readings): readonly AutomatonReader[] {
  return automata.map(({ automaton, lengthMax }) => new AutomatonReader(automaton, Math.max(1, lengthMax - 1)));
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
  /** By one of its characters, or by its length. */
  #mayBeValue = false;
  /** Side by side at its end. */
  #dashes = 0;
  /** Characters of ASCII since the last space or sign. */
  #wordLength = 0;
  /** Characters. */
  #length = 0;
  #before = hard;

  /** Whether a part that may be a value has ended in what was scanned last. */
  hasEnded = false;

  /** An ordinary one, without any number. */
  get isWord(): boolean {
    return !this.#mayBeValue && this.#digits + this.#pluses + this.#colons === 0;
  }

  clear(): void {
    this.#startNext();
    this.#dashes = 0;
    this.#wordLength = 0;
    this.#length = 0;
    this.#before = hard;
  }

  /** @returns the length of what is open behind this part of a text; `suspect`: engines must see it, or it has escapes. */
  scan(text: string, start: number, end: number, classes: CharClasses): number {
    this.hasEnded = false;
    if (this.#signs > 0) return this.#scanAll(text, start, end, classes);
    // Most pieces: letters, and what stands between words of letters.
    let from = start - this.#length;
    let wordFrom = start - this.#wordLength;
    let charClass = this.#before;
    for (let index = start; index < end; index += 1) {
      const code = text.charCodeAt(index);
      charClass = classes[code < foreignAt ? code : foreignAt] ?? hard;
      if (charClass === small) continue;
      if (charClass > small) return this.#scanAll(text, start, end, classes);
      wordFrom = index + 1;
      if (charClass !== foreign) from = wordFrom;
    }
    this.#before = charClass;
    this.#wordLength = end - wordFrom;
    this.#length = end - from;
    return end - from;
  }

  #scanAll(text: string, start: number, end: number, classes: CharClasses): number {
    let before = this.#before;
    // Where the part and the word begin, before the piece.
    let from = start - this.#length;
    let wordFrom = start - this.#wordLength;
    for (let index = start; index < end; index += 1) {
      const code = text.charCodeAt(index);
      const charClass = classes[code < foreignAt ? code : foreignAt] ?? hard;
      if (charClass < small) {
        if (index - wordFrom > wordMax && this.#signs > 0) this.#mayBeValue = true;
        wordFrom = index + 1;
      }
      if (charClass <= small && this.#signs === 0) {
        if (charClass <= soft) from = index + 1;
        before = charClass;
        continue;
      }
      if ((charClass === small || charClass === foreign) && before !== soft) {
        this.#dashes = 0;
        before = charClass;
        continue;
      }
      if (this.#endsBefore(charClass, before)) {
        if (this.#isValue(index - from)) this.hasEnded = true;
        from = charClass > soft ? index : index + 1;
        this.#startNext();
      }
      if (this.#takes(charClass, code)) return suspect;
      before = charClass;
    }
    if (end - wordFrom > wordMax && this.#signs > 0) this.#mayBeValue = true;
    this.#before = before;
    this.#wordLength = end - wordFrom;
    this.#length = end - from;
    return this.#length;
  }

  /** Behind a number only a word of small letters is another part: the groups of some values have capital ones. */
  #endsBefore(charClass: number, before: number): boolean {
    if (charClass > soft) return before === soft && (charClass <= small || (charClass === capital && this.#capitals < 2));
    return charClass === hard || this.#digits + this.#pluses === 0;
  }

  #isValue(length: number): boolean {
    if (this.#mayBeValue || this.#pluses > 0 || this.#colons >= 2) return true;
    if (this.#digits < 2) return false;
    return (
      this.#digits >= 13 ||
      (this.#capitals >= 2 && length > wordMax) ||
      (this.#zeros >= 2 && this.#digits >= 8) ||
      (this.#dots >= 3 && this.#digits >= 4)
    );
  }

  #startNext(): void {
    this.#mayBeValue = false;
    this.#signs = 0;
    this.#digits = 0;
    this.#capitals = 0;
    this.#dots = 0;
    this.#colons = 0;
    this.#pluses = 0;
    this.#zeros = 0;
  }

  /** @returns whether only engines can tell how it goes on. */
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
    else if (charClass === telling) this.#mayBeValue = true;
    return charClass > telling;
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

function charOf(code: number): string {
  return code === nothing ? '' : String.fromCharCode(code);
}
