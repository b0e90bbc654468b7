/** A passage of a document, as readers of the document get it. */
export interface KnowledgePassage {
  /** Its place within the document, from 0. */
  readonly place: number;
  /** Without what the passage before says already, and with the white space between the two: joined, passages are the text of the document. */
  readonly text: string;
  /** The headings above it; null for none. */
  readonly headingPath: string | null;
  /** The page that it starts on; null where the document has no pages. */
  readonly page: number | null;
  /** Where it starts and ends in the text of the document, in UTF-16 code units. Neighbours may overlap. */
  readonly charStart: number;
  readonly charEnd: number;
}

/** Passages of a document as they are stored. */
export interface ItemPassages {
  /** In order; the one before `from` is the first, where there is one. */
  readonly rows: readonly StoredPassage[];
  /** How many the document has. */
  readonly count: number;
  /** The places of the page: from the first to that behind the last. */
  readonly from: number;
  readonly to: number;
}

export interface StoredPassage {
  /** Its place within the document, from 0. */
  readonly ordinal: number;
  readonly text: string;
  /** White space between the passage before and this one. */
  readonly gapBefore: string;
  readonly charStart: number;
  readonly charEnd: number;
  readonly page: number | null;
  readonly headingPath: string;
}
