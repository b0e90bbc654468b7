/** Characters for each token after the first of a word, measured against o200k_base; estimates rather too many tokens. */
const wordFreeChars = 7;
const charsPerFurtherToken = 5;
/** Longer words are not language: keys, hashes, encoded data. */
const wordMaxChars = 24;

/** Classes of characters. */
const space = 0;
const lower = 1;
const upper = 2;
const digit = 3;
const symbol = 4;
const accentClass = 5;
const foreign = 6;
const ideograph = 7;

const asciiClass = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code <= 32) return space;
  if (code >= 97 && code <= 122) return lower;
  if (code >= 65 && code <= 90) return upper;
  return code >= 48 && code <= 57 ? digit : symbol;
});

function classifyCode(code: number): number {
  if (code < 128) return asciiClass[code] ?? symbol;
  if (code < 0xc0) return code === 0xa0 || code === 0x85 ? space : symbol;
  if (code < 0x250) return accentClass;
  if (code < 0xe00) return foreign;
  if (code >= 0x2000 && code < 0x2e80) return code <= 0x200a || code === 0x2028 || code === 0x2029 ? space : symbol;
  return code < 0x1e00 || code >= 0x2e80 ? ideograph : foreign;
}

/**
 * Estimates the tokens of `text`, or of its part from `start` to `end`. One pass over the characters without a vocabulary: an
 * encoder would add 60 MB and 0.3 s to every start. test/unit/knowledge/tokens.test.ts compares it with o200k_base.
 */
export function estimateTokens(text: string, start = 0, end = text.length): number {
  let tokens = 0;
  for (let index = start; index < end; ) {
    const kind = classifyCode(text.charCodeAt(index));
    const from = index;
    index += 1;
    if (kind === ideograph) {
      tokens += 0.8;
      continue;
    }
    if (kind === lower || kind === upper || kind === accentClass) {
      let extra = kind === accentClass ? 0.5 : 0;
      let capitals = kind === upper ? 1 : 0;
      let previous = kind;
      for (; index < end; index += 1) {
        const next = classifyCode(text.charCodeAt(index));
        if (next !== lower && next !== upper && next !== accentClass) break;
        if (next === upper && previous !== upper) break; // camelCase: the encoder starts a new word.
        if (next === accentClass) extra += 0.5;
        if (next === upper) capitals += 1;
        previous = next;
      }
      tokens += wordTokens(index - from, capitals) + extra;
      continue;
    }
    while (index < end && classifyCode(text.charCodeAt(index)) === kind) index += 1;
    const length = index - from;
    if (kind === space) tokens += spaceTokens(text, from, length);
    else if (kind === digit) tokens += Math.ceil(length / 3);
    else if (kind === foreign) tokens += Math.ceil(length / 3.5);
    else tokens += 0.5 + length / 2;
  }
  return tokens;
}

/** A single space belongs to the next word; line ends often cost a token, indentation always does. */
function spaceTokens(text: string, start: number, length: number): number {
  if (length > 2) return 1 + length / 64;
  return text.charCodeAt(start) === 10 ? 0.5 : 0;
}

function wordTokens(length: number, capitals: number): number {
  if (capitals > 2) return 1 + length / 3;
  if (length <= wordFreeChars) return 1;
  if (length <= wordMaxChars) return 1 + (length - wordFreeChars) / charsPerFurtherToken;
  return length / 1.6;
}
