import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createLogger } from '../../src/http/log/logging.ts';
import { loadSettings } from '../../src/settings.ts';
import { startService } from '../../src/start/service.ts';
import { seededRandom } from '../../test/support/property/random.ts';
import { passageText } from '../retrieval.ts';
import { adminKey, callJson } from '../support/service.ts';

/**
 * How long a message of a chat takes while documents are indexed, against the same service at rest: in turns, so that other work on the machine affects
 * both alike. Also beside processes that only compute, one for each core: what any other work on the same cores does to a chat, which is no wait for
 * indexing.
 *
 * `node bench/growth/indexing-and-chat.ts [passages] [--worker]`: default 100,000, on the embedded database or that of DATABASE_URL (an empty one).
 * With `--worker`, which needs DATABASE_URL, a process with ROLE=worker indexes, and the one that serves has ROLE=web.
 */
const { positionals, values } = parseArgs({ allowPositionals: true, options: { worker: { type: 'boolean', default: false } } });
const passages = Number(positionals[0] ?? 100_000);
const sections = 250;
const turnMessages = 20;
/** Before each batch of documents: some 160 messages for a 99th percentile of more than one. */
const turnsAtRest = 4;
/** Works on some memory, as a parser does; ends by itself. */
const compute =
  'const end = Date.now() + 60_000; for (let n = 0, all = []; Date.now() < end; n += 1) all[n % 100_000] = { n, text: String(n) };';
const folder = mkdtempSync(join(tmpdir(), 'parley-indexing-'));
const { DATABASE_URL } = process.env;
if (values.worker && DATABASE_URL === undefined) throw new Error('--worker needs DATABASE_URL');
const environment = {
  ...{
    PORT: '0',
    DATA_DIR: folder,
    DEMO: 'off',
    PARLEY_ADMIN_KEY: adminKey,
    PARLEY_MASTER_KEY: 'a master key for measurements only',
  },
  ...(DATABASE_URL === undefined ? {} : { DATABASE_URL, BLOB_URL: `file://${folder}` }),
};
const settings = loadSettings({ ...environment, ROLE: values.worker ? 'web' : 'all' });
const service = await startService(settings, createLogger({ ...settings, LOG_LEVEL: 'error' }), (error) => {
  throw error;
});
let worker: ChildProcess | undefined;
try {
  if (values.worker) worker = await startWorker();
  await measure(`${service.url}/api/v1`);
} finally {
  worker?.kill('SIGTERM');
  await service.close(1_000);
  rmSync(folder, { recursive: true, force: true });
}

/** Ready once it says its address, the last thing of a start. */
async function startWorker(): Promise<ChildProcess> {
  const env = { ...process.env, ...environment, ROLE: 'worker', LOG_LEVEL: 'error' };
  const child = spawn(process.execPath, ['src/main.js'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

async function measure(url: string) {
  const random = seededRandom(3);
  const agent = await callJson(`${url}/ais`, { name: 'Measured', description: '', instructions: '', src: '' });
  const store = await callJson(`${url}/vector_stores`, { name: 'Measured' });
  const fileIds: string[] = [];
  for (let n = 0; n < Math.ceil(passages / sections); n += 1) {
    const form = new FormData();
    form.set('purpose', 'assistants');
    form.set('file', new File([documentOf(n, random)], `${n}.md`));
    fileIds.push((await callJson(`${url}/files`, form)).id);
  }
  const send = async (chatId: string) => {
    const startMs = performance.now();
    await callJson(`${url}/chats/${chatId}/messages`, {
      prompt: [{ type: 'text', text: 'What is the time of day in the workshop?' }],
    });
    return performance.now() - startMs;
  };
  // A chat for each turn: the built-in model reads all of a chat, so a message of a long one takes longer.
  const turn = async () => {
    const times: number[] = [];
    const chat = await callJson(`${url}/ais/${agent.id}/chats`, { name: 'Measured' });
    for (let n = 0; n < turnMessages; n += 1) {
      times.push(await send(chat.id));
      await wait(20);
    }
    return times;
  };
  await turn();
  const times = { rest: [] as number[], computing: [] as number[], indexing: [] as number[] };
  const batches = 4;
  const size = Math.ceil(fileIds.length / batches);
  let indexed = 0;
  let seconds = 0;
  for (let from = 0; from < fileIds.length; from += size) {
    for (let n = 0; n < turnsAtRest; n += 1) times.rest.push(...(await turn()));
    const busy = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', compute]));
    for (let n = 0; n < turnsAtRest; n += 1) times.computing.push(...(await turn()));
    for (const child of busy) child.kill('SIGKILL');
    const startMs = performance.now();
    const batch = await callJson(`${url}/vector_stores/${store.id}/file_batches`, { file_ids: fileIds.slice(from, from + size) });
    const isOver = async () =>
      (await callJson(`${url}/vector_stores/${store.id}/file_batches/${batch.id}`)).status !== 'in_progress';
    while (!(await isOver())) times.indexing.push(...(await turn()));
    seconds += (performance.now() - startMs) / 1_000;
    indexed += Math.min(size, fileIds.length - from) * sections;
  }
  console.log(['messages', 'p50 ms', 'p95 ms', 'p99 ms', 'of'].join('\t'));
  for (const [name, all] of Object.entries(times)) {
    const sorted = all.toSorted((a, b) => a - b);
    const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
    console.log([name, at(0.5), at(0.95), at(0.99), sorted.length].join('\t'));
  }
  console.log(`${indexed} passages, ${(indexed / seconds).toFixed(0)} a second`);
}

function documentOf(number: number, random: () => number): string {
  const paragraphs = Array.from({ length: sections }, (_, section) => `## Section ${section}\n\n${passageText(random)}.`);
  return `# Measured document ${number}\n\n${paragraphs.join('\n\n')}\n`;
}
