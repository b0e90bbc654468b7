import type { Passage } from '../../../entities/knowledge/citation.ts';
import type { Retrieval } from '../../../entities/knowledge/retrieval.ts';

/** The rank of a passage by words that is shown as a half. */
const middleScore = 5;
const least = 0.0001;

/**
 * The score of a passage for clients of the common format: above 0 and below 1, higher for a better fit, whatever it was ranked by. Sums of meaning
 * and words, and scores of common rerankers, are so already.
 */
export function displayScore({ score }: Pick<Passage, 'score'>, { mode, isReranked }: Retrieval): number {
  if (mode === 'lexical' && !isReranked) return score / (score + middleScore);
  return Math.min(Math.max(score, least), 1 - least);
}
