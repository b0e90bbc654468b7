// Raw SQL: rows for measurements.
import type { Client } from 'pg';
import { passageWords } from '../retrieval.ts';

const sources = 60;
const wordsOfPassage = 220;

/**
 * Fills the tables of the index with passages of made-up words by Zipf's law, two thirds of them in one source, the others in many. Their keys are
 * numbers that a hash spreads, as those of earlier versions.
 */
export async function fillPassages(db: Client, count: number): Promise<void> {
  await db.query('CREATE UNLOGGED TABLE bench_words (rank int PRIMARY KEY, term text NOT NULL)');
  await db.query(
    `INSERT INTO bench_words SELECT rank - 1, coalesce((SELECT lexeme FROM unnest(to_tsvector('english', word)) LIMIT 1), word)
     FROM unnest($1::text[]) WITH ORDINALITY AS given(word, rank)`,
    [passageWords],
  );
  const { rows } = await db.query<{ definition: string }>(
    "SELECT indexdef AS definition FROM pg_indexes WHERE indexname = 'chunks_term_keys_idx'",
  );
  await db.query('DROP INDEX chunks_term_keys_idx');
  for (let done = 0; done < count; done += 20_000) await db.query(passagesSql, [Math.min(20_000, count - done)]);
  await db.query(rows[0]?.definition ?? '');
  await db.query(textsSql);
  await db.query(frequenciesSql);
  await db.query(statisticsSql);
  await db.query('VACUUM ANALYZE chunks, lexeme_frequencies');
}

const keySql = "(hashtextextended('ds_' || source || ' english ' || term, 0) & 2147483647)::int";

const passagesSql = `
INSERT INTO chunks (data_source_id, item_id, generation, ordinal, length, term_keys, term_counts)
SELECT 'ds_' || source, 'ki_' || passage, 1, 0, ${wordsOfPassage}, keys, counts
FROM (SELECT n AS passage, CASE WHEN random() < 0.66 THEN 0 ELSE 1 + floor(random() * ${sources})::int END AS source
  FROM generate_series(1, $1::int) AS n OFFSET 0) AS passages
CROSS JOIN LATERAL (
  SELECT array_agg(key ORDER BY key) AS keys, array_agg(count ORDER BY key) AS counts FROM (
    SELECT ${keySql} AS key, count(*)::smallint AS count
    FROM (SELECT floor(power(60000, random()))::int AS rank FROM generate_series(1, ${wordsOfPassage}) WHERE passage > 0) AS drawn
    JOIN bench_words USING (rank) GROUP BY key
  ) AS counted
) AS words`;

const textsSql = `
INSERT INTO chunk_texts (chunk_id, heading_path, text, gap_before, config, token_count, content_hash, char_start, char_end)
SELECT id, '', 'A passage for measurements.', '', 'english', 300, id::text, 0, 27 FROM chunks`;

const frequenciesSql = `
INSERT INTO lexeme_frequencies (data_source_id, key, config, term, df)
SELECT data_source_id, key, 'english', min(term), df
FROM (SELECT data_source_id, key, count(*)::int AS df FROM chunks CROSS JOIN unnest(term_keys) AS key GROUP BY 1, 2) AS counted
JOIN (SELECT 'ds_' || source AS data_source_id, term, ${keySql} AS key
  FROM bench_words CROSS JOIN generate_series(0, ${sources}) AS source) AS named USING (data_source_id, key)
GROUP BY 1, 2, df`;

const statisticsSql = `
INSERT INTO lexeme_statistics (data_source_id, config, chunks, sum_length)
SELECT data_source_id, 'english', count(*), sum(length) FROM chunks GROUP BY 1`;
