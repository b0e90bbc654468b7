/**
 * Signals between many instances: how many a second, and how late. One instance works on runs, two watch them, and all the others only listen: NOTIFY to
 * all as before, NOTIFY to those who watch, and Redis. The last line is what a follower reads after a notification, and does not read with Redis.
 *
 *   DATABASE_URL=postgres://… REDIS_URL=redis://… node bench/growth/signals.ts
 *
 * Makes a database of its own and drops it. Needs two connections for each instance. Ends after some two minutes.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, Pool } from 'pg';
import { loadSettings } from '../../src/settings.ts';
import { readEvents } from '../../src/storage/conversations/runs/events.ts';
import { openDatabase } from '../../src/storage/ground/opening/open.ts';
import { openPool } from '../../src/storage/ground/opening/pool.ts';
import { RedisTransport } from '../../src/storage/ground/redis/transport.ts';
import { SignalHub } from '../../src/storage/ground/signals/hub.ts';
import { PostgresTransport } from '../../src/storage/ground/signals/postgres.ts';
import { Signals } from '../../src/storage/ground/signals/signals.ts';

const kinds = ['NOTIFY before', 'NOTIFY now', 'Redis, with events'] as const;
type Kind = (typeof kinds)[number];
const instanceCounts = [5, 50];
const runsCount = 4_000;
/** Signals that are under way at one time, when as many as possible are sent. */
const windowSize = 512;
const fullMs = 5_000;
const calm = { perSecond: 200, ms: 4_000 };
/** As many bytes as the events of one write have. */
const batch = JSON.stringify([{ type: 'response.output_text.delta', sequence: 17, json: 'x'.repeat(300) }]);

/** What the measurement needs of signals. */
interface Instance {
  tell(runId: string): void;
  watch(runId: string, heard: () => void): void;
  close(): Promise<void>;
}

const settings = { redis: process.env.REDIS_URL ?? '', database: process.env.DATABASE_URL ?? '' };
if (process.argv[2] === 'idle') await idle(process.argv[3] as Kind, Number(process.argv[4]));
else await main();

async function main(): Promise<void> {
  const name = `parley_bench_signals_${process.pid}`;
  const server = new Client({ connectionString: settings.database });
  await server.connect();
  await server.query(`create database ${name}`);
  const address = new URL(settings.database);
  address.pathname = name;
  settings.database = address.href;
  const db = await openDatabase(
    loadSettings({ DATABASE_URL: address.href, DATA_DIR: '/tmp', PARLEY_MASTER_KEY: 'bench bench bench' }),
    {
      onError: () => {},
    },
  );
  try {
    const rows = [];
    for (const instances of instanceCounts) {
      for (const kind of kinds) {
        if (kind.startsWith('Redis') && settings.redis === '') continue;
        rows.push(await measure(kind, instances));
      }
    }
    console.table(rows);
    console.log(`looks of followers into the database: ${await looksPerSecond(db)} a second, two statements each`);
  } finally {
    await db.close();
    await server.query(`drop database ${name} with (force)`);
    await server.end();
  }
}

/** What followers read after "look again", ten at one time. */
async function looksPerSecond(db: Awaited<ReturnType<typeof openDatabase>>): Promise<number> {
  let count = 0;
  const endMs = performance.now() + fullMs;
  const look = async (): Promise<void> => {
    while (performance.now() < endMs) {
      await db.query('select status from runs where id = $1', ['run_none']);
      await readEvents(db, 'run_none', 0, 2_000);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: 10 }, look));
  return Math.round(count / (fullMs / 1_000));
}

async function measure(kind: Kind, instances: number) {
  const others = await startIdle(kind, instances - 3);
  const pool = openPool({ connectionString: settings.database, max: 6 }, { onLost: () => {} });
  const [worker, ...watchers] = await Promise.all([1, 2, 3].map(() => open(kind, pool)));
  const runs = Array.from({ length: runsCount }, () => `run_${randomUUID()}`);
  const sent = new Map<string, number>();
  const delays: number[] = [];
  const hear = (runId: string) => {
    const sentMs = sent.get(runId);
    if (sentMs === undefined) return;
    sent.delete(runId);
    delays.push(performance.now() - sentMs);
  };
  for (const [index, runId] of runs.entries()) {
    watchers[index % watchers.length]?.watch(runId, () => hear(runId));
  }
  await wait(3_000);
  let next = 0;
  const tell = () => {
    const runId = runs[next % runsCount] ?? '';
    next += 1;
    sent.set(runId, performance.now());
    worker?.tell(runId);
  };
  // Who watches is known from the first signal of each run on.
  for (const runId of runs) worker?.tell(runId);
  await wait(3_000);
  sent.clear();
  delays.length = 0;

  const calmEndMs = performance.now() + calm.ms;
  for (; performance.now() < calmEndMs; await wait(50)) for (let count = 0; count < calm.perSecond / 20; count += 1) tell();
  await wait(1_000);
  const late = delays.toSorted((a, b) => a - b);
  const lost = sent.size;
  sent.clear();
  delays.length = 0;

  const beganMs = performance.now();
  while (performance.now() < beganMs + fullMs) {
    while (sent.size < windowSize) tell();
    await wait(1);
    for (const [runId, sentMs] of sent) if (performance.now() - sentMs > 2_000) sent.delete(runId);
  }
  const perSecond = (delays.length / (performance.now() - beganMs)) * 1_000;
  await Promise.all([worker, ...watchers].map((instance) => instance?.close()));
  await pool.end();
  for (const child of others) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await ended;
  }
  return {
    ...{ kind, instances, 'signals/s': Math.round(perSecond) },
    ...{ 'p50 ms': rounded(late, 0.5), 'p99 ms': rounded(late, 0.99), lost },
  };
}

function rounded(sorted: readonly number[], part: number): number {
  return Math.round((sorted[Math.floor(sorted.length * part)] ?? Number.NaN) * 10) / 10;
}

async function open(kind: Kind, pool: Pool): Promise<Instance> {
  if (kind === 'NOTIFY before') return openBefore(pool);
  const hub = new SignalHub();
  const transport =
    kind === 'NOTIFY now'
      ? new PostgresTransport(hub, pool, () => {})
      : new RedisTransport(hub, { url: settings.redis, installation: `bench ${kind}`, onError: () => {}, onBack: () => {} });
  const signals = new Signals(hub, { transport, pool });
  await signals.start();
  return {
    tell: (runId) => signals.tell(runId, () => (kind === 'Redis, with events' ? batch : '')),
    watch: (runId, heard) => void signals.watch(runId, heard),
    close: () => signals.close(),
  };
}

/** As it was: each signal is a notification for all, and each process tells itself twice a second that it is there. */
async function openBefore(pool: Pool): Promise<Instance> {
  const listeners = new Map<string, () => void>();
  const origin = randomUUID();
  const client = new Client(pool.options);
  await client.connect();
  client.on('error', () => {});
  client.on('notification', ({ payload = '' }) => {
    const [from, , runId = ''] = payload.split(' ');
    if (from !== origin) listeners.get(runId)?.();
  });
  await client.query('LISTEN parley_signals');
  await client.query(`LISTEN beat_${origin.replaceAll('-', '')}`);
  const feed = new Pool({ ...pool.options, max: 1 });
  const beat = setInterval(() => {
    feed.query('SELECT pg_notify($1, $2)', [`beat_${origin.replaceAll('-', '')}`, '']).catch(() => {});
  }, 500);
  let outbox: string[] = [];
  let isSending = false;
  async function send(): Promise<void> {
    isSending = true;
    await Promise.resolve();
    while (outbox.length > 0) {
      const messages = [...new Set(outbox)];
      outbox = [];
      await pool.query('SELECT pg_notify($1, message) FROM unnest($2::text[]) AS message', ['parley_signals', messages]);
    }
    isSending = false;
  }
  return {
    tell(runId) {
      outbox.push(`${origin} run-changed ${runId}`);
      if (!isSending) void send();
    },
    watch: (runId, heard) => void listeners.set(runId, heard),
    async close() {
      clearInterval(beat);
      await client.end();
      await feed.end();
    },
  };
}

/** Instances that watch nothing, in two processes. */
async function startIdle(kind: Kind, count: number): Promise<readonly ChildProcess[]> {
  const counts = [Math.ceil(count / 2), Math.floor(count / 2)].filter((share) => share > 0);
  const children = counts.map((share) =>
    fork(new URL(import.meta.url), ['idle', kind, String(share)], { env: { ...process.env, DATABASE_URL: settings.database } }),
  );
  await Promise.all(children.map((child) => new Promise((resolve) => child.once('message', resolve))));
  return children;
}

async function idle(kind: Kind, count: number): Promise<void> {
  const pool = openPool({ connectionString: settings.database, max: 2 }, { onLost: () => {} });
  for (let index = 0; index < count; index += 1) await open(kind, pool);
  process.send?.('ready');
}
