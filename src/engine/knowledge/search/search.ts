import type { ItemFilter } from '../../../entities/knowledge/item-filter.ts';
import type { Retrieval } from '../../../entities/knowledge/retrieval.ts';
import type { ChunkRanking, RankedChunk } from '../../../storage/knowledge/chunk-ranking.ts';
import type { ContextText } from './follow-up.ts';
import { choosePassages, type FoundPassage, type PassageLimits, type UrlOf } from './passages.ts';
import { planQuestion, type QuestionPlan } from './question.ts';
import { findQuestionTerms, searchedText } from './question-terms.ts';

/** The sources that may be searched, limited to those of the organization. */
export interface AllowedSources {
  readonly orgId: string;
  readonly dataSourceIds: readonly string[];
  /** Only these items of the sources; absent: all. */
  readonly itemIds?: readonly string[];
  /** Only items that it fits; absent: all. */
  readonly filter?: ItemFilter;
}

/** Passages, best first, and how they were found. */
export interface SearchResult {
  readonly passages: readonly FoundPassage[];
  readonly retrieval: Retrieval;
}

/** Chunks read for each wanted passage: some are duplicates, some exceed an item's limit, some are joined. */
const rankedPerPassage = 4;

/**
 * Ranks the live passages of the sources by BM25.
 *
 * @returns at most `limit`, best first; `[]` when they contain no word of the question.
 *
 * Cost: two statements, three when a word of the question is in no passage and another word means the same; 17 ms (median) at 90,000 passages on the embedded database, on two busy cores (bench/retrieval.ts).
 */
export async function rankChunks(
  ranking: ChunkRanking,
  allowed: AllowedSources,
  question: string,
  limit: number,
  context: readonly ContextText[] = [],
): Promise<readonly RankedChunk[]> {
  const plan = await planOf(ranking, allowed, question, limit, context);
  return plan === undefined ? [] : ranking.rank(plan);
}

/** The terms that a question is ranked by; undefined when nothing can be found. */
export async function planOf(
  ranking: ChunkRanking,
  allowed: AllowedSources,
  question: string,
  limit: number,
  context: readonly ContextText[] = [],
): Promise<QuestionPlan | undefined> {
  const text = searchedText(question);
  if (allowed.dataSourceIds.length === 0 || allowed.itemIds?.length === 0 || text === '') return undefined;
  const found = await findQuestionTerms(ranking, allowed.dataSourceIds, text, context);
  if (found.terms.length === 0) return undefined;
  return planQuestion(ranking, allowed, found, limit);
}

/** The passages for an answer: ranked, without duplicates, neighbours joined, within the limits. See passages.ts. */
export async function searchPassages(
  ranking: ChunkRanking,
  allowed: AllowedSources,
  question: string,
  limits: PassageLimits,
  urlOf: UrlOf,
  signal: AbortSignal,
  context: readonly ContextText[] = [],
): Promise<SearchResult> {
  signal.throwIfAborted();
  const sources = { ...allowed, dataSourceIds: [...new Set(allowed.dataSourceIds)] };
  const chunks = await rankChunks(ranking, sources, question, limits.passagesMax * rankedPerPassage, context);
  signal.throwIfAborted();
  const retrieval = { mode: 'lexical', reason: null, isReranked: false, rerankReason: null } as const;
  return { passages: choosePassages(chunks, limits, urlOf), retrieval };
}
