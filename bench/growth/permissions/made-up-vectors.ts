import { normalised } from '../../../src/engine/knowledge/embeddings/embeddings.ts';
import type { Database } from '../../../src/storage/ground/database.ts';
import { fillSketchesSql } from '../../../src/storage/ground/vectors/sketches.ts';
import { Spaces } from '../../../src/storage/knowledge/embeddings/spaces.ts';
import { seededRandom } from '../../../test/support/property/random.ts';
import { itemPassages, keepBest, type Opens, type Scored, sourceId, topicOf } from '../made-up-passages.ts';

/**
 * Vectors of the made-up passages, around the centre of their topic, as those of texts about one thing are. The same for the same passage. That of a
 * question lies as far from the centre as that of a passage.
 */
export const vectorModel = 'measured/vectors';
export const dimensions = 128;
/** How far vectors lie from the centre of their topic. */
const spread = 0.8;
const rowsAtOnce = 2_000;

const centres = new Map<number, Float32Array>();

export function vectorOf(passage: number): Float32Array {
  return around(topicOf(passage), passage + 11);
}

export function questionVector(passage: number): readonly number[] {
  return normalised([...around(topicOf(passage), passage + 1_000_000_007)]) ?? [];
}

function around(topic: number, seed: number): Float32Array {
  const centre = centres.get(topic) ?? noise(topic + 500_000_003);
  centres.set(topic, centre);
  const own = noise(seed);
  let square = 0;
  for (let n = 0; n < dimensions; n += 1) {
    const value = (centre[n] ?? 0) + spread * (own[n] ?? 0);
    own[n] = value;
    square += value * value;
  }
  const length = Math.sqrt(square);
  return own.map((value) => value / length);
}

/** About normal: a sum of four even numbers, with variance 1. */
function noise(seed: number): Float32Array {
  const random = seededRandom(seed);
  return Float32Array.from({ length: dimensions }, () => (random() + random() + random() + random() - 2) * Math.sqrt(3));
}

/** Adds the vectors of all passages, and builds the index of the space over them. The source answers by them from then on. */
export async function loadVectors(db: Database, passages: number): Promise<void> {
  const space = await new Spaces(db).makeSpace(vectorModel, dimensions);
  const indexName = `chunk_embeddings_space_${space.id}_idx`;
  const [index] = await db.query<{ sql: string }>('SELECT indexdef AS sql FROM pg_indexes WHERE indexname = $1', [indexName]);
  if (index === undefined) throw new Error(`there is no index ${indexName}`);
  await db.execute(`DROP INDEX ${indexName}`);
  await db.execute('ALTER TABLE chunk_embeddings DISABLE TRIGGER ALL');
  for (let from = 0; from < passages; from += rowsAtOnce) {
    const numbers = Array.from({ length: Math.min(rowsAtOnce, passages - from) }, (_, n) => from + n);
    const vectors = numbers.map((passage) => `[${Array.from(vectorOf(passage), (value) => value.toFixed(4)).join(',')}]`);
    await db.execute(
      `INSERT INTO chunk_embeddings (chunk_id, space, data_source_id, item_id, generation, text_hash, embedding)
       SELECT passage + 1, $1, $2, 'ki_growth_' || passage / $3::int, 1, md5(passage::text)::uuid, vector::halfvec
       FROM unnest($4::int[], $5::text[]) AS made(passage, vector)`,
      [space.id, sourceId, itemPassages, numbers, vectors],
    );
  }
  await db.execute('ALTER TABLE chunk_embeddings ENABLE TRIGGER ALL');
  await db.runAs('background', () =>
    db.transaction(async (tx) => {
      await tx.execute('SET LOCAL statement_timeout = 0');
      await tx.execute(`SET LOCAL maintenance_work_mem = '1GB'`);
      await tx.execute(index.sql);
      await tx.execute('ANALYZE chunk_embeddings');
    }),
  );
  await db.execute(fillSketchesSql);
  for (const table of ['chunk_embeddings', 'chunk_sketches']) await db.execute(`VACUUM ANALYZE ${table}`);
  await db.execute('INSERT INTO source_embeddings (data_source_id, serving_space) VALUES ($1, $2)', [sourceId, space.id]);
}

/** For each question and each reader, the nearest passages among those that the reader may open, best first, by comparing every vector. */
export function exactlyNearest(
  questions: readonly { readonly passage: number }[],
  passages: number,
  readers: readonly Opens[],
  count: number,
): readonly (readonly (readonly Scored[])[])[] {
  const asked = questions.map(({ passage }) => Float32Array.from(questionVector(passage)));
  const best = questions.map(() => readers.map((): Scored[] => []));
  for (let passage = 0; passage < passages; passage += 1) {
    const vector = vectorOf(passage);
    const isOpen = readers.map((reader) => reader(passage));
    for (const [question, wanted] of asked.entries()) {
      let score = 0;
      for (let n = 0; n < dimensions; n += 1) score += (wanted[n] ?? 0) * (vector[n] ?? 0);
      for (const [reader, list] of (best[question] ?? []).entries())
        if (isOpen[reader] === true) keepBest(list, { passage, score }, count);
    }
  }
  return best;
}
