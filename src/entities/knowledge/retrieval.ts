/** How a search for passages was made. */
export interface Retrieval {
  /** `hybrid`: by words and by meaning; `lexical`: by words alone. */
  readonly mode: 'lexical' | 'hybrid';
  /** Why meaning took no part although EMBEDDING_MODEL is set; null when it took part, or the setting is not set. */
  readonly reason: LexicalReason | null;
  readonly isReranked: boolean;
  /** Why nothing was reranked although RERANK_URL is set; null otherwise. */
  readonly rerankReason: RerankReason | null;
}

export const lexicalReasons = [
  /** The database has no extension `vector`. */
  'no_extension',
  /** The vectors of the sources are not complete yet. */
  'not_ready',
  /** The vectors are of another model than EMBEDDING_MODEL, and that model cannot be asked. */
  'model_changed',
  /** The organization has no data tokens left for the vector of the question. */
  'quota',
  'timeout',
  /** The provider failed or refused. */
  'provider',
] as const;
export type LexicalReason = (typeof lexicalReasons)[number];

export const rerankReasons = [
  'timeout',
  'provider',
  /** A budget in money does not admit it, or the reranker has no price. */
  'quota',
] as const;
export type RerankReason = (typeof rerankReasons)[number];

/** What each way of searching says of a passage; null where it found nothing or was not used. They are not comparable with each other. */
export interface LegScores {
  /** BM25: above 0, without an upper bound. */
  readonly lexical: number | null;
  /** Cosine similarity of question and passage, -1 to 1. */
  readonly vector: number | null;
  /** As the reranker answered. */
  readonly rerank: number | null;
}
