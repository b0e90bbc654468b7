import type { MatchedWord } from '../../../entities/knowledge/searched-question.ts';
import { termScore } from '../../../storage/knowledge/passages/chunk-ranking.ts';
import type { ChunkStore } from '../../../storage/knowledge/passages/chunks.ts';
import type { PassageMatch } from './passages.ts';
import type { PlannedTerm } from './question.ts';
import type { ContextText } from './question-terms.ts';
import { type AllowedSources, planWordSearch } from './words.ts';

/** The words that each passage was found by, by its `chunkId`; those that add most first. */
export type Explanations = ReadonlyMap<string, readonly MatchedWord[]>;

/**
 * Says by which words passages were found. A passage of several chunks is explained by the best of them.
 *
 * Cost: the statements that find the terms of the question, and one more.
 */
export async function explainPassages(
  chunks: ChunkStore,
  scope: AllowedSources,
  question: string,
  context: readonly ContextText[],
  matches: readonly PassageMatch[],
): Promise<Explanations> {
  const plan = matches.length === 0 ? undefined : await planWordSearch(chunks, scope, question, matches.length, context);
  if (plan === undefined) return new Map();
  const byKey = new Map<number, PlannedTerm>();
  for (const term of plan.terms) for (const key of term.keys.values()) byKey.set(key, term);
  const chunkIds = matches.flatMap((passage) => passage.chunkIds);
  const rows = Map.groupBy(await chunks.details.termsIn(chunkIds, [...byKey.keys()]), ({ chunkId }) => chunkId);
  const spokenText = [question, ...context.map(({ text }) => text)].join(' ');
  const listWords = (chunkId: string): readonly MatchedWord[] =>
    (rows.get(chunkId) ?? []).flatMap(({ key, count, length }) => {
      const term = byKey.get(key);
      if (term === undefined) return [];
      const { origin, weight } = term;
      return [
        { word: chooseWord(term, spokenText), origin, weight, score: termScore(weight, count, length, plan.averageLength) },
      ];
    });
  return new Map(
    matches.map((passage) => {
      const best = passage.chunkIds.map(listWords).reduce((most, words) => (total(words) > total(most) ? words : most), []);
      return [passage.chunkId, best.toSorted((a, b) => b.score - a.score)];
    }),
  );
}

function total(words: readonly MatchedWord[]): number {
  return words.reduce((sum, { score }) => sum + score, 0);
}

/** A lexeme as it was written: `punctur` is "puncture" where that was asked. */
function chooseWord({ term, origin }: PlannedTerm, spokenText: string): string {
  if (origin === 'spelling') return term;
  const words = spokenText.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const begins = (beginning: string) => words.find((word) => word.startsWith(beginning));
  return begins(term) ?? (term.length > 3 ? begins(term.slice(0, -1)) : undefined) ?? term;
}
