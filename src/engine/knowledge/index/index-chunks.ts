import type { NewChunk } from '../../../storage/knowledge/passages/chunks.ts';
import type { ExtractedDocument } from '../extract/document.ts';
import { chunkDocument } from './chunk.ts';
import { searchableText } from './searchable-text.ts';

const titleMaxChars = 300;
/** Neighbours with a wider gap are joined by a blank line: a wide gap is more than a paragraph break. */
const gapMaxChars = 64;

/**
 * The passages of a document in the form that is indexed: the title counts twice, then headings and text.
 *
 * @param name  used for a document without a title.
 */
export function* indexChunks(document: ExtractedDocument, name: string): Generator<NewChunk, void, void> {
  const title = (document.title ?? name).slice(0, titleMaxChars);
  let lastEnd = 0;
  const lines = document.firstLine === null ? undefined : new LineCounter(document.text, document.firstLine);
  for (const chunk of chunkDocument(document)) {
    const { headingPath, text, charStart } = chunk;
    yield {
      ...chunk,
      lineStart: lines?.lineOf(charStart) ?? null,
      lineEnd: lines?.lineOf(chunk.charEnd - 1) ?? null,
      gapBefore: gap(document.text, lastEnd, charStart),
      searchText: searchableText(`${title}\n${title}\n${headingPath}\n${text}`),
    };
    lastEnd = chunk.charEnd;
  }
}

/** Counts lines in one pass: passages come in order, and overlap by a sentence at most. */
class LineCounter {
  readonly #text: string;
  #at = 0;
  #line: number;

  constructor(text: string, firstLine: number) {
    this.#text = text;
    this.#line = firstLine;
  }

  lineOf(index: number): number {
    for (; this.#at < index; this.#at += 1) if (this.#text.charCodeAt(this.#at) === newline) this.#line += 1;
    for (; this.#at > index; this.#at -= 1) if (this.#text.charCodeAt(this.#at - 1) === newline) this.#line -= 1;
    return this.#line;
  }
}

const newline = 10;

function gap(text: string, from: number, to: number): string {
  if (to <= from) return '';
  return to - from > gapMaxChars ? '\n\n' : text.slice(from, to);
}
