import type { WordOrigin } from '../../../entities/knowledge/searched-question.ts';
import type { ChunkRanking, QuestionTerms, SourceTerm } from '../../../storage/knowledge/passages/chunk-ranking.ts';
import { searchableText } from '../index/searchable-text.ts';

export interface AskedTerm extends SourceTerm {
  readonly origin: Exclude<WordOrigin, 'spelling'>;
}
export interface AskedTerms extends QuestionTerms {
  readonly terms: readonly AskedTerm[];
}

/** A text whose words are searched besides those of the question; a word counts `weight` times as much as one of the question. */
export interface ContextText {
  readonly text: string;
  readonly weight: number;
}

/** Longer questions are cut, not refused. */
export const questionMaxChars = 8_000;

/** A text as it is searched; '' for one without words. */
export function searchedText(text: string): string {
  return searchableText(text.slice(0, questionMaxChars).toWellFormed()).replaceAll('\0', ' ').trim();
}

/**
 * The lexemes of a question and of what was said before. A lexeme that was said before and is not in the question counts by the weight of its
 * text.
 *
 * Cost: one statement, and one for each text of the context.
 */
export async function findQuestionTerms(
  ranking: Pick<ChunkRanking, 'findTerms'>,
  dataSourceIds: readonly string[],
  text: string,
  context: readonly ContextText[],
): Promise<AskedTerms> {
  const questionTerms = await ranking.findTerms(dataSourceIds, text);
  const terms = questionTerms.terms.map((term): AskedTerm => ({ ...term, origin: 'question' }));
  if (context.length === 0) return { ...questionTerms, terms };
  const contextTerms = await Promise.all(
    context.map(async (part) => {
      const contextWords = searchedText(part.text);
      const sourceTerms = contextWords === '' ? [] : (await ranking.findTerms(dataSourceIds, contextWords)).terms;
      return sourceTerms.map((term): AskedTerm => ({ ...term, count: part.weight, origin: 'context' }));
    }),
  );
  const knownIds = new Set(terms.map(toTermId));
  const addedTerms = new Map<string, AskedTerm>();
  for (const term of contextTerms.flat()) {
    const id = toTermId(term);
    // A word that no passage contains adds nothing, and is not looked up by its spelling.
    if (term.df === 0 || knownIds.has(id) || (addedTerms.get(id)?.count ?? 0) >= term.count) continue;
    addedTerms.set(id, term);
  }
  return { ...questionTerms, terms: [...terms, ...addedTerms.values()] };
}

function toTermId({ dataSourceId, config, term }: SourceTerm): string {
  return `${dataSourceId} ${config} ${term}`;
}
