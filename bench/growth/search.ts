import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rankChunks } from '../../src/engine/knowledge/search/words.ts';
import { loadSettings } from '../../src/settings.ts';
import type { Database } from '../../src/storage/ground/database.ts';
import { openDatabase } from '../../src/storage/ground/opening/open.ts';
import { ChunkRanking } from '../../src/storage/knowledge/passages/chunk-ranking.ts';
import {
  buffersSql,
  exactlyRanked,
  loadPassages,
  makeQuestions,
  middle,
  orgId,
  type Question,
  questionText,
  sourceId,
  wanted,
} from './made-up-passages.ts';

/**
 * Word search over many passages on PostgreSQL: how often a search finds the passage that its words are from among the first eight, beside exact
 * BM25 over all passages, with the buffers and the time of a search (the statement that finds the terms, and the one that ranks).
 *
 *     DATABASE_URL=postgres://…/<disposable database> node bench/growth/search.ts [passages, default 1000000]
 *     node bench/growth/search.ts [passages, default 90000]      (on the embedded database)
 *
 * Passages that the database has already are measured again, not loaded: loading a million takes some minutes. See made-up-passages.ts for what they are.
 */
interface Measured {
  readonly found: boolean;
  readonly same: number;
  readonly buffers: number;
  readonly ms: number;
}

async function measure(db: Database, question: Question, exact: readonly number[]): Promise<Measured> {
  const ranking = new ChunkRanking(db);
  const text = questionText(question);
  const search = () => rankChunks(ranking, { orgId, dataSourceIds: [sourceId] }, text, 32);
  const chunks = await search();
  const startMs = performance.now();
  await search();
  const ms = performance.now() - startMs;
  const buffers = await db.transaction(async (tx) => {
    const before = await tx.query<{ buffers: number }>(buffersSql);
    await search();
    const after = await tx.query<{ buffers: number }>(buffersSql);
    return (after[0]?.buffers ?? 0) - (before[0]?.buffers ?? 0);
  });
  const first = chunks.slice(0, wanted).map(({ chunkId }) => Number(chunkId) - 1);
  return {
    found: first.includes(question.passage),
    same: first.filter((one) => exact.includes(one)).length / exact.length,
    buffers,
    ms,
  };
}
const { DATABASE_URL } = process.env;
const passages = Number(process.argv[2] ?? (DATABASE_URL === undefined ? 90_000 : 1_000_000));
const folder = mkdtempSync(join(tmpdir(), 'parley-growth-search-'));
const where = DATABASE_URL === undefined ? {} : { DATABASE_URL };
const db = await openDatabase(loadSettings({ DATA_DIR: folder, DATABASE_STATEMENT_TIMEOUT_MS: '600000', ...where }), {
  onError: (error) => {
    throw error;
  },
});
try {
  const loaded = await db.query(`SELECT 1 FROM data_sources WHERE id = $1`, [sourceId]);
  if (loaded.length === 0) await loadPassages(db, passages);
  const questions = makeQuestions(passages);
  const exact = exactlyRanked(questions, passages);
  const rows: (Measured & Question & { readonly isExact: boolean })[] = [];
  const cpuBefore = process.cpuUsage();
  for (const [index, question] of questions.entries()) {
    const best = exact[index] ?? [];
    rows.push({ ...question, ...(await measure(db, question, best)), isExact: best.includes(question.passage) });
  }
  const cpu = process.cpuUsage(cpuBefore);
  for (const [kind, group] of [...Map.groupBy(rows, (row) => row.kind), ['all', rows] as const]) write(kind, group);
  console.log(`processor time of a search in this process: ${((cpu.user + cpu.system) / 1000 / rows.length / 3).toFixed(1)} ms`);
} finally {
  await db.close();
  rmSync(folder, { recursive: true, force: true });
}

function write(kind: string, rows: readonly (Measured & { readonly isExact: boolean })[]): void {
  const share = (count: number) => (count / rows.length).toFixed(3);
  const buffers = rows.map((row) => row.buffers);
  const times = rows.map((row) => row.ms);
  console.log(
    `${kind.padEnd(20)} hit@${wanted} ${share(rows.filter(({ found }) => found).length)} (exact BM25 ${share(rows.filter(({ isExact }) => isExact).length)}), ` +
      `first ${wanted} as exact ${share(rows.reduce((sum, { same }) => sum + same, 0))}, buffers p50 ${middle(buffers)} p95 ${middle(buffers, 0.95)}, ` +
      `p50 ${middle(times).toFixed(1)} ms p95 ${middle(times, 0.95).toFixed(1)} ms`,
  );
}
