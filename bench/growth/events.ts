import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { lowerBoundOfIds } from '../../src/entities/ground/ids.ts';
import { loadSettings } from '../../src/settings.ts';
import { openDatabase } from '../../src/storage/ground/opening/open.ts';
import { EventPartitionStore } from '../../src/storage/operations/data-life/event-partitions.ts';
import { EventSweepStore } from '../../src/storage/operations/data-life/event-sweeps.ts';
import { type SweepPlace, SweepStore } from '../../src/storage/operations/data-life/sweeps.ts';
import { benchStoredStream } from '../stored-stream.ts';

/**
 * The event log: statements and write-ahead log of a stored stream of 200 deltas, and the buffers of the sweep of old events with 1,000,000 runs of
 * 50 days (RUNS says how many): when nothing is due, and when ten days are due, dropped as partitions and deleted row by row. At last the deletion of
 * the runs of one day themselves, half of them with two items.
 *
 * Run: `DATABASE_URL=postgres://… node bench/growth/events.ts [stream] [sweep]`. Needs a server that nobody else uses, on which it makes and drops
 * databases. About 30 seconds for the stream, and some minutes for the sweep.
 */
const { DATABASE_URL, RUNS = '1000000' } = process.env;
if (DATABASE_URL === undefined) throw new Error('DATABASE_URL names no PostgreSQL server');
const parts = process.argv.slice(2);
const dayMs = 86_400_000;
const days = 50;
const runs = Number(RUNS);
/** Runs that one statement of the sweep names. */
const logsAtOnce = 2_000;

if (parts.length === 0 || parts.includes('stream')) {
  for (const { name, raw, ours, unit } of await benchStoredStream())
    console.log(`${name}: ${ours.toFixed(1)} ${unit} (at most ${raw})`);
}
if (parts.length === 0 || parts.includes('sweep')) await benchSweep(DATABASE_URL);
process.exit(0);

async function benchSweep(url: string): Promise<void> {
  const server = new Client({ connectionString: url });
  await server.connect();
  const name = `parley_bench_events_${process.pid}`;
  await server.query(`create database ${name}`);
  const address = new URL(url);
  address.pathname = name;
  const folder = await mkdtemp(join(tmpdir(), 'parley-events-'));
  const settings = loadSettings({
    DATA_DIR: folder,
    DATABASE_URL: address.href,
    PARLEY_MASTER_KEY: 'a master key for measurements only',
  });
  const db = await openDatabase(settings, { onError: () => undefined });
  const client = new Client({ connectionString: address.href });
  await client.connect();
  try {
    const now = new Date();
    const partitions = new EventPartitionStore(db);
    const startMs = now.getTime() - days * dayMs;
    // Day by day, as a service that ran all the time.
    for (let atMs = startMs - dayMs; atMs <= now.getTime(); atMs += dayMs) await partitions.makeAhead(new Date(atMs), 1);
    await fill(client, startMs);
    const measured = async (what: string, work: () => Promise<unknown>) => {
      await db.query('select pg_stat_force_next_flush()::text');
      const before = await figures(client);
      const startedMs = performance.now();
      const result = await work();
      const seconds = (performance.now() - startedMs) / 1_000;
      // The pool's session tells its statistics now.
      await db.query('select pg_stat_force_next_flush()::text');
      const after = await figures(client);
      const [buffers, wal] = [after.buffers - before.buffers, (after.wal - before.wal) / 1_000];
      console.log(
        `${what}: ${buffers} buffers, ${wal.toFixed(0)} kB of WAL, ${seconds.toFixed(2)} s${result === undefined ? '' : `, ${result}`}`,
      );
    };
    const sweeps = new EventSweepStore(db);
    const walk = async (from: Date, before: Date, age: { readonly now: Date; readonly days: number }, deletes: boolean) => {
      let count = 0;
      for (const kind of ['run', 'response'] as const) {
        let after: string | undefined = lowerBoundOfIds(kind, from);
        while (after !== undefined) {
          const { due, next } = await sweeps.listDue({ after, before: lowerBoundOfIds(kind, before) }, age);
          if (deletes && due.length > 0) await sweeps.delete(due.map(({ runId }) => runId));
          count += due.length;
          after = next;
        }
      }
      return `${count} logs`;
    };
    const beginning = new Date(0);
    const ago = (age: number) => new Date(now.getTime() - age * dayMs);
    // More than ten times, so that a generic plan would show.
    for (let pass = 0; pass < 12; pass += 1) await walk(beginning, ago(days + 1), { now, days: days + 1 }, false);
    await measured(`${runs} runs, nothing due`, () => walk(beginning, ago(days + 1), { now, days: days + 1 }, true));
    const old = (await partitions.list()).filter(({ to, kind }) => to <= lowerBoundOfIds(kind, ago(days - 10)));
    const [first, ...others] = old.filter(({ kind }) => kind === 'run');
    if (first === undefined) throw new Error('there are no old partitions');
    const age = { now, days: days - 10 };
    await measured('one day, deleted row by row', () => walk(beginning, ago(days - 1), age, true));
    await measured(`${others.length} days, dropped`, async () => {
      let count = 0;
      for (const partition of others) count += (await partitions.dropIfOld(partition, age)) ?? 0;
      return `${count} logs`;
    });
    await measured('one log is read', async () => {
      const { rows } = await client.query<{ id: string }>(`select id from runs order by id desc limit 1`);
      await db.query('select events from run_event_batches where "runId" = $1', [rows[0]?.id]);
    });
    console.log(`at most ${logsAtOnce} logs are deleted by one statement`);
    const deleteRuns = async (before: Date) => {
      let count = 0;
      let after: SweepPlace | undefined;
      do {
        const batch = await new SweepStore(db).runs({ orgId: 'org_bench', before }, after);
        count += batch.count;
        after = batch.next;
      } while (after !== undefined);
      return `${count} runs`;
    };
    await measured('runs, nothing due', () => deleteRuns(ago(days + 1)));
    await measured('the runs of one day', () => deleteRuns(ago(days - 1)));
  } finally {
    await client.end();
    await db.close();
    await server.query(`drop database ${name} with (force)`);
    await server.end();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs that are over, spread over the days, each with a log of one row. */
async function fill(client: Client, startMs: number): Promise<void> {
  await client.query(`create function time_of(ms bigint) returns text language sql immutable as $$
    select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> (45 - 5 * place)) & 31)::int + 1, 1), '' order by place)
    from generate_series(0, 9) place $$`);
  const texts = await client.query<{ events: string }>(
    `select json_agg(json_build_object('sequence', n, 'type', 'response.output_text.delta', 'outputIndex', 0, 'itemId', 'msg_01kb0000000000000000000000',
       'json', '"word' || n || ' "'))::text as events from generate_series(0, 30) n`,
  );
  const stepMs = (days * dayMs) / runs;
  for (let from = 0; from < runs; from += 100_000) {
    await client.query(
      `with made as (
         select 'run_' || time_of($1::bigint + (n * $2::float8)::bigint) || lpad(n::text, 16, '0') as id,
           to_timestamp(($1::bigint + n * $2::float8) / 1000) as at from generate_series($3::int, $4::int) n
       ), logs as (
         insert into run_event_batches ("runId", "firstSequence", "lastSequence", "createdAt", events) select id, 0, 30, at, $5::json from made
       ), items as (
         insert into response_items ("runId", direction, ordinal, "itemId", "orgId", "userId", item)
         select id, direction, 0, 'msg_' || substr(id, 5), 'org_bench', 'user_bench', '{"type": "message", "role": "user", "content": "A question."}'
         from made, unnest(array['input', 'output']) direction where right(id, 1) in ('0', '2', '4', '6', '8'))
       insert into runs (id, "createdAt", "startedAt", "endedAt", "updatedAt", "orgId", "userId", "keyId", "modelId", status, request, "lastSequence")
       select id, at, at, at + interval '4 seconds', at, 'org_bench', 'user_bench', '', 'bench', 'completed', '{}', 30 from made`,
      [Math.round(startMs), stepMs, from, Math.min(from + 100_000, runs) - 1, texts.rows[0]?.events],
    );
  }
  await client.query('vacuum analyze');
  await client.query('select pg_stat_force_next_flush()');
}

async function figures(client: Client): Promise<{ readonly buffers: number; readonly wal: number }> {
  const { rows } = await client.query<{ buffers: string; wal: string }>(
    `select (blks_hit + blks_read) as buffers, pg_current_wal_insert_lsn() - '0/0' as wal from pg_stat_database where datname = current_database()`,
  );
  return { buffers: Number(rows[0]?.buffers), wal: Number(rows[0]?.wal) };
}
