import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Row } from './completions.ts';
import { quantile, type Target } from './load.ts';
import { cores, start, untilIdle } from './processes.ts';

const runsMax = 64;
/** The most places that one key alone may hold. */
const share = Math.floor(runsMax * 0.8);
const durationMs = 4_000;
/**
 * A refused client tries again after the time that a reply would have taken, earlier than Retry-After asks, so ten times the clients make ten times
 * the load. Each client waits a different time; otherwise hundreds of refusals would queue in the one client process.
 */
const comesBackMs = () => 100 + Math.random() * 200;
const refusedMaxMs = 100;
/**
 * Refusals during this time are not measured: all clients connect then, which is another load. The client process has a small young generation (`npm
 * run bench` sets it): otherwise its own pauses, of 50 ms where memory is slow, would count as the service's.
 */
const connectingMs = 1_000;

/** The promise at ten times the load: excess requests are refused at once, and the throughput of the others stays nearly the same. */
export async function benchOverload(): Promise<readonly Row[]> {
  const upstream = await start<{ url: string }>('upstream.ts', [], cores.load);
  const service = await start<{ url: string; adminKey: string }>(
    'service.ts',
    [upstream.ready.url, String(runsMax)],
    cores.service,
  );
  try {
    const { url, adminKey } = service.ready;
    const messages = [{ role: 'user', content: 'What is the answer to everything?' }];
    const target: Target = {
      name: 'parley',
      url,
      path: '/api/v1/chat/completions',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/paced-10-20', messages, stream: true }),
    };
    const measured = async (clients: number) => {
      const before = await service.ask<{ cpuMicros: number }>('cpu');
      const result = await load(target, clients, durationMs);
      const after = await service.ask<{ cpuMicros: number }>('cpu');
      return { ...result, cpuMicros: after.cpuMicros - before.cpuMicros };
    };
    await untilIdle(service);
    await load(target, share, 1_000);
    const alone = await measured(share);
    const flooded = await measured(share * 10);
    const refusedMs = quantile(flooded.refusedMs, 0.99);
    // Measured in processor time, which a busy machine does not change: time that is not spent on good replies is spent on refusals.
    const goodMicros = alone.cpuMicros / alone.replies;
    const refusalMicros = (flooded.cpuMicros - flooded.replies * goodMicros) / flooded.refused;
    const cpu = `CPU: ${goodMicros.toFixed(0)} µs a reply, ${refusalMicros.toFixed(0)} µs a refusal`;
    const note = `${flooded.refused} refused, ${flooded.others} other failures; ${cpu}`;
    return [
      {
        name: 'overload: good replies at 10 × the load, to those at 1 ×',
        raw: alone.good,
        ours: flooded.good,
        unit: 'replies/s',
        floor: { ratioMin: 0.7 },
        note,
      },
      {
        name: 'overload: time to a refusal p99, to what is promised',
        raw: refusedMaxMs,
        ours: refusedMs,
        unit: 'ms',
        floor: { ratioMax: 1 },
      },
    ];
  } finally {
    await Promise.all([upstream, service].map((child) => child.stop()));
  }
}

interface Load {
  /** Complete replies a second. */
  readonly good: number;
  /** The number of complete replies. */
  readonly replies: number;
  readonly refused: number;
  /** Milliseconds from a request to its 429 or 503, sorted. */
  readonly refusedMs: readonly number[];
  readonly others: number;
}

async function load(target: Target, clients: number, forMs: number): Promise<Load> {
  const pool = new Pool(target.url, { connections: clients, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const refusedMs: number[] = [];
  let [replies, refused, others] = [0, 0, 0];
  const startedMs = performance.now();
  const client = async () => {
    while (performance.now() - startedMs < forMs) {
      const sentMs = performance.now();
      const { statusCode, body } = await pool.request({ method: 'POST', ...target });
      const isRefused = statusCode === 429 || statusCode === 503;
      if (isRefused) refused += 1;
      if (isRefused && sentMs - startedMs > connectingMs) refusedMs.push(performance.now() - sentMs);
      const text = await body.text();
      if (statusCode === 200 && text.endsWith('data: [DONE]\n\n')) replies += 1;
      else if (isRefused) await wait(comesBackMs());
      else others += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const seconds = (performance.now() - startedMs) / 1000;
  await pool.close();
  return { good: replies / seconds, replies, refused, refusedMs: refusedMs.sort((a, b) => a - b), others };
}
