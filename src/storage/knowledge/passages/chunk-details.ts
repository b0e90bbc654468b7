// Raw SQL: what explains found passages. Arrays of terms and live generations are read in the database.
import { Store } from '../../ground/store.ts';

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

/** A chunk as a part of its document. */
export interface ChunkInDocument {
  readonly chunkId: string;
  readonly ordinal: number;
  readonly headingPath: string;
  /** Exactly the document's text from `charStart` to `charEnd`. */
  readonly text: string;
  /** White space between the chunk before and this one. */
  readonly gapBefore: string;
  readonly page: number | null;
  readonly charStart: number;
  readonly charEnd: number;
}

/** Where a passage stood when it was cited. */
export interface PassagePlace {
  readonly itemId: string;
  readonly chunkId: string;
  readonly charStart: number;
}

/** Reads about chunks that a search found. It checks no rights: the search did. */
export class ChunkDetails extends Store {
  /** Which of the terms occur in which of the chunks. */
  async termsIn(chunkIds: readonly string[], keys: readonly number[]): Promise<readonly TermInChunk[]> {
    const rows = await this.db.query<TermInChunk>(termsSql, [chunkIds, keys]);
    return rows;
  }

  /** The texts of the chunks of items' live generations that exist at these places. */
  async textsAt(places: readonly ChunkPlace[]): Promise<readonly (ChunkPlace & { readonly text: string })[]> {
    const values = [places.map(({ itemId }) => itemId), places.map(({ ordinal }) => ordinal)];
    const rows = await this.db.query<ChunkPlace & { text: string }>(textsSql, values);
    return rows;
  }

  /**
   * For each passage, the chunks of its item's live generation about one of them, in order. When that one is not live any more: about the first that ends
   * behind `charStart`. One statement.
   */
  async around(
    passages: readonly PassagePlace[],
    { before, after }: { readonly before: number; readonly after: number },
  ): Promise<readonly (readonly ChunkInDocument[])[]> {
    if (passages.length === 0) return [];
    const values = [
      passages.map(({ itemId }) => itemId),
      passages.map(({ chunkId }) => (/^\d{1,18}$/.test(chunkId) ? chunkId : '0')),
      passages.map(({ charStart }) => charStart),
    ];
    const rows = await this.db.query<ChunkInDocument & { readonly passage: number }>(aroundSql, [...values, before, after]);
    const byPassage = Map.groupBy(rows, ({ passage }) => passage);
    return passages.map((_passage, index) => byPassage.get(index + 1) ?? []);
  }
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

const aroundSql = `
SELECT place.n::int AS passage, near.*
FROM unnest($1::text[], $2::bigint[], $3::float8[]) WITH ORDINALITY AS place(item_id, chunk_id, char_start, n)
CROSS JOIN LATERAL (
  WITH live AS NOT MATERIALIZED (
    SELECT chunk.id, chunk.ordinal FROM knowledge_items AS item
    JOIN chunks AS chunk ON chunk.item_id = item.id AND chunk.generation = item."liveGeneration" WHERE item.id = place.item_id),
  anchor AS (
    SELECT coalesce(
      (SELECT ordinal FROM live WHERE id = place.chunk_id),
      (SELECT min(live.ordinal) FROM live JOIN chunk_texts AS words ON words.chunk_id = live.id WHERE words.char_end > place.char_start),
      0) AS ordinal)
  SELECT live.id::text AS "chunkId", live.ordinal, words.heading_path AS "headingPath", words.text, words.gap_before AS "gapBefore", words.page,
    words.char_start AS "charStart", words.char_end AS "charEnd"
  FROM live JOIN chunk_texts AS words ON words.chunk_id = live.id
  WHERE live.ordinal BETWEEN (SELECT ordinal FROM anchor) - $4::int AND (SELECT ordinal FROM anchor) + $5::int) near
ORDER BY place.n, near.ordinal`;
