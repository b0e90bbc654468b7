import type { Token, Tokens } from 'marked';
import { createContext } from 'react';

/** A part of a text that is marked: a passage, or in it the words that support an answer. Places are in UTF-16 code units of the Markdown. */
export interface Mark {
  readonly start: number;
  readonly end: number;
  readonly kind: 'passage' | 'support';
}

export interface PlacedMarks {
  readonly marks: readonly Mark[];
  /** Where the text of each token begins that has no tokens in it. */
  readonly places: ReadonlyMap<Token, number>;
}

/** What is marked in the block around; undefined where nothing is. */
export const MarksContext = createContext<PlacedMarks | undefined>(undefined);

/** Marks a passage, and in it the words that support an answer. `support`: its place within the passage. */
export function markPassage(
  start: number,
  length: number,
  support: { readonly start: number; readonly end: number } | undefined,
): readonly Mark[] {
  const passage: Mark = { start, end: start + length, kind: 'passage' };
  if (support === undefined) return [passage];
  return [passage, { start: start + support.start, end: start + support.end, kind: 'support' }];
}

/** The marks of one block, as places within it. */
export function marksWithin(marks: readonly Mark[], start: number, length: number): readonly Mark[] {
  return marks.flatMap((mark) => {
    const [from, to] = [Math.max(0, mark.start - start), Math.min(length, mark.end - start)];
    return from < to ? [{ ...mark, start: from, end: to }] : [];
  });
}

/** Where the text of tokens stands in their source. What stands there in another form, such as a line without its indent, has no place. */
export function placeTexts(tokens: readonly Token[], source: string): ReadonlyMap<Token, number> {
  const places = new Map<Token, number>();
  placeWithin(tokens, source, 0, source.length, places);
  return places;
}

function placeWithin(tokens: readonly Token[], source: string, from: number, to: number, places: Map<Token, number>): void {
  let cursor = from;
  for (const token of tokens) {
    const place = source.indexOf(token.raw, cursor);
    const isThere = place !== -1 && place + token.raw.length <= to;
    const start = isThere ? place : cursor;
    const end = isThere ? place + token.raw.length : to;
    const inside = listInside(token);
    if (inside.length > 0) placeWithin(inside, source, start, end, places);
    else if (isThere) places.set(token, start + Math.max(0, token.raw.indexOf(visibleText(token))));
    if (isThere) cursor = end;
  }
}

function listInside(token: Token): readonly Token[] {
  if (token.type === 'list') return (token as Tokens.List).items;
  if (token.type !== 'table') return 'tokens' in token ? (token.tokens ?? []) : [];
  const { header, rows } = token as Tokens.Table;
  return [header, ...rows].flatMap((row) => row.flatMap((cell) => cell.tokens));
}

function visibleText(token: Token): string {
  return 'text' in token && typeof token.text === 'string' ? token.text : token.raw;
}

/** A text in pieces, each marked or not. `place`: where it begins among the marks. */
export function splitByMarks(text: string, place: number, marks: readonly Mark[]) {
  const edges = [...new Set([0, text.length, ...marks.flatMap(({ start, end }) => [start - place, end - place])])]
    .filter((edge) => edge >= 0 && edge <= text.length)
    .sort((one, other) => one - other);
  return edges.slice(1).map((end, index) => {
    const start = edges[index] ?? 0;
    const kinds = marks.filter((mark) => mark.start <= start + place && mark.end >= end + place).map(({ kind }) => kind);
    return { text: text.slice(start, end), kind: kinds.includes('support') ? ('support' as const) : kinds[0] };
  });
}
