import type { ChunkRanking, RankedChunk } from '../../../storage/knowledge/passages/chunk-ranking.ts';
import type { SearchIndex } from '../../../storage/knowledge/search-index/search-index.ts';
import type { ContextText } from './question-terms.ts';
import { type AllowedSources, planWordSearch, rankChunks } from './words.ts';

/**
 * Ranks passages by words, by a search index where there is one. Passages are read from the database, which checks each again.
 *
 * @returns at most `limit`, best first. @throws the signal's reason; the database's errors.
 */
export async function rankByIndex(
  ranking: ChunkRanking,
  index: SearchIndex | undefined,
  scope: AllowedSources,
  { text, context }: { readonly text: string; readonly context: readonly ContextText[] },
  limit: number,
  signal: AbortSignal,
): Promise<readonly RankedChunk[]> {
  if (index === undefined) return rankChunks(ranking, scope, text, limit, context);
  const words = await planWordSearch(ranking, scope, text, limit, context);
  if (words === undefined) return [];
  const hits = await index.search({ words, vectors: Promise.resolve([]) }, signal);
  const scores = new Map(hits.words.map(({ id, score }) => [id, score]));
  const chunks = await ranking.read(scope, [...scores.keys()]);
  return chunks.map((chunk) => {
    const score = scores.get(chunk.chunkId) ?? 0;
    return { ...chunk, score, scores: { lexical: score, vector: null, rerank: null } };
  });
}
