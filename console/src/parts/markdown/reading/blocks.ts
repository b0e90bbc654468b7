import type { Token } from 'marked';
import { type Definitions, type Dialect, type FootnoteToken, noDefinitions, readBlocks } from './dialect.ts';

/** A paragraph, a list, a table, a piece of code: a block by its source, and where that stands in the text. */
export interface BlockSource {
  readonly source: string;
  readonly start: number;
}

export interface Footnote {
  readonly label: string;
  readonly text: string;
}

/** A Markdown text in blocks. */
export interface Blocks {
  readonly text: string;
  readonly blocks: readonly BlockSource[];
  /** The same object while they say the same. */
  readonly definitions: Definitions;
  readonly footnotes: readonly Footnote[];
  /** What stands before `end` stays as it is, whatever the text goes on with. */
  readonly settled: Settled;
}

interface Settled {
  readonly end: number;
  readonly blocks: readonly BlockSource[];
  readonly definitions: Definitions;
  readonly footnotes: readonly Footnote[];
}

const nothing: Settled = { end: 0, blocks: [], definitions: noDefinitions, footnotes: [] };
export const noBlocks: Blocks = { text: '', blocks: [], definitions: noDefinitions, footnotes: [], settled: nothing };

/** The blocks of a text. Of a text that continues the one before, only what may still change is read again. The result does not depend on what was before. */
export function splitBlocks(text: string, dialect: Dialect, before: Blocks = noBlocks): Blocks {
  if (text === before.text) return before;
  const settled = text.startsWith(before.text) ? before.settled : nothing;
  const { tokens, definitions } = readBlocks(text.slice(settled.end), dialect);
  const places = placeTokens(tokens, settled.end);
  const last = places.findLastIndex((_, index) => index > 0 && beginsAnew(text, places, index));
  const all = append(settled, places, definitions);
  return {
    ...{ text, blocks: all.blocks, footnotes: all.footnotes },
    definitions: isSame(all.definitions, before.definitions) ? before.definitions : all.definitions,
    settled: last === -1 ? settled : settle(text, dialect, settled, places.slice(0, last), places[last]?.start ?? settled.end),
  };
}

interface PlacedToken {
  readonly token: Token | FootnoteToken;
  readonly start: number;
}

/** An empty line is no block. */
function placeTokens(tokens: readonly Token[], start: number): readonly PlacedToken[] {
  const places: PlacedToken[] = [];
  let place = start;
  for (const token of tokens) {
    if (token.type !== 'space') places.push({ token, start: place });
    place += token.raw.length;
  }
  return places;
}

/**
 * Whether a block can be read without what is before it, whatever the text goes on with. An empty line must stand before it. What is indented or begins
 * like the item of a list may still belong to a list or a footnote before it; that is known once its first line is complete.
 */
function beginsAnew(text: string, places: readonly PlacedToken[], index: number): boolean {
  const { start = 0 } = places[index] ?? {};
  if (!/\n[ \t]*\n$/.test(text.slice(Math.max(0, start - 200), start))) return false;
  return /^\p{L}/u.test(text.slice(start, start + 2)) || text.includes('\n', start);
}

function settle(text: string, dialect: Dialect, settled: Settled, places: readonly PlacedToken[], end: number): Settled {
  const { definitions } = readBlocks(text.slice(settled.end, end), dialect);
  return { ...append(settled, places, definitions), end };
}

/** The first of several definitions of a label holds. */
function append(settled: Settled, places: readonly PlacedToken[], definitions: Definitions): Settled {
  const notes = places.flatMap(({ token }) => (isFootnote(token) ? [{ label: token.label, text: token.text }] : []));
  const blocks = places.flatMap(({ token, start }) => (isFootnote(token) ? [] : [{ source: token.raw, start }]));
  return {
    end: settled.end,
    blocks: [...settled.blocks, ...blocks],
    footnotes: [...settled.footnotes, ...notes],
    definitions: { ...definitions, ...settled.definitions },
  };
}

function isFootnote(token: Token | FootnoteToken): token is FootnoteToken {
  return token.type === 'footnote';
}

function isSame(some: Definitions, others: Definitions): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
}
