// Raw SQL: ranking. One statement adds or removes the passages of an item with all their lexemes.
import type { Database, Transaction } from '../../ground/database.ts';
import { lockLexemes } from '../../ground/sql/locks.ts';
import { ChunkDetails } from './chunk-details.ts';
import { ChunkRanking } from './chunk-ranking.ts';
import { hashedLexemeKey, isNumbering, lexemeRowOfKey, lexemeRows, newLexemeKey } from './lexeme-key.ts';

export interface ChunkGeneration {
  readonly dataSourceId: string;
  readonly itemId: string;
  readonly generation: number;
  /** Text-search configuration, as in pg_ts_config. */
  readonly config: string;
}

/** Chunks of one source and configuration, each of the generation of an item that is being built. */
export interface ChunkGroup {
  readonly dataSourceId: string;
  readonly config: string;
  readonly chunks: readonly (NewChunk & Pick<ChunkGeneration, 'itemId' | 'generation'>)[];
}

export interface NewChunk {
  readonly ordinal: number;
  readonly headingPath: string;
  readonly text: string;
  readonly gapBefore: string;
  /** The searched text: title, headings and text, prepared for the text-search parser. */
  readonly searchText: string;
  readonly tokenCount: number;
  readonly contentHash: string;
  readonly page: number | null;
  /** Lines of the file, from 1; null where the text is not that of the file. */
  readonly lineStart: number | null;
  readonly lineEnd: number | null;
  readonly charStart: number;
  readonly charEnd: number;
}

export interface DeadChunks {
  readonly dataSourceId: string;
  readonly itemId: string;
  readonly generation: number;
  readonly liveGeneration: number | null;
}

/** The passages of items and their index. */
export class ChunkStore extends ChunkRanking {
  readonly details: ChunkDetails;
  readonly #db: Database;
  #removedSinceVacuum = 0;
  #addedSinceStatistics = 0;
  #unsettled = 0;

  constructor(db: Database) {
    super(db);
    this.#db = db;
    this.details = new ChunkDetails(db);
  }

  /**
   * Adds chunks to a generation, and their lexemes to the source's counts, in the caller's transaction. A search finds them once the generation is
   * the item's live one. Other chunks of the source wait only while keys and counts are written, not while texts are parsed.
   */
  async add(
    tx: Transaction,
    { dataSourceId, itemId, generation, config }: ChunkGeneration,
    newChunks: readonly NewChunk[],
  ): Promise<void> {
    await this.addGroup(tx, { dataSourceId, config, chunks: newChunks.map((chunk) => ({ ...chunk, itemId, generation })) });
  }

  /** The same for chunks of several items: words that they share are written once. */
  async addGroup(tx: Transaction, { dataSourceId, config, chunks }: ChunkGroup): Promise<void> {
    if (chunks.length === 0) return;
    const [parsedRow] = await tx.query<{ chunks: string }>(parseSql, [config, JSON.stringify(chunks)]);
    await this.#lockLexemes(tx, dataSourceId);
    await tx.execute(addSql, [dataSourceId, config, parsedRow?.chunks]);
    this.#unsettled += chunks.length;
    this.#addedSinceStatistics += chunks.length;
  }

  /** Notes at the chunks of a generation who may open their item. */
  async setAccessRule(
    tx: Transaction,
    { itemId, generation }: Pick<ChunkGeneration, 'itemId' | 'generation'>,
    accessRuleId: number,
  ): Promise<void> {
    const isOther = { OR: [{ accessRuleId: null }, { accessRuleId: { not: accessRuleId } }] };
    await tx.prisma.chunk.updateMany({ where: { itemId, generation, ...isOther }, data: { accessRuleId } });
  }

  /**
   * Moves the index entries of added chunks from the list where they are gathered to their places, once there are enough. Call it outside a
   * transaction, after each batch. Searches find all chunks at any time; they read the whole list.
   *
   * @param isIdle  moves those of any number.
   */
  async settleIndex(isIdle = false): Promise<void> {
    if (this.#unsettled === 0 || (!isIdle && this.#unsettled < unsettledMax[this.#db.kind])) return;
    const settling = this.#unsettled;
    this.#unsettled = 0;
    try {
      await this.#db.execute("SELECT gin_clean_pending_list('chunks_term_keys_idx')::text");
    } catch (error) {
      this.#unsettled += settling;
      throw error;
    }
  }

  /**
   * Removes at most `chunksMax` chunks of an item that are of a generation below `generation` and not of `liveGeneration`, and subtracts their
   * lexemes from the source's counts.
   *
   * @returns how many were removed; fewer than `chunksMax` when nothing is left.
   */
  async removeDead(
    tx: Transaction,
    { dataSourceId, itemId, generation, liveGeneration }: DeadChunks,
    chunksMax: number,
  ): Promise<number> {
    await this.#lockLexemes(tx, dataSourceId);
    const values = [dataSourceId, itemId, generation, liveGeneration ?? -1, chunksMax];
    const rows = await tx.query<{ removed: number; unused: number[] }>(removeSql, values);
    const { removed: removedCount, unused: unusedIds } = rows[0] ?? { removed: 0, unused: [] };
    if (unusedIds.length > 0) {
      await tx.execute(removeUnusedSql, [dataSourceId, unusedIds]);
      await tx.prisma.lexemeStatistics.deleteMany({ where: { dataSourceId, chunks: { lte: 0 } } });
    }
    this.#removedSinceVacuum += removedCount;
    return removedCount;
  }

  /** The embedded database runs transactions one after the other. */
  async #lockLexemes(tx: Transaction, dataSourceId: string): Promise<void> {
    if (this.#db.kind === 'server') await lockLexemes(tx, dataSourceId);
  }

  /** Deletes the lexeme counts of a source: the first step of its deletion, which makes removing its chunks cheap. */
  async removeLexemes(dataSourceId: string): Promise<void> {
    const { lexemeFrequency, lexemeStatistics } = this.#db.prisma;
    await lexemeStatistics.deleteMany({ where: { dataSourceId } });
    for (;;) {
      const { count } = await lexemeFrequency.deleteMany({ where: { dataSourceId }, limit: lexemesAtOnce });
      if (count < lexemesAtOnce) return;
    }
  }

  /** On the embedded database, does what a server does by itself once many chunks were added or removed: gathers statistics, and frees space. */
  async tidy(): Promise<void> {
    if (this.#db.kind !== 'embedded') return;
    if (this.#addedSinceStatistics >= tidyAfter) await this.refreshStatistics();
    if (this.#removedSinceVacuum < tidyAfter) return;
    this.#removedSinceVacuum = 0;
    // Repairing the graph of an index of vectors would stop everything else for minutes; removed vectors in it do no harm.
    const ofVectors = this.#hasVectors ? ['(INDEX_CLEANUP OFF) chunk_embeddings', 'chunk_sketches'] : [];
    for (const table of ['chunks', 'chunk_texts', 'lexeme_frequencies', ...ofVectors]) await this.#db.execute(`VACUUM ${table}`);
  }

  /** Gathers the planner's statistics of the tables. */
  async refreshStatistics(): Promise<void> {
    this.#addedSinceStatistics = 0;
    for (const table of [
      'chunks (item_id, generation, data_source_id)',
      ...(this.#hasVectors ? ['chunk_sketches (space, access_rule_id)'] : []),
    ])
      await this.#db.execute(`ANALYZE ${table}`);
  }

  get #hasVectors(): boolean {
    return this.#db.vectors.kind === 'ready';
  }
}

/** Stores the texts, and gives the lexemes of each chunk as one text of JSON, which `addSql` takes. */
const parseSql = `
WITH input AS MATERIALIZED (
  SELECT nextval(pg_get_serial_sequence('chunks', 'id')) AS id, chunk.*
  FROM jsonb_to_recordset($2::jsonb) AS chunk("itemId" text, "generation" int, "ordinal" int, "headingPath" text, "text" text, "gapBefore" text, "searchText" text,
    "tokenCount" int, "contentHash" text, "page" int, "charStart" int, "charEnd" int, "lineStart" int, "lineEnd" int)
), text_rows AS (
  INSERT INTO chunk_texts (chunk_id, heading_path, text, gap_before, config, token_count, content_hash, page, char_start, char_end, line_start, line_end)
  SELECT id, "headingPath", "text", "gapBefore", $1, "tokenCount", "contentHash", "page", "charStart", "charEnd", "lineStart", "lineEnd" FROM input
)
SELECT json_agg(json_build_object('id', id, 'item', "itemId", 'generation', generation, 'ordinal', "ordinal", 'lexemes', (
  SELECT json_object_agg(word.lexeme, cardinality(word.positions)) FROM unnest(to_tsvector($1::regconfig, input."searchText")) AS word
)))::text AS chunks
FROM input`;

/**
 * Rows of lexemes are found one by one and changed by their place: the planner expects few of a source, and would read all of them. Whoever changes
 * them has the lock of the source's lexemes, so a place does not change meanwhile.
 */
const addSql = `
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($3::json) AS chunk(id bigint, item text, generation int, ordinal int, lexemes json)
), lexemes AS MATERIALIZED (
  SELECT input.id, word.term, word.count::smallint AS count FROM input CROSS JOIN LATERAL json_each_text(input.lexemes) AS word(term, count)
), terms AS MATERIALIZED (
  SELECT term, count(*)::int AS df FROM lexemes GROUP BY term
), named AS MATERIALIZED (
  SELECT DISTINCT ON (terms.term) terms.term, terms.df, known.key, known.place
  FROM terms LEFT JOIN LATERAL (${lexemeRows('$1', '$2', 'terms.term')}) AS known ON true
  ORDER BY terms.term, known.df DESC, known.key
), hashed AS MATERIALIZED (
  SELECT named.term, known.key, known.place
  FROM named CROSS JOIN LATERAL (${lexemeRowOfKey('$1', hashedLexemeKey('$1', '$2', 'named.term'))}) AS known
  WHERE named.key IS NULL AND NOT ${isNumbering}
), known AS MATERIALIZED (
  SELECT term, named.df, coalesce(named.key, hashed.key) AS key, coalesce(named.place, hashed.place) AS place
  FROM named LEFT JOIN hashed USING (term)
), keyed AS MATERIALIZED (
  SELECT term, df, place,
    coalesce(key, CASE WHEN ${isNumbering} THEN ${newLexemeKey} ELSE ${hashedLexemeKey('$1', '$2', 'term')} END) AS key
  FROM (SELECT * FROM known ORDER BY df DESC, term) AS by_frequency
), documents AS (
  SELECT id, array_agg(key ORDER BY key) AS keys, array_agg(count ORDER BY key) AS counts, sum(count)::int AS length
  FROM lexemes JOIN keyed USING (term) GROUP BY id
), chunk_rows AS (
  INSERT INTO chunks (id, data_source_id, item_id, generation, ordinal, length, term_keys, term_counts, access_rule_id)
  SELECT id, $1, input.item, input.generation, input.ordinal, coalesce(length, 0), coalesce(keys, '{}'), coalesce(counts, '{}'),
    (SELECT "accessRuleId" FROM knowledge_items WHERE knowledge_items.id = input.item)
  FROM input LEFT JOIN documents USING (id)
), new_frequencies AS (
  INSERT INTO lexeme_frequencies (data_source_id, key, config, term, df)
  SELECT $1, key, $2, min(term), sum(df) FROM keyed WHERE place IS NULL GROUP BY key
), frequencies AS (
  UPDATE lexeme_frequencies AS known SET df = known.df + added.df
  FROM (SELECT place, sum(df) AS df FROM keyed WHERE place IS NOT NULL GROUP BY place) AS added
  WHERE known.ctid = added.place
)
INSERT INTO lexeme_statistics AS known (data_source_id, config, chunks, sum_length)
SELECT $1, $2, count(*), coalesce(sum(length), 0) FROM input LEFT JOIN documents USING (id)
ON CONFLICT (data_source_id, config) DO UPDATE SET chunks = known.chunks + excluded.chunks, sum_length = known.sum_length + excluded.sum_length`;

const removeSql = `
WITH dead AS MATERIALIZED (
  SELECT id, length, term_keys, config
  FROM chunks JOIN chunk_texts ON chunk_id = id
  WHERE item_id = $2 AND generation < $3 AND generation <> $4
  ORDER BY id LIMIT $5
), chunk_rows AS (
  DELETE FROM chunks WHERE id IN (SELECT id FROM dead)
), text_rows AS (
  DELETE FROM chunk_texts WHERE chunk_id IN (SELECT id FROM dead)
), frequencies AS (
  UPDATE lexeme_frequencies AS known SET df = known.df - gone.count
  FROM (SELECT key, count(*)::int AS count FROM dead CROSS JOIN unnest(term_keys) AS key GROUP BY key) AS gone
  WHERE known.data_source_id = $1 AND known.key = gone.key
  RETURNING known.key, known.df
), statistics AS (
  UPDATE lexeme_statistics AS known SET chunks = known.chunks - gone.chunks, sum_length = known.sum_length - gone.sum_length
  FROM (SELECT config, count(*) AS chunks, sum(length) AS sum_length FROM dead GROUP BY config) AS gone
  WHERE known.data_source_id = $1 AND known.config = gone.config
)
SELECT count(*)::int AS removed, ARRAY(SELECT key FROM frequencies WHERE df <= 0) AS unused FROM dead`;

/** There may be thousands of keys: one parameter, where Prisma would send one each. */
const removeUnusedSql = 'DELETE FROM lexeme_frequencies WHERE data_source_id = $1 AND key = ANY($2::int[])';

/** Chunks whose index entries are moved together. The embedded database does nothing else meanwhile. */
const unsettledMax = { server: 128, embedded: 16 } as const;

/** So many added chunks justify new statistics, and so many removed ones a vacuum, which may take a second. */
const tidyAfter = 2_000;

const lexemesAtOnce = 5_000;
