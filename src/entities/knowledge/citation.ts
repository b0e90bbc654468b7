import type { LegScores } from './retrieval.ts';

/**
 * A passage that an answer cites, or a page of the web: then the ids of item and source are empty. `index` is the number in its `[n]` marker, in order of first use.
 */
export interface Citation {
  readonly id: string;
  readonly index: number;
  readonly knowledgeItemId: string;
  readonly dataSourceId: string;
  readonly name: string;
  readonly url: string;
  readonly type: string;
  readonly page: number | null;
  readonly headingPath: string;
  readonly snippet: string;
  /** Position of the passage in the item's extracted text, in UTF-16 code units. */
  readonly charStart: number;
  readonly charEnd: number;
  readonly score: number;
  /** The uploaded file that `file_search` found it in; absent for other passages. */
  readonly fileId?: string;
  /** Position of the marker in the answer's text, in UTF-16 code units. */
  readonly answerStart: number;
  readonly answerEnd: number;
}

/** What stands in place of the title of a document that the reader may not open. */
export const hiddenTitle = 'Hidden from you';

/** A citation without what it says of its document: for a reader who may not open that. */
export function closeCitation(citation: Citation): Citation {
  return { ...citation, name: hiddenTitle, url: '', snippet: '', headingPath: '', page: null };
}

/** A passage as retrieval finds it. */
export interface Passage {
  readonly chunkId: string;
  readonly knowledgeItemId: string;
  readonly dataSourceId: string;
  readonly title: string;
  readonly headingPath: string;
  readonly text: string;
  readonly page: number | null;
  readonly charStart: number;
  readonly charEnd: number;
  /** The address of the original; a link into Parley when there is no other. */
  readonly url: string;
  readonly itemType: string;
  readonly tokenCount: number;
  /** Higher is closer: BM25, from 0 to 1 when meaning took part, the reranker's when it was asked. */
  readonly score: number;
  /** Of its best chunk. */
  readonly scores: LegScores;
  /** Present for an uploaded file that `file_search` found: how the responses format names it. */
  readonly fileId?: string;
  /** False when its source or item must not be cited. */
  readonly mayCite: boolean;
  /** Other items that contain the same text; absent when there are none. */
  readonly copies?: readonly PassageCopy[];
}

/** Another place of a passage's text. */
export type PassageCopy = Pick<
  Passage,
  'chunkId' | 'knowledgeItemId' | 'dataSourceId' | 'title' | 'page' | 'charStart' | 'charEnd' | 'url' | 'itemType' | 'mayCite'
>;
