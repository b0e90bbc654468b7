import { hash } from 'node:crypto';
import { estimateTokens } from '../../models/tokens.ts';
import type { Block, ExtractedDocument } from '../extract/document.ts';
import { type Piece, splitBlock } from './chunk-pieces.ts';
import { HeadingTrail, joinPath, tableColumns } from './heading-trail.ts';
import { sentenceRanges } from './sentences.ts';

/** A passage of a document, as it is indexed and cited. */
export interface Chunk {
  /** Place within the document, from 0. */
  readonly ordinal: number;
  /** Exactly `document.text.slice(charStart, charEnd)`. */
  readonly text: string;
  /** The headings above it, joined by ` > `, without the document's title; `''` when there are none. */
  readonly headingPath: string;
  readonly charStart: number;
  readonly charEnd: number;
  /** The page it starts on; null for formats without pages. */
  readonly page: number | null;
  /** As `estimateTokens` counts. */
  readonly tokenCount: number;
  /** SHA-256 of the text in hex: equal passages of several documents are shown once. */
  readonly contentHash: string;
}

export interface ChunkLimits {
  readonly targetTokens: number;
  /** Most tokens of a passage. */
  readonly maxTokens: number;
  /** A longer sentence is not repeated in the next passage. */
  readonly overlapTokensMax: number;
}
export const defaultChunkLimits: ChunkLimits = { targetTokens: 300, maxTokens: 480, overlapTokensMax: 60 };

/** A smaller passage is joined with the deeper section below it: a short introduction belongs to the text that it introduces. */
const leadTokensMax = 32;

/**
 * Splits a document into passages along its blocks. A heading or a page begins a new passage, paragraphs are joined up to the
 * target size, larger blocks are split between sentences (prose) or lines (tables, lists, code). A passage that continues a section
 * repeats the last sentence of the passage before, so that "it" and "this" keep their meaning; tables and code repeat nothing.
 *
 * Every character other than white space is in at least one passage. Lazy: one passage in memory at a time.
 */
export function* chunkDocument(
  document: ExtractedDocument,
  limits: ChunkLimits = defaultChunkLimits,
): Generator<Chunk, void, void> {
  const { text, blocks } = document;
  const trail = new HeadingTrail(document.title);
  let ordinal = 0;
  let draft: Draft | undefined;
  for (const block of blocks) {
    if (draft !== undefined && beginsAnew(draft, block)) {
      if (draft.isFresh) yield toChunk(text, draft, ordinal++);
      draft = isMidSentence(text, draft, block) ? overlap(text, draft, limits) : undefined;
    }
    if (block.kind === 'heading') trail.enter(block.level ?? 6, text.slice(block.charStart, block.charEnd));
    const columns = block.kind === 'table' ? tableColumns(text, block) : '';
    for (const piece of splitBlock(text, block, limits)) {
      if (draft !== undefined && isFull(text, draft, piece, limits)) {
        if (draft.isFresh) yield toChunk(text, draft, ordinal++);
        draft = overlap(text, draft, limits);
        if (draft !== undefined && extended(text, draft, piece) > limits.maxTokens) draft = undefined;
      }
      const headingPath = columns !== '' && piece.start > block.charStart ? joinPath(trail.path, columns) : trail.path;
      draft ??= emptyDraft(piece.start, block.page, headingPath);
      add(text, draft, block, piece, trail.level, headingPath);
    }
  }
  if (draft?.isFresh) yield toChunk(text, draft, ordinal);
}

/** A passage that is being built. */
interface Draft {
  readonly start: number;
  readonly page: number | null;
  end: number;
  tokens: number;
  headingPath: string;
  /** Level of its heading; 0 above the first heading. */
  level: number;
  /** False while it contains only headings, which stay with the next block. */
  hasBody: boolean;
  /** False while it contains only the repeated sentence. */
  isFresh: boolean;
  /** Start of its last piece, from which the overlap is taken. */
  lastStart: number;
  lastKind: Block['kind'];
  lastPage: number | null;
}

function emptyDraft(start: number, page: number | null, headingPath: string): Draft {
  return {
    start,
    page,
    end: start,
    tokens: 0,
    headingPath,
    level: 0,
    hasBody: false,
    isFresh: false,
    lastStart: start,
    lastKind: 'paragraph',
    lastPage: page,
  };
}

function add(text: string, draft: Draft, block: Block, piece: Piece, level: number, headingPath: string): void {
  draft.tokens = extended(text, draft, piece);
  draft.end = piece.end;
  if (!draft.hasBody) draft.headingPath = headingPath;
  draft.level = level;
  draft.hasBody ||= block.kind !== 'heading';
  draft.isFresh = true;
  draft.lastStart = piece.start;
  draft.lastKind = block.kind;
  draft.lastPage = block.page;
}

/** Tokens of the draft with the piece and the white space between them. */
function extended(text: string, draft: Draft, piece: Piece): number {
  return draft.tokens + estimateTokens(text, draft.end, piece.start) + piece.tokens;
}

function beginsAnew(draft: Draft, block: Block): boolean {
  if (!draft.hasBody) return false;
  if (block.kind === 'heading') return draft.tokens > leadTokensMax || (block.level ?? 6) <= draft.level;
  return block.page !== draft.lastPage;
}

/** A passage below half its target size takes the next piece up to the limit; a larger one stops at the target. */
function isFull(text: string, draft: Draft, piece: Piece, limits: ChunkLimits): boolean {
  const tokens = extended(text, draft, piece);
  return tokens > limits.maxTokens || (tokens > limits.targetTokens && draft.tokens >= limits.targetTokens / 2);
}

/** Whether the page ended inside a sentence. */
function isMidSentence(text: string, draft: Draft, block: Block): boolean {
  return (
    block.kind === 'paragraph' &&
    draft.lastKind === 'paragraph' &&
    !/[.!?:;。！？…]["'”’»)\]]*$/.test(text.slice(draft.end - 4, draft.end))
  );
}

/** Begins the next passage with the last sentence of this one, or empty. */
function overlap(text: string, draft: Draft, limits: ChunkLimits): Draft | undefined {
  if (!draft.isFresh || (draft.lastKind !== 'paragraph' && draft.lastKind !== 'list')) return undefined;
  let start = draft.lastStart;
  for (const [sentenceStart] of sentenceRanges(text, draft.lastStart, draft.end)) start = sentenceStart;
  const tokens = estimateTokens(text, start, draft.end);
  if (tokens > limits.overlapTokensMax) return undefined;
  return { ...draft, start, page: draft.lastPage, tokens, hasBody: true, isFresh: false, lastStart: start };
}

function toChunk(text: string, draft: Draft, ordinal: number): Chunk {
  const content = text.slice(draft.start, draft.end);
  return {
    ordinal,
    text: content,
    headingPath: draft.headingPath,
    charStart: draft.start,
    charEnd: draft.end,
    page: draft.page,
    tokenCount: Math.ceil(draft.tokens),
    contentHash: hash('sha256', content),
  };
}
