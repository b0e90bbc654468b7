import type { Retrieval } from '../../../entities/knowledge/retrieval.ts';
import type { ChunkRanking, RankedChunk } from '../../../storage/knowledge/passages/chunk-ranking.ts';
import type { SearchIndex } from '../../../storage/knowledge/search-index/search-index.ts';
import type { Embeddings } from '../embeddings/embeddings.ts';
import type { AskedQuestion } from './asked-question.ts';
import { inContext } from './follow-up.ts';
import { rankHybrid } from './hybrid.ts';
import { rankByIndex } from './indexed.ts';
import { choosePassages, type PassageLimits, type PassageMatch, type UrlOf } from './passages.ts';
import { type Reranker, rerankedMax } from './reranker.ts';
import type { AllowedSources } from './words.ts';

/** What searches work with. */
export interface SearchContext {
  readonly ranking: ChunkRanking;
  /** Undefined: the database answers. */
  readonly index?: SearchIndex | undefined;
  /** Undefined while EMBEDDING_MODEL is not set. */
  readonly embeddings: Embeddings | undefined;
  /** Undefined while RERANK_URL is not set. */
  readonly reranker: Reranker | undefined;
}

/** Chunks, best first, and how they were found. */
export interface RankedResult {
  readonly chunks: readonly RankedChunk[];
  readonly retrieval: Retrieval;
}
/** Passages, best first, and how they were found. */
export interface SearchResult {
  readonly passages: readonly PassageMatch[];
  readonly retrieval: Retrieval;
}

/** Chunks read for each wanted passage: some are duplicates, some exceed an item's limit, some are joined. */
const rankedPerPassage = 4;

/**
 * Ranks the live passages of the sources by words, by meaning where vectors serve them, and by the reranker where there is one. Whatever of these
 * fails is left out, with the reason; without words and meaning nothing is found.
 *
 * @returns at most `limit`, best first. @throws the signal's reason; the database's errors.
 */
export async function rankAll(
  { ranking, index, embeddings, reranker }: SearchContext,
  scope: AllowedSources,
  question: AskedQuestion,
  limit: number,
  signal: AbortSignal,
): Promise<RankedResult> {
  const { text, context, charge } = question;
  const chunkLimit = reranker === undefined ? limit : Math.max(limit, rerankedMax);
  const { chunks, reason, isHybrid } =
    embeddings === undefined
      ? { chunks: await rankByIndex(ranking, index, scope, question, chunkLimit, signal), reason: null, isHybrid: false }
      : await rankHybrid(ranking, index, embeddings, scope, question, chunkLimit, signal);
  signal.throwIfAborted();
  const rerankResult = await reranker?.rerank(charge, inContext(text, context), chunks, signal);
  const retrieval: Retrieval = {
    mode: isHybrid ? 'hybrid' : 'lexical',
    reason,
    isReranked: rerankResult !== undefined && rerankResult.reason === null && chunks.length > 0,
    rerankReason: rerankResult?.reason ?? null,
  };
  return { chunks: (rerankResult?.ranked ?? chunks).slice(0, limit), retrieval };
}

/** The passages for an answer: ranked, without duplicates, neighbours joined, within the limits. See passages.ts. */
export async function searchPassages(
  searching: SearchContext,
  scope: AllowedSources,
  question: AskedQuestion,
  limits: PassageLimits,
  urlOf: UrlOf,
  signal: AbortSignal,
): Promise<SearchResult> {
  signal.throwIfAborted();
  const sources = { ...scope, dataSourceIds: [...new Set(scope.dataSourceIds)] };
  const limit = limits.passagesMax * rankedPerPassage;
  const { chunks, retrieval } = await rankAll(searching, sources, question, limit, signal);
  signal.throwIfAborted();
  return { passages: choosePassages(chunks, limits, urlOf), retrieval };
}
