import type { Passage } from '../../entities/knowledge/citation.ts';
import type { RetrievalRecord } from '../../entities/runs/event.ts';

/** The passages of a search, or a search with how it was made. */
type Found =
  | readonly Passage[]
  | { readonly passages: readonly Passage[]; readonly retrieval: { readonly mode: string; readonly reason: string | null } };

export function passagesIn(found: Found): readonly Passage[] {
  return 'passages' in found ? found.passages : found;
}

/** What a trace tells of a search. */
export function retrievalOf(question: string, found: Found): RetrievalRecord {
  const { mode, reason } = 'passages' in found ? found.retrieval : { mode: 'lexical', reason: null };
  return { question, mode, reason, passages: passagesIn(found).map(({ title, score }) => ({ title, score })) };
}
