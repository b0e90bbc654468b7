import { isIP } from 'node:net';
import type { GuardKind } from '../../../../entities/agents/guard.ts';
import type { Finding, GuardEngine } from './port.ts';

/** The built-in patterns: each takes time in proportion to the text, and finds nothing longer than it says. */

interface Pattern {
  /** Whether a text with such characters may have a value: asked first. Default: each may. */
  readonly mayHave?: (characters: Characters) => boolean;
  /** Whether one with such characters may end with the beginning of a value. Default: each may. */
  readonly mayOpen?: (characters: Characters) => boolean;
  find(text: string, add: (start: number, end: number) => void): void;
  /** What a value may begin with where the text ends; looked for in the last `holdMax` characters. A function: where that begins. */
  readonly open: RegExp | ((text: string) => number);
  /** What stands at the end of a text in which a value may begin: asked first. */
  readonly openEnd?: Uint8Array;
  readonly holdMax: number;
  /** No value is shorter. */
  readonly lengthMin: number;
}

const tailMax = 256;
/** Before the `@` of an e-mail address. */
const localMax = 64;
const keyBlockMax = 16_384;
const apiKeyMax = 7_168;
const keyBegin = '-----BEGIN ';

const emailPattern: Pattern = {
  mayHave: ({ ats }) => ats > 0,
  // From each `@` outwards, so that a long word without one costs nothing.
  find(text, add) {
    for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
      let start = at;
      while (start > 0 && at - start < localMax && isLocal(text.charCodeAt(start - 1))) start -= 1;
      let end = at + 1;
      let dot = -1;
      while (end < text.length && end - at <= 190 && isDomain(text.charCodeAt(end))) {
        if (text.charCodeAt(end) === 46) dot = end;
        end += 1;
      }
      while (end > at + 1 && !isAlphanumeric(text.charCodeAt(end - 1))) end -= 1;
      if (dot >= end) dot = text.lastIndexOf('.', end - 1);
      if (start < at && dot > at + 1 && end - dot > 2) add(start, end);
    }
  },
  open(text) {
    const start = backOver(text, isLocalOrAt, tailMax);
    const at = text.lastIndexOf('@');
    return Math.max(start, (at < start ? text.length : at) - localMax);
  },
  holdMax: tailMax,
  lengthMin: 6,
};

/** 1 for each character of ASCII that is meant. */
function charSet(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
}

/** Where the characters begin that stand at the end of a text. */
function backOver(text: string, isMeant: (code: number) => boolean, most: number): number {
  let start = text.length;
  while (start > 0 && text.length - start < most && isMeant(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

function isAlphanumeric(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code > 127;
}
function isLocal(code: number): boolean {
  return isAlphanumeric(code) || code === 46 || code === 95 || code === 37 || code === 43 || code === 45;
}
function isLocalOrAt(code: number): boolean {
  return isLocal(code) || code === 64;
}
function isDomain(code: number): boolean {
  return isAlphanumeric(code) || code === 46 || code === 45;
}

/**
 * Calls `take` with each match of a pattern that has the flag g.
 *
 * @param take  returns how many characters of the match to leave behind, where it is not all of them: what follows may be another value.
 */
function eachMatch(pattern: RegExp, text: string, take: (match: string, index: number) => number | undefined): void {
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const length = take(match[0], match.index);
    if (length !== undefined) pattern.lastIndex = match.index + length;
  }
}

/** Without its last group of digits; empty for one group. */
function withoutLastGroup(text: string): string {
  return text.slice(0, Math.max(0, text.search(/(?<![ ()./-])[ ()./-]+\d{1,25}$/)));
}
/** Characters of its first group of digits and of what stands behind it. */
function countFirstGroup(text: string): number {
  return /^\+?\d+[ ()./-]*/.exec(text)?.[0].length ?? text.length;
}

const phone = /(?:\+|\b00)[1-9][\d ()./-]{5,22}\d(?!\d)/g;
const phonePattern: Pattern = {
  mayHave: ({ digits }) => digits >= 8,
  mayOpen: ({ digits, pluses }) => digits + pluses > 0,
  find(text, add) {
    if (!text.includes('+') && !text.includes('00')) return;
    eachMatch(phone, text, (match, index) => {
      const next = match.search(/ 00[1-9]/);
      let number = next !== -1 && countDigits(match.slice(0, next)) >= 10 ? match.slice(0, next) : match;
      const prefix = match.startsWith('00') ? 2 : 0;
      while (countDigits(number) - prefix > 15) number = withoutLastGroup(number);
      if (countDigits(number) - prefix < 8) return countFirstGroup(match);
      add(index, index + number.length);
      return number.length;
    });
  },
  open: /(?:\+|0)[\d ()./-]{0,25}$/,
  openEnd: charSet(/[+\d ()./-]$/),
  holdMax: 32,
  lengthMin: 9,
};

function countDigits(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) if (isDigit(text.charCodeAt(index))) count += 1;
  return count;
}
function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

const card = /\b\d(?:[ -]?\d){12,18}\b/g;
const cardPattern: Pattern = {
  mayHave: ({ digits }) => digits >= 13,
  mayOpen: ({ digits }) => digits > 0,
  find(text, add) {
    eachMatch(card, text, (match, index) => {
      // Digits that stand behind a card are no part of it.
      let digits = match;
      while (digits.length >= 13 && !passesLuhn(digits)) digits = withoutLastGroup(digits);
      if (countDigits(digits) < 13) return countFirstGroup(match);
      add(index, index + digits.length);
      return digits.length;
    });
  },
  open: /\b\d[\d -]{0,36}$/,
  openEnd: charSet(/[\d -]$/),
  holdMax: 40,
  lengthMin: 13,
};

function passesLuhn(text: string): boolean {
  let sum = 0;
  let isSecond = false;
  for (let index = text.length - 1; index >= 0; index -= 1) {
    const code = text.charCodeAt(index);
    if (!isDigit(code)) continue;
    const digit = (code - 48) * (isSecond ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
    isSecond = !isSecond;
  }
  return sum % 10 === 0;
}

/** Characters of an IBAN by its country, as the registry has them. */
const ibanLengths: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 ' +
    'GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 ' +
    'NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
const iban = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}/g;
const ibanPattern: Pattern = {
  mayHave: ({ capitals, digits }) => capitals >= 2 && digits >= 2,
  mayOpen: ({ capitals }) => capitals > 0,
  find(text, add) {
    eachMatch(iban, text, (match, index) => {
      const length = ibanLengths.get(match.slice(0, 2)) ?? 0;
      let end = 0;
      let compact = '';
      while (end < match.length && compact.length < length) {
        if (match[end] !== ' ') compact += match[end];
        end += 1;
      }
      const isFound = length > 0 && compact.length === length && hasCheckDigits(compact);
      if (isFound) add(index, index + end);
      return isFound ? end : 4;
    });
  },
  open: /\b[A-Z](?:[A-Z](?:\d(?:\d[A-Z0-9 ]{0,40})?)?)?$/,
  openEnd: charSet(/[A-Z\d ]$/),
  holdMax: 48,
  lengthMin: 15,
};

/** The remainder of the number by 97 is 1 (ISO 7064). */
function hasCheckDigits(text: string): boolean {
  let remainder = 0;
  for (const char of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}

const address =
  /(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\.\d{1,3}){0,3})(?![\w:]|\.\d)/g;
const addressPattern: Pattern = {
  mayHave: ({ digits, dots, colons }) => colons >= 2 || (dots >= 3 && digits >= 4),
  find(text, add) {
    eachMatch(address, text, (match, index) => {
      if (isIP(match) !== 0 && match !== '::') add(index, index + match.length);
      return undefined;
    });
  },
  open: (text) => backOver(text, isOfAddress, 45),
  holdMax: 48,
  lengthMin: 3,
};

function isHexadecimal(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
}
function isOfAddress(code: number): boolean {
  return isHexadecimal(code) || code === 58 || code === 46;
}

/** The forms in which well-known services give out keys. */
const apiKey =
  /\b(?:sk-[\w-]{20,200}|pk_[0-9A-Za-z]{20,100}|(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{16,100}|gh[opsur]_[0-9A-Za-z]{36,255}|github_pat_\w{22,255}|glpat-[\w-]{20,64}|xox[abeoprs]-[\w-]{10,200}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{35}|npm_[0-9A-Za-z]{36}|hf_[0-9A-Za-z]{30,64}|SG\.[\w-]{16,32}\.[\w-]{16,64}|whsec_[\w+/=-]{24,100}|eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000})/g;
const apiKeyPattern: Pattern = {
  mayHave: ({ dashes, underscores, capitals }) => dashes + underscores > 0 || capitals >= 2,
  find(text, add) {
    eachMatch(apiKey, text, (match, index) => {
      add(index, index + match.length);
      return undefined;
    });
  },
  // Only where the form of one begins: languages without spaces, and long words, have no other place at which a stream could go on.
  open(text) {
    for (let start = backOver(text, isKeyPart, apiKeyMax); start < text.length; start += 1) {
      if (!apiKeyFirsts.includes(text.charAt(start)) || (start > 0 && isWordPart(text.charCodeAt(start - 1)))) continue;
      const head = text.slice(start, start + apiKeyBeginMax);
      if (apiKeyBegins.some((begin) => head.startsWith(begin) || begin.startsWith(head))) return start;
    }
    return text.length;
  },
  holdMax: apiKeyMax,
  lengthMin: 15,
};

/** With what the alternatives of `apiKey` begin. */
const apiKeyBegins = (
  'sk- sk_ pk_ rk_ gho_ ghp_ ghs_ ghu_ ghr_ github_pat_ glpat- xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- AKIA ASIA AIza npm_ hf_ SG. whsec_ ' +
  'eyJ'
).split(' ');
const apiKeyBeginMax = 11;
/** Their first characters. */
const apiKeyFirsts = [...new Set(apiKeyBegins.map((begin) => begin.charAt(0)))].join('');

function isWordPart(code: number): boolean {
  return code === 95 || (code < 128 && isAlphanumeric(code));
}
function isKeyPart(code: number): boolean {
  return isWordPart(code) || code === 45 || code === 46 || code === 43 || code === 47 || code === 61;
}

const privateKeyPattern: Pattern = {
  mayHave: ({ dashes }) => dashes >= 5,
  mayOpen: ({ dashes }) => dashes > 0,
  find(text, add) {
    for (let start = text.indexOf(keyBegin); start !== -1; ) {
      const head = text.slice(start, start + 60);
      if (!/^-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----/.test(head)) {
        start = text.indexOf(keyBegin, start + keyBegin.length);
        continue;
      }
      const closing = text.indexOf('-----END ', start);
      const closed = closing === -1 ? -1 : text.indexOf('-----', closing + 9);
      // A block without an end goes to the end of the text.
      const end = Math.min(closed === -1 ? text.length : closed + 5, start + keyBlockMax);
      add(start, end);
      start = text.indexOf(keyBegin, end);
    }
  },
  open: /(?:-{1,5}|-----B(?:E(?:G(?:I(?:N(?: [A-Z -]{0,45})?)?)?)?)?)$/,
  openEnd: charSet(/[-A-Z ]$/),
  holdMax: keyBlockMax,
  lengthMin: 30,
};

const patterns: Readonly<Record<GuardKind, Pattern>> = {
  PRIVATE_KEY: privateKeyPattern,
  API_KEY: apiKeyPattern,
  EMAIL: emailPattern,
  IBAN: ibanPattern,
  CARD: cardPattern,
  PHONE: phonePattern,
  IP_ADDRESS: addressPattern,
};

/** How often a text has the characters by which patterns know that they need not look. Costs a nanosecond for each of its characters, once. */
class Characters {
  readonly #counts = new Uint32Array(9);
  #text = '';

  count(text: string): void {
    if (text === this.#text) return;
    const counts = this.#counts.fill(0);
    for (let index = 0; index < text.length; index += 1) {
      const place = countedPlaces[text.charCodeAt(index)];
      if (place !== undefined) counts[place] = (counts[place] ?? 0) + 1;
    }
    this.#text = text;
  }

  get digits(): number {
    return this.#counts[1] ?? 0;
  }
  get capitals(): number {
    return this.#counts[2] ?? 0;
  }
  get ats(): number {
    return this.#counts[3] ?? 0;
  }
  get pluses(): number {
    return this.#counts[4] ?? 0;
  }
  get colons(): number {
    return this.#counts[5] ?? 0;
  }
  get dots(): number {
    return this.#counts[6] ?? 0;
  }
  get dashes(): number {
    return this.#counts[7] ?? 0;
  }
  get underscores(): number {
    return this.#counts[8] ?? 0;
  }
}

/** Where each character of ASCII is counted; 0: with those that say nothing. */
const countedPlaces = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (/[0-9]/.test(char)) return 1;
  const sign = '@+:.-_'.indexOf(char);
  if (sign !== -1) return sign + 3;
  return /[A-Z]/.test(char) ? 2 : 0;
});

/** An engine of built-in patterns. */
export function createPatternEngine(kinds: readonly GuardKind[]): GuardEngine {
  const own = Object.entries(patterns).flatMap(([kind, pattern]) =>
    kinds.includes(kind as GuardKind) ? [{ kind: kind as GuardKind, ...pattern }] : [],
  );
  const hasBlocks = kinds.includes('PRIVATE_KEY');
  const characters = new Characters();
  return {
    find(text) {
      const findings: Finding[] = [];
      characters.count(text);
      for (const { kind, find, lengthMin, mayHave } of own) {
        if (text.length >= lengthMin && mayHave?.(characters) !== false)
          find(text, (start, end) => findings.push({ start, end, kind, label: kind }));
      }
      return findings;
    },
    openAt(text) {
      characters.count(text);
      let open = hasBlocks && characters.dashes >= 5 ? openBlock(text) : text.length;
      if (open === 0) return 0;
      const last = text.charCodeAt(text.length - 1);
      for (const { open: pattern, openEnd, holdMax, mayOpen } of own) {
        if (mayOpen?.(characters) === false || (openEnd !== undefined && openEnd[last] !== 1)) continue;
        if (typeof pattern === 'function') {
          open = Math.min(open, pattern(text));
          continue;
        }
        const from = Math.max(0, text.length - Math.min(holdMax, tailMax));
        const at = text.slice(from).search(pattern);
        if (at !== -1) open = Math.min(open, from + at);
      }
      return open;
    },
    reading: { type: 'ordinary', beginnings: [] },
  };
}

/** Where a block of a key begins that has not ended. */
function openBlock(text: string): number {
  const start = text.lastIndexOf(keyBegin);
  if (start === -1 || text.length - start > keyBlockMax) return text.length;
  const closing = text.indexOf('-----END ', start);
  return closing !== -1 && text.indexOf('-----', closing + 9) !== -1 ? text.length : start;
}
