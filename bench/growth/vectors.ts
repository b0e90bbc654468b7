import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { seededRandom } from '../../test/support/property/random.ts';

/**
 * Vectors in the embedded database: an index of halves (as before) against one of floats and one of bits whose best are ordered by their halves. Prints
 * the time of one insert, the median of a search for 200, and how many of the exact first 8 and 200 it finds.
 *
 * `node bench/growth/vectors.ts [vectors] [dimensions]`: default 20,000 of 1,024. Vectors lie around the centres of made-up topics, as those of texts do.
 */
const [count = 20_000, dimensions = 1_024] = process.argv.slice(2).map(Number);
const topics = Math.ceil(count / 50);
const questions = 40;
const limit = 200;
const random = seededRandom(5);

const bits = (column: string) => `binary_quantize(${column}::halfvec(${dimensions}))::bit(${dimensions})`;
const halves = `embedding::halfvec(${dimensions})`;
const floats = `embedding::vector(${dimensions})`;
const index = {
  halves: `CREATE INDEX measured_idx ON measured USING hnsw ((${halves}) halfvec_ip_ops) WHERE space = 1`,
  floats: `CREATE INDEX measured_idx ON measured USING hnsw ((${floats}) vector_ip_ops) WHERE space = 1`,
  bits: `CREATE INDEX measured_idx ON measured USING hnsw ((${bits('embedding')}) bit_hamming_ops) WHERE space = 1`,
} as const;
const search = {
  halves: {
    ef: limit,
    sql: `SELECT id FROM measured WHERE space = 1 ORDER BY ${halves} <#> $1::halfvec(${dimensions}) LIMIT ${limit}`,
  },
  floats: {
    ef: limit,
    sql: `SELECT id FROM measured WHERE space = 1 ORDER BY ${floats} <#> $1::vector(${dimensions}) LIMIT ${limit}`,
  },
  ...Object.fromEntries(
    [400, 800].map((ef) => [
      `bits, best of ${ef}`,
      {
        ef,
        sql: `SELECT id FROM (SELECT id, embedding FROM measured WHERE space = 1 ORDER BY ${bits('embedding')} <~> ${bits('$1')} LIMIT ${ef}) AS near
          ORDER BY embedding <#> $1::halfvec LIMIT ${limit}`,
      },
    ]),
  ),
};

const centres = Array.from({ length: topics }, () => gaussian());
function gaussian(): Float64Array {
  return Float64Array.from(
    { length: dimensions },
    () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  );
}
function vectorText(): string {
  const centre = centres[Math.floor(random() * topics)] ?? gaussian();
  const around = gaussian();
  const values = Array.from(centre, (value, n) => value + 0.8 * (around[n] ?? 0));
  const length = Math.hypot(...values);
  return `[${values.map((value) => (value / length).toFixed(5)).join(',')}]`;
}

const db = await PGlite.create({ extensions: { vector } });
await db.exec(`CREATE EXTENSION vector; CREATE TABLE measured (id int, space int, embedding halfvec);
  ALTER TABLE measured ALTER COLUMN embedding SET STORAGE PLAIN`);
const rows = Array.from({ length: count }, vectorText);
const asked = Array.from({ length: questions }, vectorText);
console.log(['index', 'ms an insert', 'p50 ms a search', 'of the first 8', `of the first ${limit}`].join('\t'));
const exact = new Map<string, readonly number[]>();
for (const kind of ['halves', 'floats', 'bits'] as const) {
  await db.exec(`TRUNCATE measured; DROP INDEX IF EXISTS measured_idx; ${index[kind]}`);
  const startMs = performance.now();
  for (let from = 0; from < count; from += 64) {
    const part = rows.slice(from, from + 64);
    await db.query(
      'INSERT INTO measured SELECT id, 1, embedding::halfvec FROM unnest($1::int[], $2::text[]) AS row(id, embedding)',
      [part.map((_, n) => from + n), part],
    );
  }
  const insertMs = (performance.now() - startMs) / count;
  if (exact.size === 0)
    for (const question of asked)
      exact.set(question, await ids(`SELECT id FROM measured ORDER BY embedding <#> $1::halfvec LIMIT ${limit}`, question));
  for (const [name, { ef, sql }] of Object.entries(search).filter(([name]) => name.startsWith(kind))) {
    await db.exec(`SET hnsw.ef_search = ${ef}; SET hnsw.iterative_scan = relaxed_order; SET enable_seqscan = off`);
    const times: number[] = [];
    const hits = { first: 0, all: 0 };
    for (const question of [...asked.slice(0, 5), ...asked]) {
      const searchMs = performance.now();
      const found = new Set(await ids(sql, question));
      times.push(performance.now() - searchMs);
      const best = exact.get(question) ?? [];
      hits.first += best.slice(0, 8).filter((id) => found.has(id)).length / 8;
      hits.all += best.filter((id) => found.has(id)).length / limit;
    }
    const p50 = times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
    const share = (sum: number) => (sum / times.length).toFixed(3);
    console.log([name, insertMs.toFixed(2), p50.toFixed(1), share(hits.first), share(hits.all)].join('\t'));
    await db.exec('RESET enable_seqscan');
  }
}
await db.close();

async function ids(sql: string, question: string): Promise<readonly number[]> {
  return (await db.query<{ id: number }>(sql, [question])).rows.map(({ id }) => id);
}
