import type { Citation, Passage } from '../../../entities/knowledge/citation.ts';
import { cutText } from '../../../lib/text/text.ts';

/** The part of the text that may be sent now. `literal` is the inside of a JSON string literal, without its quotes. */
export interface MarkedText {
  readonly literal: string;
  readonly citations: readonly Citation[];
}

const markerPattern = / ?\[(\d{1,3})\]/g;
/** The longest end of a text that may still become a marker, including the space before it. */
const partialPattern = / ?\[\d{0,3}$| $/;
/** Most characters of a passage that a citation shows. */
export const snippetLength = 300;

/**
 * Finds the `[n]` markers of passages in a text that arrives in pieces. A known marker gets its number in order of first use; an unknown marker is
 * removed with the space before it. With `isCiting` false, all markers are removed and no citation is made.
 *
 * Markers are plain ASCII that JSON never escapes, so this works on JSON literals: text is decoded only up to a marker, to find its position.
 */
export class CitationMarkers {
  readonly #passages: readonly Passage[];
  readonly #isCiting: boolean;
  readonly #numbers = new Map<Passage, number>();
  #held = '';
  /** Text sent since the last marker whose length is not counted yet. */
  #unmeasured = '';
  #length = 0;

  constructor(passages: readonly Passage[], isCiting: boolean) {
    this.#passages = passages;
    this.#isCiting = isCiting;
  }

  /** Takes the inside of a delta's literal and returns the part that can no longer become a marker. */
  feed(inside: string): MarkedText {
    if (this.#held === '' && !inside.includes('[') && !inside.endsWith(' ')) {
      this.#unmeasured += inside;
      return { literal: inside, citations: [] };
    }
    const text = this.#held + inside;
    const partial = partialPattern.exec(text);
    this.#held = partial === null ? '' : partial[0];
    return this.#mark(partial === null ? text : text.slice(0, partial.index));
  }

  /** Returns the rest at the end of the text: a partial marker is plain text. */
  flush(): MarkedText {
    const literal = this.#held;
    this.#held = '';
    this.#unmeasured += literal;
    return { literal, citations: [] };
  }

  #mark(text: string): MarkedText {
    const citations: Citation[] = [];
    let literal = '';
    let from = 0;
    for (const match of text.matchAll(markerPattern)) {
      const before = text.slice(from, match.index);
      const marker = match[0];
      from = match.index + marker.length;
      const passage = this.#passages[Number(match[1]) - 1];
      this.#unmeasured += before;
      literal += before;
      if (this.#isCiting && passage?.mayCite === true) {
        const space = marker.startsWith(' ') ? ' ' : '';
        const citation = this.#cite(passage, space.length);
        citations.push(citation);
        literal += `${space}[${citation.index}]`;
      } else if (!this.#isCiting && passage === undefined) {
        this.#unmeasured += marker;
        literal += marker;
      }
    }
    const rest = text.slice(from);
    this.#unmeasured += rest;
    return { literal: literal + rest, citations };
  }

  #cite(passage: Passage, spaceLength: number): Citation {
    const index = this.#numbers.get(passage) ?? this.#numbers.size + 1;
    this.#numbers.set(passage, index);
    this.#length += (JSON.parse(`"${this.#unmeasured}"`) as string).length + spaceLength;
    this.#unmeasured = '';
    const answerStart = this.#length;
    this.#length += `[${index}]`.length;
    return {
      id: passage.chunkId,
      index,
      knowledgeItemId: passage.knowledgeItemId,
      dataSourceId: passage.dataSourceId,
      name: passage.title,
      url: passage.url,
      type: passage.itemType,
      page: passage.page,
      headingPath: passage.headingPath,
      snippet: cutText(passage.text, snippetLength),
      charStart: passage.charStart,
      charEnd: passage.charEnd,
      score: passage.score,
      ...(passage.fileId === undefined ? {} : { fileId: passage.fileId }),
      answerStart,
      answerEnd: this.#length,
    };
  }
}
