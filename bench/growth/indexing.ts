import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { createLogger } from '../../src/http/log/logging.ts';
import { loadSettings } from '../../src/settings.ts';
import { startService } from '../../src/start/service.ts';
import { seededRandom } from '../../test/support/property/random.ts';
import { passageText } from '../retrieval.ts';
import { adminKey, callJson } from '../support/service.ts';
import { fillPassages } from './passage-rows.ts';

/**
 * What indexing writes to the log of a server (WAL) in a database that has 300,000 passages: kilobytes a passage, right after a checkpoint, when the
 * first change of each page writes the whole page. A whole service indexes uploads: large documents and small ones, into a new source.
 *
 * `DATABASE_URL=postgres://… node bench/growth/indexing.ts [passages]`: a role that may make databases and checkpoints, on a server that nobody else uses.
 * Takes some five minutes; `KEEP=1` keeps the database for the next time.
 */
const { DATABASE_URL, KEEP } = process.env;
if (DATABASE_URL === undefined) throw new Error('DATABASE_URL names the server');
const passages = Number(process.argv[2] ?? 300_000);
const name = 'parley_growth_indexing';
const folder = mkdtempSync(join(tmpdir(), 'parley-indexing-'));
const address = new URL(DATABASE_URL);
address.pathname = name;

/** Documents of so many sections, of which each becomes one passage of about 220 words; and the figures of the code before. */
const cases = [
  { name: 'large documents', documents: 6, sections: 250, before: [147.6, 189.6] },
  { name: 'small documents', documents: 300, sections: 1, before: [304.6, 321.2] },
] as const;

const server = new Client({ connectionString: DATABASE_URL });
await server.connect();
const { rowCount: isKept } = await server.query('select from pg_database where datname = $1', [name]);
if (isKept === 0) await server.query(`create database ${name}`);
const db = new Client({ connectionString: address.href });
try {
  await db.connect();
  await measure();
} finally {
  await db.end();
  if (KEEP === undefined) await server.query(`drop database ${name} with (force)`);
  await server.end();
  rmSync(folder, { recursive: true, force: true });
}

async function measure() {
  const settings = loadSettings({
    ...{ PORT: '0', DATA_DIR: folder, DATABASE_URL: address.href, DEMO: 'off', BLOB_URL: `file://${folder}` },
    ...{ PARLEY_ADMIN_KEY: adminKey, PARLEY_MASTER_KEY: 'a master key for measurements only', LOG_LEVEL: 'error' },
  });
  const service = await startService(settings, createLogger({ ...settings, LOG_LEVEL: 'error' }), (error) => {
    throw error;
  });
  try {
    if (isKept === 0) await fillPassages(db, passages);
    await db.query('CREATE EXTENSION IF NOT EXISTS pg_walinspect');
    // As a day after an upgrade.
    await db.query('UPDATE lexeme_numberings SET since = now()');
    const random = seededRandom(Date.now());
    const url = `${service.url}/api/v1`;
    console.log(['case', 'passages', 'seconds', 'kB of WAL a passage', 'before'].join('\t'));
    for (const { name: title, documents, sections, before } of cases) {
      const store = await callJson(`${url}/vector_stores`, { name: title });
      // The second time, the source has the words already.
      for (const [index, round] of ['new source', 'once more'].entries()) {
        const texts = Array.from({ length: documents }, () => documentOf(sections, random));
        const { passages: added, seconds, bytes, parts } = await indexFiles(url, store.id, texts);
        console.log(
          [`${title}, ${round}`, added, seconds.toFixed(1), (bytes / 1024 / added).toFixed(1), before[index]].join('\t'),
        );
        console.log(`  kB by kind, in brackets whole pages: ${parts}`);
      }
    }
  } finally {
    await service.close(1_000);
  }
}

/** Uploads documents, adds them to the store, and waits until they are indexed. @returns the passages, and the log that indexing wrote. */
async function indexFiles(url: string, storeId: string, documents: readonly string[]) {
  const fileIds: string[] = [];
  for (const text of documents) {
    const form = new FormData();
    form.set('purpose', 'assistants');
    form.set('file', new File([text], `${crypto.randomUUID()}.md`));
    fileIds.push((await callJson(`${url}/files`, form)).id);
  }
  const before = await passagesOf();
  await wait(1_000);
  await db.query('CHECKPOINT');
  const from = await position();
  const startMs = performance.now();
  const batch = await callJson(`${url}/vector_stores/${storeId}/file_batches`, { file_ids: fileIds });
  while ((await callJson(`${url}/vector_stores/${storeId}/file_batches/${batch.id}`)).status === 'in_progress') await wait(200);
  const seconds = (performance.now() - startMs) / 1_000;
  // What is put off until the queue is empty belongs to it.
  await wait(3_000);
  const to = await position();
  return { passages: (await passagesOf()) - before, seconds, bytes: Number(to - from), parts: await partsOf(from, to) };
}

async function passagesOf(): Promise<number> {
  return (await db.query<{ n: number }>('SELECT coalesce(sum(chunks), 0)::int AS n FROM lexeme_statistics')).rows[0]?.n ?? 0;
}

async function position(): Promise<bigint> {
  const { rows } = await db.query<{ at: string }>("SELECT (pg_current_wal_flush_lsn() - '0/0')::text AS at");
  return BigInt(rows[0]?.at ?? 0);
}

/** The kinds of records that take most, in kilobytes, with the part that is images of whole pages. */
async function partsOf(from: bigint, to: bigint): Promise<string> {
  const { rows } = await db.query<{ part: string }>(
    `SELECT format('%s %s (%s)', "resource_manager/record_type", (combined_size / 1024)::int, (fpi_size / 1024)::int) AS part
     FROM pg_get_wal_stats('0/0'::pg_lsn + $1::numeric, '0/0'::pg_lsn + $2::numeric, true) ORDER BY combined_size DESC LIMIT 12`,
    [String(from), String(to)],
  );
  return rows.map(({ part }) => part).join(', ');
}

function documentOf(sections: number, random: () => number): string {
  const paragraphs = Array.from({ length: sections }, (_, section) => `## Section ${section}\n\n${passageText(random)}.`);
  return `# Measured document\n\n${paragraphs.join('\n\n')}\n`;
}
