import type { ItemFilter } from '../../../entities/knowledge/item-filter.ts';
import type { ChunkRanking, RankedChunk } from '../../../storage/knowledge/passages/chunk-ranking.ts';
import type { AccessGate } from '../../../storage/knowledge/permissions/gate.ts';
import { planQuestion, type QuestionPlan } from './question.ts';
import type { ContextText } from './question-terms.ts';
import { findQuestionTerms, searchedText } from './question-terms.ts';

/** The sources that may be searched, limited to those of the organization. */
export interface AllowedSources {
  readonly orgId: string;
  readonly dataSourceIds: readonly string[];
  /** Only these items of the sources; absent: all. */
  readonly itemIds?: readonly string[];
  /** Only items that it fits; absent: all. */
  readonly filter?: ItemFilter;
  /** What the person who asks may open of MIRRORED sources; absent: none of the sources is. */
  readonly gate?: AccessGate;
}

/**
 * Ranks the live passages of the sources by BM25.
 *
 * @returns at most `limit`, best first; `[]` when they contain no word of the question.
 *
 * Cost: two statements, and one for each word that no passage holds (up to three of each of eight languages), which looks for words spelled like it. See
 * candidates.ts for the rows that are read.
 */
export async function rankChunks(
  ranking: ChunkRanking,
  scope: AllowedSources,
  question: string,
  limit: number,
  context: readonly ContextText[] = [],
): Promise<readonly RankedChunk[]> {
  const plan = await planWordSearch(ranking, scope, question, limit, context);
  return plan === undefined ? [] : ranking.rank(plan);
}

/** The terms that a question is ranked by; undefined when nothing can be found. */
export async function planWordSearch(
  ranking: ChunkRanking,
  scope: AllowedSources,
  question: string,
  limit: number,
  context: readonly ContextText[] = [],
): Promise<QuestionPlan | undefined> {
  return (await planWords(ranking, scope, question, limit, context)).plan;
}

/** Whether nothing can be found, by words or by meaning: no source, no item or no word. */
export function findsNothing({ dataSourceIds, itemIds, gate }: AllowedSources, question: string): boolean {
  return dataSourceIds.length === 0 || itemIds?.length === 0 || gate?.itemIds?.length === 0 || searchedText(question) === '';
}

/** The same, and how many passages the sources have. */
export async function planWords(
  ranking: ChunkRanking,
  scope: AllowedSources,
  question: string,
  limit: number,
  context: readonly ContextText[],
): Promise<{ readonly plan: QuestionPlan | undefined; readonly allowedChunks: number }> {
  if (findsNothing(scope, question)) return { plan: undefined, allowedChunks: 0 };
  const askedTerms = await findQuestionTerms(ranking, scope.dataSourceIds, searchedText(question), context);
  const allowedChunks = askedTerms.chunks.values().reduce((sum, chunks) => sum + chunks, 0);
  if (askedTerms.terms.length === 0) return { plan: undefined, allowedChunks };
  return { plan: await planQuestion(ranking, scope, askedTerms, limit), allowedChunks };
}
