import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { firstTokens, quantile, send, type Target } from '../completions/load.ts';
import { cores, pin, start } from '../completions/processes.ts';
import { installPortkey, recipes, type Server, startServer } from './servers.ts';

/**
 * `npm run bench:peers`: what public harnesses measure, of Parley, of Portkey's gateway from npm and of a plain Express gateway, each on one core in front
 * of the same stand-in of a provider, one after the other in one run. Prints a table in Markdown. Peers do less (they keep no run, no usage on a disk, no
 * limits); the table says what a door costs, not what is behind it.
 */
const warmUpMs = 8_000;
const stepMs = 2_500;
const connectionSteps = [1, 2, 4, 8, 16, 32, 64];
const boundsMs = [5, 10, 50];
const streams = 100;
const growthMs = 30_000;

pin(process.pid, cores.load);
installPortkey();
const upstream = await start<{ readonly url: string }>('upstream.ts', [], cores.load);
const columns: Column[] = [];
try {
  columns.push({ name: 'straight to the provider', figures: await measureDirect() });
  for (const make of [recipes.gateway, recipes.portkey, recipes.parley]) {
    const server = await startServer(make(), upstream.ready.url);
    try {
      columns.push({ name: `${server.name} (${server.version})`, figures: await measure(server) });
    } finally {
      await server.stop();
    }
  }
} finally {
  await upstream.stop();
}
print(columns);

interface Column {
  readonly name: string;
  readonly figures: Readonly<Record<string, string>>;
}

async function measureDirect(): Promise<Column['figures']> {
  const target = (model: string, stream: boolean): Target => ({
    ...{
      name: 'upstream',
      url: upstream.ready.url,
      path: '/v1/chat/completions',
      headers: { 'content-type': 'application/json' },
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'What is the answer to everything?' }], stream }),
  });
  return { ...(await measureRates(target('whole', false))), ...(await measureStreams(target)) };
}

async function measure(server: Server): Promise<Column['figures']> {
  const idleMegabytes = server.residentMegabytes();
  const whole = server.target('whole', false);
  await load(whole, 16, warmUpMs);
  const rates = await measureRates(whole);
  const before = server.cpuSeconds();
  const { times } = await load(whole, 64, stepMs);
  const cpuMicros = ((server.cpuSeconds() - before) * 1e6) / times.length;
  const figures = await measureStreams((model, stream, words) => server.target(model, stream, words));
  const atStart = server.residentMegabytes();
  await load(whole, 16, growthMs);
  const growth = ((server.residentMegabytes() - atStart) * 60_000) / growthMs;
  return {
    'ready after the start': `${(server.readyMs / 1000).toFixed(2)} s`,
    ...rates,
    'processor time a completion': `${cpuMicros.toFixed(0)} µs`,
    ...figures,
    'memory: before any request, after load': `${idleMegabytes.toFixed(0)}, ${server.residentMegabytes().toFixed(0)} MB`,
    'growth of memory under load': `${growth.toFixed(0)} MB a minute`,
  };
}

/** The most completions a second at which 99 of 100 end within a bound, over steps of connections; and the times of one connection. */
async function measureRates(target: Target): Promise<Column['figures']> {
  const steps: { readonly rate: number; readonly p99: number; readonly p50: number }[] = [];
  for (const connections of connectionSteps) {
    const { times, rate } = await load(target, connections, stepMs);
    steps.push({ rate, p99: quantile(times, 0.99), p50: quantile(times, 0.5) });
  }
  const best = (boundMs: number) => Math.max(0, ...steps.filter(({ p99 }) => p99 <= boundMs).map(({ rate }) => rate));
  const last = steps.at(-1);
  return {
    'one connection, median and p99': `${steps[0]?.p50.toFixed(2)}, ${steps[0]?.p99.toFixed(2)} ms`,
    ...Object.fromEntries(
      boundsMs.map((ms) => [`completions a second at p99 ≤ ${ms} ms`, Math.round(best(ms)).toLocaleString('en')]),
    ),
    '64 connections: a second, p99': `${Math.round(last?.rate ?? 0).toLocaleString('en')}, ${last?.p99.toFixed(0)} ms`,
  };
}

async function measureStreams(target: (model: string, stream: boolean, words?: string) => Target): Promise<Column['figures']> {
  const pool = new Pool(target('burst-1', true).url, { connections: 1 });
  await firstTokens(target('burst-1', true), pool, 300);
  const firsts = (await firstTokens(target('burst-1', true), pool, 600)).sort((one, other) => one - other);
  await pool.close();
  const alone = await gaps(target('paced-200-20', true));
  const long = target('whole', false, 'word '.repeat(20_000));
  const stop = new AbortController();
  const beside = repeat(long, stop.signal);
  const disturbed = await gaps(target('paced-200-20', true));
  stop.abort();
  await beside;
  return {
    'first token, median': `${quantile(firsts, 0.5).toFixed(2)} ms`,
    [`gap between frames of ${streams} streams, p99 (20 ms at the provider)`]: `${alone.toFixed(1)} ms`,
    'the same beside prompts of 100 KB': `${disturbed.toFixed(1)} ms`,
  };
}

async function repeat(target: Target, signal: AbortSignal): Promise<void> {
  const pool = new Pool(target.url, { connections: 1, headersTimeout: 0, bodyTimeout: 0 });
  while (!signal.aborted) {
    await send(pool, target);
    await wait(20);
  }
  await pool.close();
}

/** The p99 of the times between two pieces of a stream, over several streams at once. */
async function gaps(target: Target): Promise<number> {
  const pool = new Pool(target.url, { connections: streams, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const all: number[] = [];
  const one = async () => {
    let lastMs: number | undefined;
    const onData = () => {
      const nowMs = performance.now();
      if (lastMs !== undefined) all.push(nowMs - lastMs);
      lastMs = nowMs;
    };
    await send(pool, target, { onData });
  };
  await Promise.all(Array.from({ length: streams }, one));
  await pool.close();
  return quantile(
    all.sort((first, second) => first - second),
    0.99,
  );
}

async function load(target: Target, connections: number, durationMs: number) {
  const pool = new Pool(target.url, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const startedMs = performance.now();
  const times: number[] = [];
  const worker = async () => {
    while (performance.now() - startedMs < durationMs) {
      const sentMs = performance.now();
      await send(pool, target);
      times.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const seconds = (performance.now() - startedMs) / 1000;
  await pool.close();
  return { times: times.sort((one, other) => one - other), rate: times.length / seconds };
}

function print(shown: readonly Column[]): void {
  const names = [...new Set(shown.flatMap(({ figures }) => Object.keys(figures)))];
  console.log(['', 'measured', ...shown.map(({ name }) => name), ''].join(' | ').trim());
  console.log(`|${' --- |'.repeat(shown.length + 1)}`);
  for (const name of names) console.log(['', name, ...shown.map(({ figures }) => figures[name] ?? '–'), ''].join(' | ').trim());
}
