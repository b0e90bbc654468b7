// Raw SQL: what explains found passages. Arrays of terms and live generations are read in the database.
import type { Database } from '../database/database.ts';
import { prepared } from '../database/sql/where.ts';

/** A term in a chunk. */
export interface TermInChunk {
  readonly chunkId: string;
  readonly key: number;
  readonly count: number;
  /** Lexemes of the chunk, with repetition. */
  readonly length: number;
}
export interface ChunkPlace {
  readonly itemId: string;
  /** Place within the item, from 0. */
  readonly ordinal: number;
}

/** Reads about chunks that a search found. It checks no rights: the search did. */
export interface ChunkDetails {
  /** Which of the terms occur in which of the chunks. */
  termsIn(chunkIds: readonly string[], keys: readonly number[]): Promise<readonly TermInChunk[]>;
  /** The texts of the chunks of items' live generations that exist at these places. */
  textsAt(places: readonly ChunkPlace[]): Promise<readonly (ChunkPlace & { readonly text: string })[]>;
}

export function createChunkDetails({ pool }: Database): ChunkDetails {
  return {
    async termsIn(chunkIds, keys) {
      const { rows } = await pool.query<TermInChunk>(prepared(termsSql, [chunkIds, keys]));
      return rows;
    },
    async textsAt(places) {
      const values = [places.map(({ itemId }) => itemId), places.map(({ ordinal }) => ordinal)];
      const { rows } = await pool.query<ChunkPlace & { text: string }>(prepared(textsSql, values));
      return rows;
    },
  };
}

const termsSql = `
SELECT chunk.id::text AS "chunkId", term.key, chunk.term_counts[width_bucket(term.key, chunk.term_keys)]::int AS count, chunk.length
FROM chunks AS chunk CROSS JOIN LATERAL (SELECT unnest($2::int[]) AS key) AS term
WHERE chunk.id = ANY($1::bigint[]) AND term.key = ANY(chunk.term_keys)`;

const textsSql = `
SELECT place.item_id AS "itemId", place.ordinal, words.text
FROM unnest($1::text[], $2::int[]) AS place(item_id, ordinal)
JOIN knowledge_items AS item ON item.id = place.item_id
JOIN chunks AS chunk ON chunk.item_id = item.id AND chunk.generation = item."liveGeneration" AND chunk.ordinal = place.ordinal
JOIN chunk_texts AS words ON words.chunk_id = chunk.id`;
