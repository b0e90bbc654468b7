import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Client } from 'pg';
import { processScreen } from '../../scripts/cli/output/screen.ts';
import { rebuildSearchIndex } from '../../scripts/cli/search-index.ts';

/**
 * How fast Parley builds a search index: reads passages from the database, and sends them. What an OpenSearch does with them is not measured: a stand-in
 * in a thread of its own takes them.
 *
 * `DATABASE_URL=postgres://…/<database> node bench/growth/search-index.ts`, on a database that `search.ts` has filled: some 100,000 passages.
 */
const { DATABASE_URL = '' } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'parley-search-index-'));
const program = `import { parentPort } from 'node:worker_threads';
  const { startOpenSearch } = await import(${JSON.stringify(new URL('../../test/support/knowledge/opensearch/opensearch.ts', import.meta.url).href)});
  const { url } = await startOpenSearch();
  parentPort.postMessage(url);`;
const standIn = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`));
const [url] = await once(standIn, 'message');
const client = new Client({ connectionString: DATABASE_URL });
await client.connect();
const { rows } = await client.query<{ passages: number }>('SELECT count(*)::int AS passages FROM chunks');
await client.end();
const passages = rows[0]?.passages ?? 0;

let peakBytes = 0;
const watching = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage().heapUsed);
}, 100);
const env = {
  ...{ DATABASE_URL, DATA_DIR: folder, BLOB_URL: `file://${folder}`, SEARCH_INDEX_URL: String(url) },
  PARLEY_MASTER_KEY: 'a master key for measurements only',
};
const startMs = performance.now();
const before = process.cpuUsage();
await rebuildSearchIndex(env, processScreen(process.env), AbortSignal.timeout(3_600_000));
const seconds = (performance.now() - startMs) / 1_000;
const cpu = process.cpuUsage(before);
clearInterval(watching);
console.log({
  passages,
  seconds: Math.round(seconds),
  aSecond: Math.round(passages / seconds),
  cpuSecondsWithStandIn: Math.round((cpu.user + cpu.system) / 1e6),
  peakHeapMB: Math.round(peakBytes / 1e6),
});
await standIn.terminate();
rmSync(folder, { recursive: true, force: true });
