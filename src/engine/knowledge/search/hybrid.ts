import type { LexicalReason } from '../../../entities/knowledge/retrieval.ts';
import type { NearestPlan } from '../../../storage/knowledge/embeddings/nearest.ts';
import type { ChunkRanking, RankedChunk, ScoredId } from '../../../storage/knowledge/passages/chunk-ranking.ts';
import { createPostgresIndex } from '../../../storage/knowledge/search-index/postgres.ts';
import type { SearchIndex } from '../../../storage/knowledge/search-index/search-index.ts';
import { type Embeddings, type QuestionVector, questionVectors } from '../embeddings/embeddings.ts';
import type { AskedQuestion } from './asked-question.ts';
import { inContext } from './follow-up.ts';
import { type FusedId, fuse } from './fuse.ts';
import { rankByIndex } from './indexed.ts';
import { type AllowedSources, findsNothing, planWords } from './words.ts';

/** Passages that each way of searching finds before both are joined. */
const legMax = 200;
/** Of each list, so many are among the passages to choose from: some are copies, or exceed what one item may have. */
const bestOfList = 4;

export interface HybridResult {
  readonly chunks: readonly RankedChunk[];
  /** Why words alone were searched; null where meaning was searched too. */
  readonly reason: LexicalReason | null;
  readonly isHybrid: boolean;
}

/**
 * Ranks the live passages of the sources by words and by meaning together; by words alone where no vectors serve the sources, or where the vector of
 * the question cannot be made in time.
 *
 * @param index  undefined: the database answers.
 * @returns at most `limit`, best first. @throws the signal's reason; the database's errors.
 */
export async function rankHybrid(
  ranking: ChunkRanking,
  index: SearchIndex | undefined,
  embeddings: Embeddings,
  scope: AllowedSources,
  { text, context, charge }: AskedQuestion,
  limit: number,
  signal: AbortSignal,
): Promise<HybridResult> {
  const byWords = async (reason: LexicalReason | null): Promise<HybridResult> => ({
    chunks: await rankByIndex(ranking, index, scope, { text, context }, limit, signal),
    reason,
    isHybrid: false,
  });
  if (findsNothing(scope, text)) return { chunks: [], reason: null, isHybrid: false };
  const { store } = embeddings;
  if (store === undefined) return byWords('no_extension');
  const spaces = await store.spaces.serving(scope.dataSourceIds);
  if (spaces.length === 0) return byWords('not_ready');
  const asking = questionVectors(embeddings, charge, spaces, inContext(text, context), signal);
  // Fails with the signal only, which the search says too.
  asking.catch(() => undefined);
  const { plan, allowedChunks } = await planWords(ranking, scope, text, legMax, context);
  const plans = asking.then(({ vectors }) => vectors.map((vector) => nearestPlan(scope, vector, allowedChunks)));
  const indexHits = await (index ?? createPostgresIndex(ranking, store)).search({ words: plan, vectors: plans }, signal);
  const { vectors, reason } = await asking;
  const lists = [indexHits.words, ...indexHits.vectors];
  const fusedIds = withBest(fuse(indexHits.words, indexHits.vectors, vectors.length === 0 ? 0 : embeddings.weight), lists, limit);
  const scores = new Map(fusedIds.map((entry) => [entry.id, entry]));
  const chunks = await ranking.read(
    scope,
    fusedIds.map(({ id }) => id),
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

/** The best by the sum, and the best of each list, of which passages keep some whatever their sum is. */
function withBest(fusedIds: readonly FusedId[], lists: readonly (readonly ScoredId[])[], limit: number): readonly FusedId[] {
  const best = new Set(
    lists.flatMap((list) => list.toSorted((a, b) => b.score - a.score).slice(0, bestOfList)).map(({ id }) => id),
  );
  const late = fusedIds.slice(limit).filter(({ id }) => best.has(id));
  return [...fusedIds.slice(0, Math.max(0, limit - late.length)), ...late];
}

function nearestPlan(scope: AllowedSources, { space, vector }: QuestionVector, allowedChunks: number): NearestPlan {
  const { dataSourceIds } = space;
  return { ...scope, dataSourceIds, space, question: vector, allowedChunks, limit: legMax };
}
