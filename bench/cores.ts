import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { allProcesses, processesBelow } from '../test/support/processes/process-table.ts';
import { type Target, throughput } from './completions/load.ts';
import { cores, start } from './completions/processes.ts';
import { environmentOfStart, flagsOfStart } from './support/start-flags.ts';

/**
 * What the second process of a service adds: completions a second of processor time, of services with PROCESSES=1 and 2 on the same upstream, in turns.
 * Processor time is that of all processes of a service, those that serve no request included; so the load generator and other work of the machine do not
 * count. Run it with `node bench/cores.ts`; with DATABASE_URL (and PARLEY_MASTER_KEY) on a server.
 */
const adminKey = 'pk-bench-administrator-key-of-40-characters';
const connections = 64;
/** V8 compiles the code of each process in so many requests. */
const warmUpRequests = 12_000;
const turnMs = 4_000;
const turns = 4;
const main = join(import.meta.dirname, '../src/main.js');

interface Service {
  readonly count: number;
  readonly target: Target;
  /** Of all its processes since their start. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

async function startService(count: number, upstreamUrl: string): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const { DATABASE_URL, PARLEY_MASTER_KEY, PATH } = process.env;
  const child = spawn(process.execPath, [...flagsOfStart, main], {
    env: {
      ...environmentOfStart,
      ...{ PATH, PORT: '0', DATA_DIR: folder, BLOB_URL: `file://${join(tmpdir(), 'parley-bench-blobs')}`, DEMO: 'off' },
      ...{ LOG_LEVEL: 'warn', LOG_FORMAT: 'json', PARLEY_ADMIN_KEY: adminKey, OPENAI_BASE_URL: `${upstreamUrl}/v1` },
      ...{ PROCESSES: String(count), DATABASE_URL, PARLEY_MASTER_KEY },
      ...(DATABASE_URL === undefined ? { BLOB_URL: `file://${join(folder, 'blobs')}` } : {}),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      const address = /listens on (http:\S+)/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', () => reject(new Error(output)));
  });
  const pid = child.pid ?? 0;
  return {
    count,
    target: {
      ...{ name: `PROCESSES=${count}`, url, path: '/api/v1/chat/completions' },
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/whole', messages: [{ role: 'user', content: 'Say something.' }] }),
    },
    cpuSeconds: () =>
      [...allProcesses().filter(({ id }) => id === pid), ...processesBelow(pid)].reduce((sum, one) => sum + one.cpuSeconds, 0),
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Measured {
  requests: number;
  seconds: number;
  cpuSeconds: number;
}

async function measure({ target, cpuSeconds }: Service, total: Measured): Promise<void> {
  const before = cpuSeconds();
  const startedMs = performance.now();
  const rate = await throughput(target, connections, turnMs);
  const seconds = (performance.now() - startedMs) / 1_000;
  total.requests += rate * seconds;
  total.seconds += seconds;
  total.cpuSeconds += cpuSeconds() - before;
}

const upstream = await start<{ readonly url: string }>('upstream.ts', [], cores.load);
const services = [await startService(1, upstream.ready.url), await startService(2, upstream.ready.url)] as const;
const totals = services.map((service) => ({ service, total: { requests: 0, seconds: 0, cpuSeconds: 0 } satisfies Measured }));
for (const { target, count } of services) {
  for (let left = warmUpRequests * count; left > 0; ) left -= (await throughput(target, connections, turnMs)) * (turnMs / 1_000);
}
for (let turn = 0; turn < turns; turn += 1) for (const { service, total } of totals) await measure(service, total);
const idle = services.map((service) => service.cpuSeconds());
await wait(turnMs);
for (const [index, { service, total }] of totals.entries()) {
  const idleShare = (service.cpuSeconds() - (idle[index] ?? 0)) / (turnMs / 1_000);
  const { requests, seconds, cpuSeconds } = total;
  const micros = ((cpuSeconds * 1e6) / requests).toFixed(0);
  const busy = (cpuSeconds / seconds).toFixed(2);
  console.log(
    `${service.target.name}: ${micros} µs of processor time a request; ${(requests / seconds).toFixed(0)} requests/s with ${busy} cores; idle ${(idleShare * 100).toFixed(1)} % of a core`,
  );
}
const [one = 0, two = 0] = totals.map(({ total }) => total.requests / total.cpuSeconds);
console.log(`two busy cores: ${((2 * two) / one).toFixed(2)} × the rate of one`);
await Promise.all(services.map((service) => service.stop()));
await upstream.stop();
