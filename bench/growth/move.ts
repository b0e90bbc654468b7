/**
 * How long `parley move` takes for an embedded database with many messages: `MOVE_TO=postgres://… node bench/growth/move.ts [messages]`, by default
 * 250,000. MOVE_TO names a server; the script makes a database on it and drops it at the end. The rows are synthetic: chats of 50 messages with a
 * run, a batch of events and a ledger entry for each answer, and 2,000 files of 20 kB. The files go to another folder.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { prepareJobTables } from '../../src/engine/jobs/jobs.ts';
import { loadSettings } from '../../src/settings.ts';
import { createDiskBlobs } from '../../src/storage/blobs/disk.ts';
import { startEmbedded } from '../../src/storage/ground/embedded/embedded.ts';
import { migrate } from '../../src/storage/ground/migrations/migrate.ts';
import { openPool } from '../../src/storage/ground/opening/pool.ts';
import { move } from '../../src/storage/move/move.ts';

const server = process.env.MOVE_TO;
if (server === undefined) throw new Error('name a PostgreSQL server in MOVE_TO');
const messages = Number(process.argv[2] ?? 250_000);
const files = 2_000;
const chats = Math.ceil(messages / 50);
const folder = mkdtempSync(join(tmpdir(), 'parley-move-'));
const database = `parley_bench_move_${process.pid}`;
const settings = { ...loadSettings({ DATA_DIR: join(folder, 'data') }), DATABASE_URL: undefined };

const rows = [
  `INSERT INTO tenants (id, "updatedAt", name) VALUES ('tenant_1', now(), 'T')`,
  `INSERT INTO organizations (id, "updatedAt", "tenantId", name) VALUES ('org_1', now(), 'tenant_1', 'O')`,
  `INSERT INTO users (id, "updatedAt", "tenantId", email, name) VALUES ('user_1', now(), 'tenant_1', 'a@example.com', 'A')`,
  `INSERT INTO chats (id, "updatedAt", "orgId", "userId", name) SELECT 'chat_' || n, now(), 'org_1', 'user_1', 'Chat ' || n FROM generate_series(1, ${chats}) n`,
  `INSERT INTO messages (id, "updatedAt", "chatId", ordinal, role, content, "runId")
   SELECT 'msg_' || n, now(), 'chat_' || (n / 50 + 1), n % 50, CASE n % 2 WHEN 0 THEN 'user' ELSE 'assistant' END,
     repeat('How long does the warranty on part ' || n || ' last?' || chr(10), 1 + n % 12), 'run_' || (n / 2) FROM generate_series(0, ${messages - 1}) n`,
  `INSERT INTO runs (id, "updatedAt", "orgId", "userId", "keyId", "chatId", "modelId", status, request, "inputTokens", "outputTokens", cost)
   SELECT 'run_' || n, now(), 'org_1', 'user_1', 'key_1', 'chat_' || (n / 25 + 1), 'openai/test', 'completed', '{"b": 1,  "a": [1.0]}', n % 900, n % 400, n * 0.000001
   FROM generate_series(0, ${messages / 2 - 1}) n`,
  `INSERT INTO run_event_batches ("runId", "firstSequence", "lastSequence", events)
   SELECT 'run_' || n, 0, 20, json_build_array(json_build_object('type', 'message.delta', 'text', repeat('word ' || n, 40))) FROM generate_series(0, ${messages / 2 - 1}) n`,
  `INSERT INTO usage_entries (id, "orgId", "userId", purpose, "modelId", "inputTokens", "outputTokens")
   SELECT 'usage_' || n, 'org_1', 'user_1', 'CHAT', 'openai/test', n % 900, n % 400 FROM generate_series(0, ${messages / 2 - 1}) n`,
];

const admin = new Client({ connectionString: server });
await admin.connect();
try {
  await fill();
  await admin.query(`CREATE DATABASE ${database}`);
  const to = new URL(server);
  to.pathname = `/${database}`;
  const begunMs = performance.now();
  let stage = '';
  let stageMs = begunMs;
  const stages: { readonly stage: string; readonly seconds: number }[] = [];
  const next = (name: string) => {
    if (name === stage) return;
    const now = performance.now();
    if (stage !== '') stages.push({ stage, seconds: Math.round((now - stageMs) / 100) / 10 });
    [stage, stageMs] = [name, now];
  };
  const report = await move({
    settings,
    to: to.href,
    blobs: `file://${join(folder, 'moved')}`,
    prepareJobs: prepareJobTables,
    onProgress: (line) =>
      next(/^(\w+ (?:public\.(?:messages|runs|run_event_batches|usage_entries)|files)|\w+)/.exec(line)?.[1] ?? line),
  });
  next('');
  console.table(sums(stages));
  const seconds = (performance.now() - begunMs) / 1_000;
  const moved = report.tables.reduce((sum, table) => sum + table.rows, 0);
  console.log(
    `${moved} rows and ${report.files?.files} files in ${seconds.toFixed(1)} s: ${Math.round(moved / seconds)} rows a second, compared`,
  );
} finally {
  await admin.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  await admin.end();
  rmSync(folder, { recursive: true, force: true });
}

/** The stages of the same name together: small tables come between others. */
function sums(stages: readonly { readonly stage: string; readonly seconds: number }[]): Record<string, { seconds: number }> {
  const all: Record<string, { seconds: number }> = {};
  for (const { stage, seconds } of stages) all[stage] = { seconds: Math.round(10 * ((all[stage]?.seconds ?? 0) + seconds)) / 10 };
  return all;
}

async function fill(): Promise<void> {
  const embedded = await startEmbedded(settings.DATA_DIR, settings, (error) => {
    throw error;
  });
  const pool = openPool({ ...embedded.connection, max: 1 }, { onLost: () => undefined });
  try {
    await migrate(pool);
    const begunMs = performance.now();
    for (const sql of rows) await pool.query(`SET session_replication_role = replica; ${sql}; RESET session_replication_role`);
    const { rows: sizes } = await pool.query<{ size: string }>(
      'SELECT pg_size_pretty(pg_database_size(current_database())) AS size',
    );
    console.log(`made ${messages} messages in ${((performance.now() - begunMs) / 1_000).toFixed(1)} s: ${sizes[0]?.size}`);
  } finally {
    await pool.end();
    await embedded.close();
  }
  const blobs = createDiskBlobs(join(settings.DATA_DIR, 'blobs'));
  const content = randomBytes(20_000);
  for (let index = 0; index < files; index += 1) await blobs.put(`org_1/files/file_${index}`, content, content.length);
}
