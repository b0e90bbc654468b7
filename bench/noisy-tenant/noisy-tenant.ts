import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { quantile, send, type Target } from '../completions/load.ts';
import { cores, start } from '../completions/processes.ts';

/**
 * `npm run bench:noisy-tenant [-- <part of a name>]`: how long a plain query of one tenant takes alone, and beside 1, 4 and 20 connections over which
 * another tenant sends fifty aliases again and again. Uses the embedded database, or the disposable one of `DATABASE_URL`. Exits with status 1 when
 * the median beside twenty connections is more than three times that alone.
 */
const ratioMax = 3;
const connectionCounts = [0, 1, 4, 20];
const warmMs = 3_000;
const passMs = 2_500;
const pauseMs = 10;
const aliases = (field: (index: number) => string) =>
  `{ ${Array.from({ length: 50 }, (_, index) => `a${index}: ${field(index)}`).join(' ')} }`;
const noises = {
  search: aliases((index) => `search(query: "store ${index}") { __typename }`),
  list: aliases((index) => `agents(first: ${20 + index}) { nodes { id name } }`),
};
const plainQuery = '{ agents(first: 20) { nodes { id name } } }';

const [only = ''] = process.argv.slice(2);
const child = await start<{ url: string; noisyKey: string; quietKey: string }>('../noisy-tenant/server.ts', [], cores.service);
let isMet = true;
try {
  const { url, noisyKey, quietKey } = child.ready;
  const target = (name: string, key: string, query: string): Target => ({
    ...{ name, url, path: '/graphql', body: JSON.stringify({ query }) },
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
  });
  const quiet = target('quiet', quietKey, plainQuery);
  await withNoise(target('warm', noisyKey, noises.search), 4, () => times(quiet, warmMs));
  console.log('| fifty aliases of | connections | p50, ms | p99, ms | × alone | noisy requests/s |');
  console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
  for (const [name, query] of Object.entries(noises)) {
    if (!name.includes(only)) continue;
    let alone = 0;
    for (const connections of connectionCounts) {
      const { result, rate } = await withNoise(target(name, noisyKey, query), connections, () => times(quiet, passMs));
      const p50 = quantile(result, 0.5);
      if (connections === 0) alone = p50;
      const ratio = p50 / alone;
      if (ratio > ratioMax) isMet = false;
      const figures = [p50.toFixed(1), quantile(result, 0.99).toFixed(1), ratio.toFixed(1), rate.toFixed(1)];
      console.log(`| ${[name, connections, ...figures].join(' | ')} |`);
    }
  }
} finally {
  await child.stop();
}
process.exit(isMet ? 0 : 1);

async function withNoise<T>(noise: Target, connections: number, work: () => Promise<T>): Promise<{ result: T; rate: number }> {
  const pool = new Pool(noise.url, { connections: Math.max(1, connections), pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  let isOver = false;
  let ended = 0;
  const senders = Array.from({ length: connections }, async () => {
    while (!isOver) {
      await send(pool, noise);
      ended += 1;
    }
  });
  await wait(connections === 0 ? 0 : 500);
  const startedMs = performance.now();
  const before = ended;
  try {
    const result = await work();
    return { result, rate: ((ended - before) / (performance.now() - startedMs)) * 1_000 };
  } finally {
    isOver = true;
    await Promise.all(senders);
    await pool.close();
  }
}

/** The times of requests one after the other, for at least so long. */
async function times(target: Target, durationMs: number): Promise<readonly number[]> {
  const pool = new Pool(target.url, { connections: 1, headersTimeout: 0, bodyTimeout: 0 });
  const taken: number[] = [];
  const untilMs = performance.now() + durationMs;
  do {
    const startedMs = performance.now();
    await send(pool, target);
    taken.push(performance.now() - startedMs);
    await wait(pauseMs);
  } while (performance.now() < untilMs);
  await pool.close();
  return taken.sort((one, other) => one - other);
}
