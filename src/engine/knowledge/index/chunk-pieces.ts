import { estimateTokens } from '../../models/tokens.ts';
import type { Block } from '../extract/document.ts';
import { sentenceRanges } from './sentences.ts';

/** The smallest part of a passage; no white space at its ends. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
}

/**
 * A block that fits is one piece; a larger one is split between sentences or lines, and a sentence or line that is still too large between words.
 */
export function* splitBlock(
  text: string,
  block: Block,
  limits: { readonly targetTokens: number; readonly maxTokens: number },
): Generator<Piece> {
  const { charStart, charEnd } = block;
  // A token has rarely more than eight characters, so a much longer block is too large without counting.
  if (charEnd - charStart <= limits.maxTokens * 10) {
    const tokens = estimateTokens(text, charStart, charEnd);
    if (tokens <= limits.targetTokens) return yield* trimmed(text, charStart, charEnd);
  }
  const isProse = block.kind === 'paragraph' || block.kind === 'heading';
  for (const [start, end] of isProse ? sentenceRanges(text, charStart, charEnd) : lineRanges(text, charStart, charEnd)) {
    if (end - start <= limits.maxTokens * 10 && estimateTokens(text, start, end) <= limits.maxTokens)
      yield* trimmed(text, start, end);
    else yield* splitWords(text, start, end, limits.targetTokens);
  }
}

function* lineRanges(text: string, start: number, end: number): Generator<readonly [number, number]> {
  for (let from = start; from < end; ) {
    const newline = text.indexOf('\n', from);
    const to = newline === -1 || newline >= end ? end : newline + 1;
    yield [from, to];
    from = to;
  }
}

/** Splits at white space; where there is none, anywhere except inside a surrogate pair. */
function* splitWords(text: string, start: number, end: number, tokensMax: number): Generator<Piece> {
  for (let from = start; from < end; ) {
    let to = Math.min(end, from + tokensMax * 4);
    while (to - from > 1 && estimateTokens(text, from, to) > tokensMax) to = from + ((to - from) >> 1);
    if (to < end) to = wordEnd(text, from, to);
    yield* trimmed(text, from, to);
    from = to;
  }
}

function wordEnd(text: string, from: number, to: number): number {
  for (let index = to; index > from + ((to - from) >> 1); index -= 1) if (text.charCodeAt(index) <= 32) return index;
  const isInPair = (text.charCodeAt(to) & 0xfc00) === 0xdc00 && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800;
  if (!isInPair) return to;
  return to - 1 > from ? to - 1 : to + 1;
}

function* trimmed(text: string, start: number, end: number): Generator<Piece> {
  let from = start;
  let to = end;
  while (from < to && isSpace(text.charCodeAt(from))) from += 1;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to -= 1;
  if (to > from) yield { start: from, end: to, tokens: estimateTokens(text, from, to) };
}

function isSpace(code: number): boolean {
  return code <= 32 || code === 0xa0 || code === 0x2028 || code === 0x2029 || code === 0x3000 || code === 0xfeff;
}
