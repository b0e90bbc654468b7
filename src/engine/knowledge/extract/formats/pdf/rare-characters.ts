import { constants, inflateSync } from 'node:zlib';

/** Maps from glyphs to characters are some kilobytes long. */
const mapMaxBytes = 1024 * 1024;
/** Enough of a stream to tell whether it is such a map. */
const headBytes = 256;
/** Of a document with more streams only a parser can tell. */
const streamsMax = 50_000;
/** More lines of a page are not looked for in its text, but stand below it. */
const placedLinesMax = 500;
/** A shorter line may stand anywhere. */
const placedMinChars = 4;

/**
 * Whether fonts of a PDF have characters beyond U+FFFF: letters of formulas (U+1D400 on), emoji, rare Chinese characters. The layout parser leaves them out.
 * Fonts name their characters in streams of their own; of an encrypted document only a parser can tell.
 */
export function mayHaveRareCharacters(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.includes('/Encrypt')) return true;
  let count = 0;
  for (let at = file.indexOf('stream'); at !== -1; at = file.indexOf('stream', at)) {
    count += 1;
    if (count > streamsMax) return true;
    const end = file.indexOf('endstream', at + 6);
    if (end === -1) return false;
    const start = file[at + 6] === 0x0d ? at + 8 : at + 7;
    if (end - start <= mapMaxBytes && isRareMap(file.subarray(start, end))) return true;
    at = end + 'endstream'.length;
  }
  return false;
}

function isRareMap(stream: Buffer): boolean {
  if (!/begincmap|CIDInit/.test(inflated(stream.subarray(0, headBytes)))) return false;
  return /d[89ab][0-9a-f]{2}\s?d[c-f][0-9a-f]{2}/i.test(inflated(stream));
}

/** As far as the bytes go; a stream that is not compressed stays as it is. */
function inflated(stream: Buffer): string {
  try {
    return inflateSync(stream, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: mapMaxBytes }).toString('latin1');
  } catch {
    return stream.toString('latin1');
  }
}

const rare = /[\u{10000}-\u{10FFFF}]/u;

/** Puts lines with such characters in the place of what the layout parser has of them, or below the text where they are not found. */
export function withRareCharacters(markdown: string, lines: readonly string[]): string {
  const bare = bareText(markdown);
  const places: Place[] = [];
  const below: string[] = [];
  let from = 0;
  for (const line of lines.filter((each) => rare.test(each))) {
    const place = places.length < placedLinesMax ? findPlace(line, markdown, bare, from) : undefined;
    if (place === undefined) below.push(plainLetters(line));
    else {
      places.push(place);
      from = place.bareEnd;
    }
  }
  const pieces: string[] = [];
  let doneLength = 0;
  for (const { line, start, end } of places.toSorted((a, b) => a.start - b.start)) {
    if (start < doneLength) below.push(plainLetters(line));
    else {
      pieces.push(markdown.slice(doneLength, start), plainLetters(line));
      doneLength = end;
    }
  }
  return [pieces.join('') + markdown.slice(doneLength), ...below].filter((part) => part !== '').join('\n\n');
}

/** Where the layout parser has a line, without its rare characters. */
interface Place {
  readonly line: string;
  readonly start: number;
  readonly end: number;
  readonly bareEnd: number;
}

/** @param from  where the line before ended: lines mostly come in the order of the text, columns beside each other may not. */
function findPlace(line: string, markdown: string, { text, offsets }: BareText, from: number): Place | undefined {
  const key = bareText(line).text;
  if (key.length < placedMinChars) return undefined;
  const next = text.indexOf(key, from);
  const foundIndex = next === -1 ? text.indexOf(key) : next;
  const [first, last] = [offsets[foundIndex], offsets[foundIndex + key.length - 1]];
  if (first === undefined || last === undefined) return undefined;
  const signs = [...line].filter((sign) => !rare.test(sign) && sign.trim() !== '');
  const start = first - marksAlong(marksBefore(signs).reverse(), (step) => markdown[first - 1 - step]);
  const end = last + 1 + marksAlong(marksBefore(signs.toReversed()).reverse(), (step) => markdown[last + 1 + step]);
  // A line over several cells or blocks would break them.
  if (/[|\n]/.test(markdown.slice(start, end))) return undefined;
  return { line, start, end, bareEnd: foundIndex + key.length };
}

/** The marks at the beginning, such as a bracket. */
function marksBefore(signs: readonly string[]): string[] {
  const first = signs.findIndex((sign) => /[\p{L}\p{N}]/u.test(sign));
  return signs.slice(0, first === -1 ? signs.length : first);
}

/** How far the same marks go on in the text, with spaces between them. @param signAt  the sign of the text at a distance. */
function marksAlong(marks: readonly string[], signAt: (step: number) => string | undefined): number {
  let reachedIndex = 0;
  for (const mark of marks) {
    let step = reachedIndex;
    while (signAt(step) === ' ') step += 1;
    if (signAt(step) !== mark) break;
    reachedIndex = step + 1;
  }
  return reachedIndex;
}

interface BareText {
  readonly text: string;
  readonly offsets: readonly number[];
}

/** Letters and figures without rare ones, each with its place in the text. */
function bareText(text: string): BareText {
  const chars: string[] = [];
  const offsets: number[] = [];
  for (const { 0: char, index } of text.matchAll(/[\p{L}\p{N}]/gu)) {
    if (rare.test(char)) continue;
    for (const unit of char.normalize('NFKC')) {
      chars.push(unit);
      offsets.push(index);
    }
  }
  return { text: chars.join(''), offsets };
}

/** People search for `Vmax`, not for the slanted letters of a formula. */
function plainLetters(line: string): string {
  return line.replace(/[\u210A-\u2138\u{1D400}-\u{1D7FF}]/gu, (letter) => letter.normalize('NFKC'));
}
