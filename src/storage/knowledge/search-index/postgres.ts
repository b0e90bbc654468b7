import type { EmbeddingStore } from '../embeddings/embeddings.ts';
import type { ChunkRanking } from '../passages/chunk-ranking.ts';
import type { SearchIndex } from './search-index.ts';

/** The database as search index. Words are searched while the vectors of the question are still being made. */
export function createPostgresIndex(ranking: ChunkRanking, embeddings: EmbeddingStore | undefined): SearchIndex {
  return {
    async search({ words, vectors }) {
      const nearest = vectors.then((plans) => Promise.all(plans.map((plan) => embeddings?.nearest(plan) ?? [])));
      const [byWords, byVectors] = await Promise.all([words === undefined ? [] : ranking.score(words), nearest]);
      return { words: byWords, vectors: byVectors };
    },
  };
}
