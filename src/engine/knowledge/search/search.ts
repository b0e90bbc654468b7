import type { Passage } from '../../../entities/knowledge/citation.ts';
import type { LexicalReason, Retrieval } from '../../../entities/knowledge/retrieval.ts';
import type { ChunkRanking, RankedChunk, RankingPlan, ScoredId } from '../../../storage/knowledge/chunk-ranking.ts';
import type { EmbeddingStore } from '../../../storage/knowledge/embeddings/embeddings.ts';
import type { ServingSpace } from '../../../storage/knowledge/embeddings/spaces.ts';
import type { Charge } from '../../runs/run-engine.ts';
import { searchableText } from '../index/searchable-text.ts';
import { type Meaning, questionVectors } from '../meaning/meaning.ts';
import { fuse } from './fuse.ts';
import { choosePassages, type PassageLimits, type UrlOf } from './passages.ts';
import { planQuestion } from './question.ts';
import { type Reranker, rerankedMax } from './reranker.ts';
import { nearWordsOfUnknown } from './unknown-words.ts';

/** The sources that may be searched, limited to those of the organization. */
export interface AllowedSources {
  readonly orgId: string;
  readonly dataSourceIds: readonly string[];
  /** Only these items of the sources; absent: all. */
  readonly itemIds?: readonly string[];
}

/** What searches work with. */
export interface SearchContext {
  readonly ranking: ChunkRanking;
  /** Undefined while EMBEDDING_MODEL is not set. */
  readonly meaning: Meaning | undefined;
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
  readonly passages: readonly Passage[];
  readonly retrieval: Retrieval;
}

/** Longer questions are cut, not refused. */
const questionMaxChars = 8_000;
/** Chunks read for each wanted passage: some are duplicates, some exceed an item's limit, some are joined. */
const rankedPerPassage = 4;
/** Passages that each way of searching finds before both are joined. */
const legMax = 200;

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
): Promise<readonly RankedChunk[]> {
  const { plan } = await planWords(ranking, allowed, question, limit);
  return plan === undefined ? [] : ranking.rank(plan);
}

/**
 * Ranks the live passages of the sources by words, by meaning where vectors serve them, and by the reranker where there is one. Whatever of these
 * fails is left out, with the reason; without words and meaning nothing is found.
 *
 * @returns at most `limit`, best first. @throws the signal's reason; the database's errors.
 */
export async function rankAll(
  { ranking, meaning, reranker }: SearchContext,
  allowed: AllowedSources,
  charge: Charge,
  question: string,
  limit: number,
  signal: AbortSignal,
): Promise<RankedResult> {
  const wanted = reranker === undefined ? limit : Math.max(limit, rerankedMax);
  const { chunks, reason, isHybrid } =
    meaning === undefined
      ? { chunks: await rankChunks(ranking, allowed, question, wanted), reason: null, isHybrid: false }
      : await rankHybrid(ranking, meaning, allowed, charge, question, wanted, signal);
  signal.throwIfAborted();
  const reranked = await reranker?.rerank(question.slice(0, questionMaxChars), chunks, signal);
  const retrieval: Retrieval = {
    mode: isHybrid ? 'hybrid' : 'lexical',
    reason,
    isReranked: reranked !== undefined && reranked.reason === null && chunks.length > 0,
    rerankReason: reranked?.reason ?? null,
  };
  return { chunks: (reranked?.ranked ?? chunks).slice(0, limit), retrieval };
}

/** The passages for an answer: ranked, without duplicates, neighbours joined, within the limits. See passages.ts. */
export async function searchPassages(
  context: SearchContext,
  allowed: AllowedSources,
  charge: Charge,
  question: string,
  limits: PassageLimits,
  urlOf: UrlOf,
  signal: AbortSignal,
): Promise<SearchResult> {
  signal.throwIfAborted();
  const sources = { ...allowed, dataSourceIds: [...new Set(allowed.dataSourceIds)] };
  const limit = limits.passagesMax * rankedPerPassage;
  const { chunks, retrieval } = await rankAll(context, sources, charge, question, limit, signal);
  signal.throwIfAborted();
  return { passages: choosePassages(chunks, limits, urlOf), retrieval };
}

interface HybridResult {
  readonly chunks: readonly RankedChunk[];
  readonly reason: LexicalReason | null;
  readonly isHybrid: boolean;
}

async function rankHybrid(
  ranking: ChunkRanking,
  meaning: Meaning,
  allowed: AllowedSources,
  charge: Charge,
  question: string,
  limit: number,
  signal: AbortSignal,
): Promise<HybridResult> {
  const byWords = async (reason: LexicalReason | null): Promise<HybridResult> => ({
    chunks: await rankChunks(ranking, allowed, question, limit),
    reason,
    isHybrid: false,
  });
  if (isNothing(allowed, question)) return { chunks: [], reason: null, isHybrid: false };
  const { store } = meaning;
  if (store === undefined) return byWords('no_extension');
  const spaces = await store.serving(allowed.dataSourceIds);
  if (spaces.length === 0) return byWords('not_ready');
  const asking = questionVectors(meaning, charge, spaces, question.slice(0, questionMaxChars).toWellFormed(), signal);
  const [words, { vectors, reason }] = await Promise.all([scoreWords(ranking, allowed, question), asking]);
  const lists = await Promise.all(
    vectors.map(({ space, vector }) => nearestIn(store, allowed, space, vector, words.allowedChunks)),
  );
  const fused = fuse(words.found, lists, vectors.length === 0 ? 0 : meaning.weight).slice(0, limit);
  const scores = new Map(fused.map((entry) => [entry.id, entry]));
  const chunks = await ranking.read(
    allowed,
    fused.map(({ id }) => id),
  );
  return {
    chunks: chunks.flatMap((chunk) => {
      const entry = scores.get(chunk.chunkId);
      if (entry === undefined) return [];
      const { lexical, vector } = entry;
      const score = vectors.length === 0 ? (lexical ?? 0) : entry.score;
      return [{ ...chunk, score, scores: { lexical, vector, rerank: null } }];
    }),
    reason,
    isHybrid: vectors.length > 0,
  };
}

function nearestIn(
  store: EmbeddingStore,
  allowed: AllowedSources,
  space: ServingSpace,
  question: readonly number[],
  allowedChunks: number,
): Promise<readonly ScoredId[]> {
  const { dataSourceIds } = space;
  return store.nearest({ ...allowed, dataSourceIds, space, question, allowedChunks, limit: legMax });
}

/** The best passages by words, and how many passages the sources have. */
async function scoreWords(
  ranking: ChunkRanking,
  allowed: AllowedSources,
  question: string,
): Promise<{ readonly found: readonly ScoredId[]; readonly allowedChunks: number }> {
  const { plan, allowedChunks } = await planWords(ranking, allowed, question, legMax);
  return { found: plan === undefined ? [] : await ranking.score(plan), allowedChunks };
}

async function planWords(
  ranking: ChunkRanking,
  allowed: AllowedSources,
  question: string,
  limit: number,
): Promise<{ readonly plan: RankingPlan | undefined; readonly allowedChunks: number }> {
  if (isNothing(allowed, question)) return { plan: undefined, allowedChunks: 0 };
  const text = searchable(question);
  const asked = await ranking.findTerms(allowed.dataSourceIds, text);
  const near = nearWordsOfUnknown(text, asked.terms);
  const found = near === '' ? asked : await ranking.findTerms(allowed.dataSourceIds, `${text} ${near}`);
  const allowedChunks = asked.chunks.values().reduce((sum, chunks) => sum + chunks, 0);
  if (found.terms.length === 0) return { plan: undefined, allowedChunks };
  return { plan: await planQuestion(ranking, allowed, found, limit), allowedChunks };
}

function searchable(question: string): string {
  return searchableText(question.slice(0, questionMaxChars).toWellFormed()).replaceAll('\0', ' ');
}

function isNothing({ dataSourceIds, itemIds }: AllowedSources, question: string): boolean {
  return dataSourceIds.length === 0 || itemIds?.length === 0 || searchable(question).trim() === '';
}
