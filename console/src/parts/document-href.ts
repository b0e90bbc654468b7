/** A passage of a document, as citations and searches name it. */
export interface PassagePlace {
  readonly knowledgeItemId: string;
  /** The id of the passage, or of the citation that names it. */
  readonly passageId: string;
  readonly page: number | null;
  readonly charStart: number;
  readonly charEnd: number;
}

/** Where the console shows a document, open at the passage. */
export function documentHref({ knowledgeItemId, passageId, page, charStart, charEnd }: PassagePlace): string {
  const query = new URLSearchParams({
    citation: passageId,
    ...(page === null ? {} : { page: String(page) }),
    passage: `${charStart}-${charEnd}`,
  });
  return `/documents/${knowledgeItemId}?${query}`;
}
