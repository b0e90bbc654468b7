import type { Glyph } from './glyphs.ts';

/** A wider gap between two glyphs, in sizes of the font, is a space. */
const spaceMinEms = 0.18;
/** Glyphs whose baselines differ by less, in sizes of the larger font, stand in one line: raised figures stand in that of their word. */
const baselineMaxEms = 0.45;

/**
 * Joins glyphs to lines of text in the order in which people read them: lines in the order of the page's content, and in a line from left to right,
 * or from right to left where most of its letters are Hebrew, Arabic or of a similar script. A PDF holds glyphs in any order, so the order comes from their places.
 */
export function collectLines(glyphs: readonly Glyph[]): string[] {
  return gather(glyphs)
    .map(readLine)
    .filter((line) => line !== '');
}

/** A glyph with its place along the line. */
interface Placed extends Glyph {
  readonly along: number;
}

function gather(glyphs: readonly Glyph[]): Placed[][] {
  const lines: Placed[][] = [];
  let across = Number.NaN;
  let angle = Number.NaN;
  let size = 0;
  for (const glyph of glyphs) {
    const [cos, sin] = [Math.cos(glyph.angle), Math.sin(glyph.angle)];
    const glyphAcross = glyph.y * cos - glyph.x * sin;
    const isSameLine =
      Math.abs(glyph.angle - angle) < 0.01 && Math.abs(glyphAcross - across) < baselineMaxEms * Math.max(size, glyph.size);
    const placedGlyph = { ...glyph, along: glyph.x * cos + glyph.y * sin };
    const open = lines.at(-1);
    if (isSameLine && open !== undefined) open.push(placedGlyph);
    else lines.push([placedGlyph]);
    across = glyphAcross;
    angle = glyph.angle;
    size = glyph.size;
  }
  return lines;
}

function readLine(line: readonly Placed[]): string {
  const pieces: string[] = [];
  let end = Number.NaN;
  let last: Placed | undefined;
  for (const glyph of line.toSorted((a, b) => a.along - b.along)) {
    const { text, along, width, size } = glyph;
    // Drawn twice, a little apart: how some programs write bold letters.
    if (last !== undefined && last.text === text && along - last.along < 0.1 * size) continue;
    last = glyph;
    if (along - end > spaceMinEms * size && pieces.at(-1) !== ' ') pieces.push(' ');
    pieces.push(text.normalize(isPresentationForm(text) ? 'NFKC' : 'NFC'));
    end = along + width;
  }
  const order = isRightToLeft(pieces.join('')) ? fromRightToLeft(pieces) : fromLeftToRight(pieces);
  return order.join('').replace(/\s+/g, ' ').trim();
}

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;
const letter = /\p{L}/gu;

/** The share of a text's letters that are of a script that runs from right to left, 0 to 1. */
export function rightToLeftShare(text: string): number {
  const letters = text.match(letter)?.length ?? 0;
  return letters === 0 ? 0 : (text.match(rightToLeft)?.length ?? 0) / letters;
}

function isRightToLeft(text: string): boolean {
  return rightToLeftShare(text) > 0.5;
}

const mirroredCharacters: Readonly<Record<string, string>> = {
  '(': ')',
  ')': '(',
  '[': ']',
  ']': '[',
  '{': '}',
  '}': '{',
  '<': '>',
  '>': '<',
};

/** Pieces of a line from right to left, given from left to right. Words and numbers of other scripts keep their own order. */
function fromRightToLeft(pieces: readonly string[]): string[] {
  const isLetter = (piece: string) => /\p{L}/u.test(piece) && !isRightToLeft(piece);
  const isOther = (piece: string) => isLetter(piece) || /\p{N}/u.test(piece);
  const orderedTexts: string[] = [];
  for (let place = pieces.length - 1; place >= 0; place -= 1) {
    let start = place;
    if (isOther(pieces[place] ?? '')) {
      // A run of other scripts, with what stands between its words (spaces, commas, points). Figures alone end at a space.
      let hasLetter = false;
      let isApart = false;
      for (let next = place; next >= 0 && !isRightToLeft(pieces[next] ?? ''); next -= 1) {
        const piece = pieces[next] ?? '';
        if (piece.trim() === '') isApart = true;
        hasLetter ||= isLetter(piece);
        if (isApart && !hasLetter) break;
        if (isOther(piece)) start = next;
      }
    }
    if (start === place) orderedTexts.push(mirroredCharacters[pieces[place] ?? ''] ?? pieces[place] ?? '');
    else orderedTexts.push(...pieces.slice(start, place + 1));
    place = start;
  }
  return orderedTexts;
}

/** The same for a line from left to right: words of scripts from right to left are turned, with what stands between them. */
function fromLeftToRight(pieces: readonly string[]): string[] {
  const orderedTexts: string[] = [];
  for (let place = 0; place < pieces.length; place += 1) {
    let end = place;
    if (isRightToLeft(pieces[place] ?? '')) {
      for (let next = place + 1; next < pieces.length && !/[\p{L}\p{N}]/u.test(ofOthers(pieces[next] ?? '')); next += 1) {
        if (isRightToLeft(pieces[next] ?? '')) end = next;
      }
    }
    orderedTexts.push(...(end === place ? pieces.slice(place, place + 1) : fromRightToLeft(pieces.slice(place, end + 1))));
    place = end;
  }
  return orderedTexts;
}

function ofOthers(piece: string): string {
  return isRightToLeft(piece) ? '' : piece;
}

/** Arabic letters in the form of their place in a word, and joined letters, which fonts have and nobody types. */
function isPresentationForm(text: string): boolean {
  return /[\uFB00-\uFDFF\uFE70-\uFEFF]/.test(text);
}
