/** A part of one of several texts. */
export interface TextRange {
  /** Which text. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** Letters that must follow each other in both to be the same place. */
const windowLetters = 24;

/**
 * The parts of the texts of a page that belong to a passage. A page of a PDF comes in pieces, with other spaces and hyphens than the passage, and in
 * another order where it has columns: so letters alone are compared, some two dozen at a time.
 */
export function passageRanges(texts: readonly string[], passage: string): readonly TextRange[] {
  const needle = splitLetters([passage]);
  const size = Math.min(windowLetters, needle.length);
  if (size === 0) return [];
  const wantedText = needle.map(({ letter }) => letter).join('');
  const windows = new Set<string>();
  for (let at = 0; at + size <= needle.length; at += 1) windows.add(wantedText.slice(at, at + size));
  const letters = splitLetters(texts);
  const text = letters.map(({ letter }) => letter).join('');
  const isMarked = new Uint8Array(letters.length);
  for (let at = 0; at + size <= letters.length; at += 1) {
    if (windows.has(text.slice(at, at + size))) isMarked.fill(1, at, at + size);
  }
  const ranges: TextRange[] = [];
  for (const [place, { index, offset, length }] of letters.entries()) {
    if (isMarked[place] !== 1) continue;
    const last = ranges.at(-1);
    if (last?.index === index && isMarked[place - 1] === 1) ranges[ranges.length - 1] = { ...last, end: offset + length };
    else ranges.push({ index, start: offset, end: offset + length });
  }
  return ranges;
}

interface Letter {
  /** One UTF-16 code unit of a letter or a digit, in lower case and without ligatures. */
  readonly letter: string;
  readonly index: number;
  readonly offset: number;
  readonly length: number;
}

function splitLetters(texts: readonly string[]): readonly Letter[] {
  const letters: Letter[] = [];
  for (const [index, text] of texts.entries()) {
    let offset = 0;
    for (const sign of text) {
      const plain = sign.normalize('NFKD').toLowerCase();
      for (const letter of plain.match(/[\p{L}\p{N}]/gu) ?? []) {
        for (const unit of letter.split('')) letters.push({ letter: unit, index, offset, length: sign.length });
      }
      offset += sign.length;
    }
  }
  return letters;
}

/** Where words stand in a text, whatever white space is between them; undefined when they are not there. */
export function findWords(text: string, words: string): { readonly start: number; readonly end: number } | undefined {
  const [first] = passageRanges([text], words);
  if (first === undefined) return undefined;
  const ranges = passageRanges([text], words);
  const longest = ranges.reduce((best, range) => (range.end - range.start > best.end - best.start ? range : best), first);
  return { start: longest.start, end: longest.end };
}
