import type { Database } from '../../src/storage/ground/database.ts';
import { hashedLexemeKey } from '../../src/storage/knowledge/passages/lexeme-key.ts';
import { seededRandom } from '../../test/support/property/random.ts';

/**
 * Made-up passages for measurements of searches. A passage has 120 words: 90 by Zipf's law from a vocabulary of 60,000, and 30 of the 150 words of one
 * of 2,000 topics, so that words occur together as in natural text. Questions are words of a passage.
 */
export const sourceId = 'ds_growth_search';
export const orgId = 'org_growth_search';
const vocabularySize = 60_000;
const topics = 2_000;
const topicWords = 150;
export const itemPassages = 20;
const rowsAtOnce = 2_000;
/** The most frequent words: each is in at least one passage in two hundred. */
const commonWords = 1_500;
export const wanted = 8;
const k1 = 1.2;
const b = 0.75;

export interface Question {
  /** Where the passage stands in the table, and which words were chosen. */
  readonly kind: string;
  /** The passage that the words are from, from 0. */
  readonly passage: number;
  /** How often each word is in the question, by the word's number. */
  readonly words: ReadonlyMap<number, number>;
}
/** What a passage is about: all passages of a document have one topic. */
export function topicOf(passage: number): number {
  return (Math.floor(passage / itemPassages) * 7919) % topics;
}

/** How often each word is in a passage, by the word's number: words are numbered by falling frequency. The same for the same passage. */
function wordsOf(passage: number): Map<number, number> {
  const random = seededRandom(passage + 1);
  const topic = topicOf(passage);
  const words = new Map<number, number>();
  for (let place = 0; place < 120; place += 1) {
    const word =
      place % 4 > 0
        ? Math.floor(vocabularySize ** random()) - 1
        : (topic * 6_271 + Math.floor(topicWords ** random()) * 4_049) % vocabularySize;
    words.set(word, (words.get(word) ?? 0) + 1);
  }
  return words;
}

/** Six to twelve words of a passage, any of them as often as it comes. */
function questionOf(kind: string, passage: number, isCommon: boolean): Question {
  const random = seededRandom(passage + 7);
  const all = [...wordsOf(passage)]
    .filter(([word]) => !isCommon || word < commonWords)
    .flatMap(([word, count]) => Array.from({ length: count }, () => word));
  const words = new Map<number, number>();
  for (let left = 6 + Math.floor(random() * 7); left > 0; left -= 1) {
    const word = all[Math.floor(random() * all.length)] ?? 0;
    words.set(word, (words.get(word) ?? 0) + 1);
  }
  return { kind, passage, words };
}

/** A word with its number in it that no stemmer changes. */
function textOf(word: number): string {
  return `q${word.toString(26).replace(/./g, (digit) => String.fromCharCode(103 + (Number.parseInt(digit, 26) % 20)))}x${word}`;
}

export async function loadPassages(db: Database, passages: number): Promise<void> {
  await db.execute(
    `INSERT INTO tenants ("id", "updatedAt", "name") VALUES ('ten_growth_search', now(), 'Measured') ON CONFLICT DO NOTHING`,
  );
  await db.execute(
    `INSERT INTO organizations ("id", "updatedAt", "tenantId", "name") VALUES ($1, now(), 'ten_growth_search', 'Measured') ON CONFLICT DO NOTHING`,
    [orgId],
  );
  await db.execute(
    `INSERT INTO data_sources ("id", "updatedAt", "orgId", "ownerUserId", "name", "type") VALUES ($1, now(), $2, 'user_0', 'Measured', 'FILE_UPLOAD')`,
    [sourceId, orgId],
  );
  await db.execute(
    `INSERT INTO knowledge_items ("id", "updatedAt", "orgId", "dataSourceId", "name", "uniqueId", "type", "indexStatus", "indexedAt", "documentCount",
       "liveGeneration", "lastGeneration")
     SELECT 'ki_growth_' || n, now(), $1, $2, 'Document ' || n, n, 'FILE', 'INDEXED', '2026-01-01'::timestamptz + n * interval '1 second', $4, 1, 1
     FROM generate_series(0, $3::int) AS n`,
    [orgId, sourceId, Math.ceil(passages / itemPassages) - 1, itemPassages],
  );
  const keys = await keysOf(db);
  const frequency = new Int32Array(vocabularySize);
  await db.execute('DROP INDEX chunks_term_keys_idx');
  let pending: Promise<unknown> = Promise.resolve();
  for (let from = 0; from < passages; from += rowsAtOnce) {
    const rows = Array.from({ length: Math.min(rowsAtOnce, passages - from) }, (_, index) => {
      const words = [...wordsOf(from + index)].map(([word, count]) => ({ word, key: keys[word] ?? 0, count }));
      for (const { word } of words) frequency[word] = (frequency[word] ?? 0) + 1;
      return words.sort((left, right) => left.key - right.key);
    });
    await pending;
    pending = db.execute(
      `WITH chunk_rows AS (
         INSERT INTO chunks (id, data_source_id, item_id, generation, ordinal, length, term_keys, term_counts)
         SELECT $1 + n, $2, 'ki_growth_' || ($1::int + n - 1) / $3::int, 1, ($1::int + n - 1) % $3::int, 120, keys::int[], counts::smallint[]
         FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS passage(keys, counts, n)
       )
       INSERT INTO chunk_texts (chunk_id, heading_path, text, gap_before, config, token_count, content_hash, char_start, char_end)
       SELECT $1 + n, '', 'Passage ' || $1 + n, '', 'english', 300, $1 + n, 0, 10 FROM generate_series(1, $6::bigint) AS n`,
      [
        from,
        sourceId,
        itemPassages,
        rows.map((words) => `{${words.map(({ key }) => key).join(',')}}`),
        rows.map((words) => `{${words.map(({ count }) => count).join(',')}}`),
        rows.length,
      ],
    );
  }
  await pending;
  await db.execute(
    `INSERT INTO lexeme_frequencies (data_source_id, key, config, term, df)
     SELECT $1, key, 'english', min(term), sum(df) FROM unnest($2::int[], $3::text[], $4::int[]) AS word(key, term, df) WHERE df > 0 GROUP BY key`,
    [sourceId, [...keys], Array.from({ length: vocabularySize }, (_, word) => textOf(word)), [...frequency]],
  );
  await db.execute(
    `INSERT INTO lexeme_statistics (data_source_id, config, chunks, sum_length) VALUES ($1, 'english', $2::int, $2::int * 120::bigint)`,
    [sourceId, passages],
  );
  await db.runAs('background', () =>
    db.transaction(async (tx) => {
      await tx.execute('SET LOCAL statement_timeout = 0');
      await tx.execute(`SET LOCAL maintenance_work_mem = '${passages > 200_000 ? '1GB' : '128MB'}'`);
      await tx.execute('CREATE INDEX "chunks_term_keys_idx" ON "chunks" USING GIN ("term_keys")');
      await tx.execute('ALTER INDEX "chunks_term_keys_idx" SET (fastupdate = on, gin_pending_list_limit = 256)');
      await tx.execute('ANALYZE');
    }),
  );
  await db.execute('VACUUM chunks, chunk_texts, lexeme_frequencies, knowledge_items');
}

async function keysOf(db: Database): Promise<Int32Array> {
  const rows = await db.query<{ key: number }>(
    `SELECT ${hashedLexemeKey('$1::text', `'english'`, "(SELECT lexeme FROM unnest(to_tsvector('english', word)))")} AS key
     FROM unnest($2::text[]) WITH ORDINALITY AS given(word, n) ORDER BY n`,
    [sourceId, Array.from({ length: vocabularySize }, (_, word) => textOf(word))],
  );
  return Int32Array.from(rows, ({ key }) => key);
}

export interface Scored {
  readonly passage: number;
  readonly score: number;
}
/** Whether somebody may open a passage. */
export type Opens = (passage: number) => boolean;

/** The first passages of each question by exact BM25 over all passages, best first. */
export function exactlyRanked(questions: readonly Question[], passages: number): readonly (readonly number[])[] {
  return exactlyScored(questions, passages, [() => true], wanted).map(([list = []]) => list.map(({ passage }) => passage));
}

/** For each question and each reader, the first passages among those that the reader may open, as many as `count`. */
export function exactlyScored(
  questions: readonly Question[],
  passages: number,
  readers: readonly Opens[],
  count: number,
): readonly (readonly (readonly Scored[])[])[] {
  const frequency = new Int32Array(vocabularySize);
  for (let passage = 0; passage < passages; passage += 1)
    for (const word of wordsOf(passage).keys()) frequency[word] = (frequency[word] ?? 0) + 1;
  const asking = new Map<number, { question: number; weight: number }[]>();
  for (const [question, { words }] of questions.entries()) {
    for (const [word, times] of words) {
      const df = frequency[word] ?? 0;
      const weight = times * Math.log(1 + (passages - df + 0.5) / (df + 0.5));
      asking.set(word, [...(asking.get(word) ?? []), { question, weight }]);
    }
  }
  const best = questions.map(() => readers.map((): Scored[] => []));
  for (let passage = 0; passage < passages; passage += 1) {
    const scores = new Map<number, number>();
    for (const [word, times] of wordsOf(passage)) {
      for (const { question, weight } of asking.get(word) ?? [])
        scores.set(question, (scores.get(question) ?? 0) + weight / (1 + (k1 * (1 - b + b)) / times));
    }
    const isOpen = readers.map((opens) => opens(passage));
    for (const [question, score] of scores) {
      for (const [reader, list] of (best[question] ?? []).entries())
        if (isOpen[reader] === true) keepBest(list, { passage, score }, count);
    }
  }
  return best;
}

/** Puts one into a list of the best, which falls. */
export function keepBest(list: Scored[], one: Scored, count: number): void {
  if (list.length === count && one.score <= (list.at(-1)?.score ?? 0)) return;
  const place = list.findIndex(({ score }) => score < one.score);
  list.splice(place === -1 ? list.length : place, 0, one);
  if (list.length > count) list.pop();
}

/** Buffers that this transaction has read, of tables and indexes of passages. */
export const buffersSql = `
SELECT sum(pg_stat_get_xact_blocks_fetched(oid))::float8 AS buffers FROM pg_class
WHERE relname ~ '^(chunk|lexeme_|embedding_|source_embeddings|knowledge_items|data_sources)' OR relnamespace = 'pg_toast'::regnamespace`;

export function middle(values: readonly number[], share = 0.5): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length * share)] ?? 0;
}

/** Questions from the oldest, middle and newest passages: half of any words, half of words that at least one passage in two hundred holds. */
export function makeQuestions(passages: number, questionsOfAge = 40): readonly Question[] {
  const ages = { oldest: 0, middle: 0.5, newest: 0.99 };
  return Object.entries(ages).flatMap(([age, from]) =>
    Array.from({ length: questionsOfAge }, (_, n) => {
      const passage = Math.floor(passages * from) + Math.floor((n * passages * 0.01) / questionsOfAge);
      return n % 2 === 0 ? questionOf(`${age}, any words`, passage, false) : questionOf(`${age}, common words`, passage, true);
    }),
  );
}

export function questionText({ words }: Question): string {
  return [...words].flatMap(([word, count]) => Array.from({ length: count }, () => textOf(word))).join(' ');
}
