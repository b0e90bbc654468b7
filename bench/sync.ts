import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { environmentOfStart, flagsOfStart } from './support/start-flags.ts';

/**
 * `node bench/sync.ts [files]`: a service of its own syncs a folder of small files of a drive (default 100,000): listed, fetched, read, indexed. Prints
 * files a second and resident memory (MB) for each tenth, and exits with status 1 when a file is missing or memory grows by a quarter from the third tenth to the last.
 */
const count = Number(process.argv[2] ?? 100_000);
const growthMax = 1.25;
const adminKey = 'pk-measured-administrator-key-of-40-chars';
const drive = fork(fileURLToPath(new URL('support/large-drive.ts', import.meta.url)), [String(count)]);
const [account] = (await once(drive, 'message')) as [{ url: string; access: string; refresh: string }];
const folder = mkdtempSync(join(tmpdir(), 'parley-sync-'));
const service = spawn(process.execPath, [...flagsOfStart, fileURLToPath(new URL('../src/main.js', import.meta.url))], {
  env: {
    ...{ PATH: process.env.PATH ?? '', ...environmentOfStart, PORT: '0', LOG_FORMAT: 'json', DEMO: 'off', DATA_DIR: folder },
    ...{ PARLEY_ADMIN_KEY: adminKey, GOOGLE_API_URL: account.url, GOOGLE_TOKEN_URL: `${account.url}/token` },
    ...{ GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret', EGRESS_ALLOW: '127.0.0.1' },
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let isMet = true;
try {
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    service.stdout.on('data', (chunk) => {
      output = (output + String(chunk)).slice(-10_000);
      const address = /listens on (http:[^\s"]+)/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    service.once('exit', (code) => reject(new Error(`the service ended with ${code}:\n${output}`)));
  });
  isMet = await sync(url);
} finally {
  service.kill('SIGKILL');
  drive.kill('SIGKILL');
  await Promise.all([service, drive].map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
  rmSync(folder, { recursive: true, force: true });
}
process.exit(isMet ? 0 : 1);

async function sync(url: string): Promise<boolean> {
  const call = async (method: string, path: string, body?: object) => {
    const reply = await fetch(`${url}/api/v1${path}`, {
      ...{ method, headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as { id: string; data: { id: string; status: string; failedCount: number }[]; doneCount: number };
  };
  const agent = await call('POST', '/ais', { src: '', name: 'Measured', description: '', instructions: '' });
  const { access: accessToken, refresh: refreshToken } = account;
  const { id: oauthTokenId } = await call('POST', '/connections', {
    ...{ provider: 'DRIVE_A', accountName: 'Measured', accessToken, refreshToken },
  });
  const startedAt = performance.now();
  const added = await call('POST', `/ais/${agent.id}/data-sources/drive-a`, {
    ...{ oauthTokenId, files: [{ id: 'shelf', name: 'Shelf' }] },
  });
  const source = `/data-sources/${added.data[0]?.id}`;
  console.log(['files', 'files/s', 'resident MB', 'its peak in this part', 'reader MB'].join('\t'));
  const parts: number[] = [];
  let [peak, done, partAt] = [0, 0, startedAt];
  for (;;) {
    await wait(200);
    peak = Math.max(peak, residentMB(service.pid));
    drive.send('figures');
    const [{ fetched }] = (await once(drive, 'message')) as [{ fetched: number }];
    const isEnd = fetched >= count && (await call('GET', `${source}/runs`)).data[0]?.status === 'COMPLETED';
    if (!isEnd && fetched < ((parts.length + 1) * count) / 10) continue;
    if (!isEnd && parts.length === 9) continue;
    const now = performance.now();
    console.log(
      [
        fetched,
        ((fetched - done) / ((now - partAt) / 1_000)).toFixed(0),
        residentMB(service.pid).toFixed(0),
        peak.toFixed(0),
        readersMB().toFixed(0),
      ].join('\t'),
    );
    parts.push(peak);
    [peak, done, partAt] = [0, fetched, now];
    if (isEnd) break;
  }
  const { doneCount } = await call('GET', `${source}/indexing-statistics`);
  const [run] = (await call('GET', `${source}/runs`)).data;
  const growth = (parts.at(-1) ?? 0) / (parts[2] ?? 1);
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(
    `${doneCount} of ${count} indexed, ${run?.failedCount} failed, ${seconds.toFixed(0)} s, ${(count / seconds).toFixed(0)} files/s, memory last : third tenth ${growth.toFixed(2)}`,
  );
  return doneCount === count && growth <= growthMax;
}

function residentMB(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

/** The processes that read documents. */
function readersMB(): number {
  const children = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8').trim().split(' ');
  return children.filter((pid) => pid !== '').reduce((sum, pid) => sum + residentMB(Number(pid)), 0);
}
