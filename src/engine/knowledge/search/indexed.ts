import type { ChunkRanking, RankedChunk } from '../../../storage/knowledge/passages/chunk-ranking.ts';
import type { SearchIndex } from '../../../storage/knowledge/search-index/search-index.ts';
import type { ContextText } from './question-terms.ts';
import { type AllowedSources, planOf, rankChunks } from './words.ts';

/**
 * Ranks passages by words, by a search index where there is one. Passages are read from the database, which checks each again.
 *
 * @returns at most `limit`, best first. @throws the signal's reason; the database's errors.
 */
export async function rankByIndex(
  ranking: ChunkRanking,
  index: SearchIndex | undefined,
  allowed: AllowedSources,
  { text, context }: { readonly text: string; readonly context: readonly ContextText[] },
  limit: number,
  signal: AbortSignal,
): Promise<readonly RankedChunk[]> {
  if (index === undefined) return rankChunks(ranking, allowed, text, limit, context);
  const words = await planOf(ranking, allowed, text, limit, context);
  if (words === undefined) return [];
  const found = await index.search({ words, vectors: Promise.resolve([]) }, signal);
  const scores = new Map(found.words.map(({ id, score }) => [id, score]));
  const chunks = await ranking.read(allowed, [...scores.keys()]);
  return chunks.map((chunk) => {
    const score = scores.get(chunk.chunkId) ?? 0;
    return { ...chunk, score, scores: { lexical: score, vector: null, rerank: null } };
  });
}
