/**
 * What it costs to delete old entries of the ledger and of the audit log: sweeps that find nothing, a month that is dropped, and the same rows deleted
 * one by one, as it was before.
 *
 * `TEST_DATABASE_URL=postgres://… node bench/growth/retention.ts [rows]`: on a PostgreSQL server, as a superuser, in a database of its own, which is
 * removed at the end. A million rows a table take some five minutes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { sweepLogs } from '../../src/domain/operations/data-life/sweep-logs.ts';
import { lowerBoundOfIds } from '../../src/entities/ground/ids.ts';
import { loadSettings } from '../../src/settings.ts';
import { openDatabase } from '../../src/storage/ground/opening/open.ts';
import { type LogKind, logTables } from '../../src/storage/operations/data-life/log-months.ts';
import { LogSweeps } from '../../src/storage/operations/data-life/log-sweeps.ts';
import { RetentionStore } from '../../src/storage/operations/data-life/retention.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
const server = process.env.TEST_DATABASE_URL ?? '';
const name = `parley_bench_${process.pid}`;
const kinds: readonly LogKind[] = ['usage', 'audit'];
const month = new Date('2024-02-01T00:00:00Z');
const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));

async function onServer(text: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query(text);
  await client.end();
}

await onServer(`create database ${name}`);
const url = new URL(server);
url.pathname = `/${name}`;
/** For what is not measured: without the time limit of statements. */
const loader = new Client({ connectionString: url.href });
url.searchParams.set(
  'options',
  '-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c auto_explain.log_analyze=on -c auto_explain.log_timing=off' +
    ' -c auto_explain.log_buffers=on -c auto_explain.log_format=json -c client_min_messages=log',
);
const env = { DATABASE_URL: url.href, DATA_DIR: folder, USAGE_RETENTION_DAYS: '365', AUDIT_RETENTION_DAYS: '365' };
const db = await openDatabase(loadSettings(env), { onError: () => undefined });

await loader.connect();

let buffers = 0;
let statements = 0;
let mode = 'auto';
const modes = new WeakMap<object, string>();
const watched = new Set<object>();
db.pool.on('acquire', (client) => {
  if ((modes.get(client) ?? 'auto') !== mode) void client.query(`set plan_cache_mode = ${mode}`);
  modes.set(client, mode);
  if (watched.has(client)) return;
  watched.add(client);
  client.on('notice', ({ message = '' }) => {
    const plan = /"Plan": \{[\s\S]*/.exec(message)?.[0];
    if (plan === undefined) return;
    statements += 1;
    // The first of each member is that of the whole plan.
    for (const member of ['Shared Hit Blocks', 'Shared Read Blocks'])
      buffers += Number(new RegExp(`"${member}": (\\d+)`).exec(plan)?.[1] ?? 0);
  });
});

const table: Record<string, string | number>[] = [];
async function measure(what: string, work: () => Promise<number>): Promise<void> {
  const wal = async () => {
    const { rows: found } = await db.pool.query(`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`);
    return Number(found[0].bytes);
  };
  const [before, startedMs] = [await wal(), performance.now()];
  [buffers, statements] = [0, 0];
  const count = await work();
  const seconds = (performance.now() - startedMs) / 1_000;
  const used = { buffers, statements };
  const megabytes = ((await wal()) - before) / 1e6;
  table.push({ what, rows: count, ...used, 'WAL MB': megabytes.toFixed(2), seconds: seconds.toFixed(2) });
}

const logSweeps = new LogSweeps(db, { keepsUnsent: false });
const storage = { operations: { logSweeps, retention: new RetentionStore(db) } };
async function sweep(kind: LogKind, days: number): Promise<number> {
  const settings = loadSettings({ ...env, USAGE_RETENTION_DAYS: String(days), AUDIT_RETENTION_DAYS: String(days) });
  let count = 0;
  const deps = { settings, storage, logger: { info: () => undefined }, now: () => new Date() };
  await sweepLogs(deps, kind, new AbortController().signal, (_kind, deleted) => {
    count += deleted;
  });
  return count;
}

/** Rows of 20 organizations, in the order of their time. */
async function fill(to: string, kind: LogKind): Promise<void> {
  const { idKind } = logTables[kind];
  const start = lowerBoundOfIds(idKind, month);
  const at = `timestamptz '${month.toISOString()}' + n * interval '2 seconds'`;
  const id = `'${start}' || lpad(n::text, 16, '0')`;
  const more =
    kind === 'usage'
      ? [`"userId", purpose, "modelId", "inputTokens", "outputTokens"`, `'user_' || n % 10000, 'run', 'openai/gpt-5', 900, 300`]
      : [
          `"actorUserId", "actorEmail", "actorKeyId", action, "targetIds", changes, "requestId"`,
          `'user_' || n % 10000, 'someone@example.com', 'key_' || n % 10000, 'updateAgent', array['ai_' || n], '[{"member":"temperature","value":0.5}]', 'req_' || n`,
        ];
  await loader.query(
    `insert into ${to} (id, "createdAt", "orgId", ${more[0]}) select ${id}, ${at}, 'org_' || n % 20, ${more[1]} from generate_series(1, ${rows}) n`,
  );
}

interface Batch {
  readonly count: number;
  readonly at: Date;
  readonly id: string;
}
/** The statement of the version before, with the same filter. */
const deleteBefore = (from: string) => `with old as (
    select row.id, row."createdAt" from ${from} row
    where row."createdAt" < $1 and ($2::timestamptz is null or (row."createdAt", row.id) > ($2, $3::text))
      and not exists (select from data_retentions own where own."orgId" = row."orgId" and own."auditDays" is not null)
      and not exists (select from legal_holds hold where hold."orgId" = row."orgId" and hold."endedAt" is null)
    order by row."createdAt", row.id limit 2000
  ), gone as (delete from ${from} where id in (select id from old))
  select count(*)::int as count, max("createdAt") as at, (select id from old order by "createdAt" desc, id desc limit 1) as id from old`;

async function deleteBatch(kind: LogKind, last: Batch | undefined): Promise<Batch> {
  const text = deleteBefore(`before.${logTables[kind].table}`);
  const values = [new Date().toISOString(), last?.at.toISOString() ?? null, last?.id ?? ''];
  const { rows: found } = await db.pool.query<Batch>({ name: `before ${kind}`, text, values });
  const [batch] = found;
  if (batch === undefined) throw new Error('the statement has no answer');
  return batch;
}

try {
  await logSweeps.makeAhead(month);
  await db.pool.query('create schema before');
  for (const kind of kinds) {
    const { table: logged } = logTables[kind];
    await fill(logged, kind);
    await loader.query(`create table before.${logged} (like ${logged} including all)`);
    await fill(`before.${logged}`, kind);
    await loader.query(`vacuum analyze ${logged}`);
    await loader.query(`vacuum analyze before.${logged}`);
  }
  // Everything is old, and all organizations keep it longer: the first sweep looks at every row, later ones at none.
  await db.pool.query(`insert into tenants (id, name, "updatedAt") values ('ten_1', 'T', now())`);
  await db.pool.query(
    `insert into organizations (id, "tenantId", name, "updatedAt") select 'org_' || n, 'ten_1', 'O', now() from generate_series(0, 19) n`,
  );
  await db.pool.query(
    `insert into data_retentions ("orgId", "updatedAt", "usageDays", "auditDays") select 'org_' || n, now() - interval '1 day', 36500, 36500 from generate_series(0, 19) n`,
  );
  for (mode of ['auto', 'force_generic_plan']) {
    await db.pool.query('delete from sweep_places');
    for (const kind of kinds) {
      if (mode === 'auto') await measure(`${kind}: nothing is old (20 organizations chose days)`, () => sweep(kind, 36_500));
      await measure(`${kind}: all is old and kept longer, first sweep`, () => sweep(kind, 365));
      await measure(`${kind}: the same, next sweep${mode === 'auto' ? '' : ' (generic plans)'}`, () => sweep(kind, 365));
    }
  }
  await db.pool.query('delete from data_retentions');
  for (const kind of kinds) {
    await measure(`${kind}: nothing is old`, () => sweep(kind, 36_500));
    await measure(`${kind}: the month is dropped`, () => sweep(kind, 365));
    await measure(`${kind}: row by row, as before`, async () => {
      let [count, last]: [number, Batch | undefined] = [0, undefined];
      do {
        last = await deleteBatch(kind, last);
        count += last.count;
      } while (last.count === 2_000);
      return count;
    });
  }
  console.table(table);
} finally {
  await loader.end();
  await db.close();
  await onServer(`drop database if exists ${name} with (force)`);
  rmSync(folder, { recursive: true, force: true });
}
