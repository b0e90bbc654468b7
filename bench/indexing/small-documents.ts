import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { allProcesses, processesBelow } from '../../test/support/processes/process-table.ts';
import { seededRandom } from '../../test/support/property/random.ts';
import { passageText } from '../retrieval.ts';
import { adminKey, callJson } from '../support/service.ts';
import { serveStandIn } from '../support/stand-in-model.ts';
import { environmentOfStart, flagsOfStart } from '../support/start-flags.ts';

/**
 * How many documents of one passage a second are uploaded, and then indexed and embedded, and the processor time of the service for each:
 * `node bench/indexing/small-documents.ts [documents] [rounds]`, on the embedded database or that of DATABASE_URL (an empty one). Vectors are made by a stand-in in
 * this process, whose time does not count. The first round warms the service up.
 */
const { positionals } = parseArgs({ allowPositionals: true });
const documents = Number(positionals[0] ?? 500);
const rounds = Number(positionals[1] ?? 3);
const uploadsAtOnce = 8;
const lookEveryMs = 500;

const folder = mkdtempSync(join(tmpdir(), 'parley-small-documents-'));
const model = await serveStandIn();
const service = spawn(process.execPath, [...flagsOfStart, join(import.meta.dirname, '../../src/main.js')], {
  env: {
    ...process.env,
    ...environmentOfStart,
    ...{
      PORT: '0',
      DATA_DIR: folder,
      DEMO: 'off',
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
      BLOB_URL: `file://${join(folder, 'blobs')}`,
    },
    ...{ PARLEY_ADMIN_KEY: adminKey, PARLEY_MASTER_KEY: 'a master key for measurements only' },
    ...{ OPENAI_BASE_URL: `${model.url}/v1`, EMBEDDING_MODEL: 'openai/hashing' },
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const pid = service.pid ?? 0;
try {
  const url = `${await addressOf()}/api/v1`;
  const random = seededRandom(5);
  console.log(['documents a second, ms each', 'uploaded', 'attached', 'indexed and embedded', 'texts of a request'].join('\t'));
  for (let round = 0; round <= rounds; round += 1) {
    const figures = await measure(url, round, random);
    console.log([round === 0 ? 'warm-up' : `round ${round}`, ...figures].join('\t'));
  }
} finally {
  service.kill('SIGTERM');
  await once(service, 'exit');
  model.close();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(url: string, round: number, random: () => number): Promise<readonly string[]> {
  const store = await callJson(`${url}/vector_stores`, { name: `Measured ${round}` });
  const fileIds: string[] = [];
  let next = 0;
  const upload = async () => {
    for (let number = next++; number < documents; number = next++) {
      const form = new FormData();
      form.set('purpose', 'assistants');
      form.set(
        'file',
        new File([`# Note ${number} of round ${round}\n\n${passageText(random)}.\n`], `note-${round}-${number}.md`),
      );
      fileIds.push((await callJson(`${url}/files`, form)).id);
    }
  };
  const upEnd = begin();
  await Promise.all(Array.from({ length: uploadsAtOnce }, upload));
  const uploaded = upEnd();
  const before = { ...model.counts };
  const indexEnd = begin();
  const attachEnd = begin();
  const batches = `${url}/vector_stores/${store.id}/file_batches`;
  const batch = await callJson(batches, { file_ids: fileIds });
  const attached = attachEnd();
  while ((await callJson(`${batches}/${batch.id}`)).status === 'in_progress') await wait(lookEveryMs);
  while (model.counts.texts - before.texts < documents) await wait(20);
  const requests = model.counts.requests - before.requests;
  return [uploaded, attached, indexEnd(), (documents / requests).toFixed(1)];
}

/** @returns documents a second since it was called, and processor time of the service for each. */
function begin(): () => string {
  const [startMs, startCpu] = [performance.now(), cpuSeconds()];
  return () => {
    const seconds = (performance.now() - startMs) / 1_000;
    const cpuMs = ((cpuSeconds() - startCpu) * 1_000) / documents;
    return `${(documents / seconds).toFixed(1)}, ${cpuMs.toFixed(1)} ms`;
  };
}

/** Of the service with the processes below it. */
function cpuSeconds(): number {
  const all = [...allProcesses().filter(({ id }) => id === pid), ...processesBelow(pid)];
  return all.reduce((sum, one) => sum + one.cpuSeconds, 0);
}

async function addressOf(): Promise<string> {
  let output = '';
  for await (const chunk of service.stdout) {
    output += String(chunk);
    const address = /listens on (http:\S+?)[\s"]/.exec(output)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error(output);
}
