import { createHash } from 'node:crypto';
import type { Passage } from '../../../entities/knowledge/citation.ts';

/** A page of the web as a passage that an answer may cite: it belongs to no source of knowledge. */
export function webPassage({
  url,
  title,
  text,
}: {
  readonly url: string;
  readonly title: string;
  readonly text: string;
}): Passage {
  return {
    chunkId: `web_${createHash('sha256').update(url).digest('hex').slice(0, 24)}`,
    ...{ knowledgeItemId: '', dataSourceId: '', title, headingPath: '', text, page: null, url },
    ...{ charStart: 0, charEnd: text.length, itemType: 'WEB_PAGE', tokenCount: 0, score: 0, mayCite: true },
    scores: { lexical: null, vector: null, rerank: null },
  };
}

/** The citable pages of one run: each address has one number, however often it is found. */
export class WebSources {
  readonly #cite: (passage: Passage) => number;
  readonly #numbers = new Map<string, number>();

  constructor(cite: (passage: Passage) => number) {
    this.#cite = cite;
  }

  /** The number of a page in `[n]`. */
  numberOf(page: { readonly url: string; readonly title: string; readonly text: string }): number {
    const knownNumber = this.#numbers.get(page.url);
    if (knownNumber !== undefined) return knownNumber;
    const number = this.#cite(webPassage(page));
    this.#numbers.set(page.url, number);
    return number;
  }
}
