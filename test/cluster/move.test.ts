import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/settings.ts';
import { createDiskBlobs } from '../../src/storage/blobs/disk.ts';
import { startEmbedded } from '../../src/storage/ground/embedded/embedded.ts';
import { openPool } from '../../src/storage/ground/opening/pool.ts';
import { prepareVectors } from '../../src/storage/ground/vectors/vector-extension.ts';
import { makeWalked, type Walked } from '../contract/authorization/walked-world.ts';
import { World, worldEnv } from '../contract/authorization/world.ts';
import { TestClient } from '../support/client.ts';
import { parley, scriptPath } from '../support/processes/command-line.ts';
import { eventually } from '../support/processes/eventually.ts';
import { killProcesses, startProcess } from '../support/processes/process.ts';
import { scriptedUpstream, startService } from '../support/service.ts';
import { createDatabase, databaseUrl, dropDatabase, newFolder, testServerUrl } from '../support/storage/databases.ts';
import { startStore, type TestStore } from '../support/storage/s3.ts';

if (testServerUrl === undefined) {
  console.info('A move to a server is tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database stays where it is', () => expect(testServerUrl).toBeUndefined());
} else describe('a folder with everything in it, moved to a server and a bucket', movedFolder);

type Rows = ReadonlyMap<string, readonly string[]>;

function movedFolder(): void {
  const folder = newFolder();
  const model = { DEFAULT_MODEL: 'openai/test-model', EGRESS_ALLOW: '127.0.0.1', MODEL_RETRIES_MAX: '0' };
  const name: { database: string } = { database: '' };
  let store: TestStore;
  let walked: Walked;
  let key: string;
  let before: { readonly chat: unknown; readonly rows: Rows; readonly files: readonly string[] };
  /** Settings of commands on the folder. */
  const here = () => ({
    DATA_DIR: folder,
    AWS_ACCESS_KEY_ID: store.env.AWS_ACCESS_KEY_ID ?? '',
    AWS_SECRET_ACCESS_KEY: store.env.AWS_SECRET_ACCESS_KEY ?? '',
  });
  const target = () => databaseUrl(name.database);
  const command = () => `move --to ${target()} --blobs ${store.env.BLOB_URL}`;

  beforeAll(async () => {
    store = await startStore('moved');
    name.database = await createDatabase();
    const upstream = await scriptedUpstream();
    upstream.reset();
    const env = { DATA_DIR: folder, DATABASE_URL: '', ...worldEnv, ...model, OPENAI_BASE_URL: upstream.url, LOG_LEVEL: 'fatal' };
    const service = await startService({ env });
    const world = await World.create(service);
    walked = await makeWalked(world, { service, upstream });
    key = world.owner.key;
    const { pool } = service.deps.storage.db;
    // Values that a careless copy changes: signs of the text format of COPY, the order and the spaces of JSON, numbers beyond doubles.
    const text = 'a\\b\tc\nd\re\\N \\. "ü" 😀 \b\f\v';
    await pool.query('UPDATE messages SET content = $1 WHERE id = (SELECT min(id) FROM messages)', [text]);
    await pool.query(
      `UPDATE runs SET request = '{"b": 1,  "a": [1.0, 1e3], "b2": "\\u00e9"}', cost = 0.000000000001 WHERE id = (SELECT min(id) FROM runs)`,
    );
    await pool.query(`UPDATE organizations SET "apiUsageTokenLimit" = 9007199254740993`);
    await service.deps.jobs.enqueue(
      'schedules.delete-chat',
      { chatId: 'chat_absent' },
      { owner: { tenantId: 't', orgId: 'o' }, startAfterMs: 3_600_000 },
    );
    // Vectors of a passage: the server may have no pgvector.
    await prepareVectors(pool);
    await pool.query(`INSERT INTO embedding_spaces (model, dimensions) VALUES ('m', 3);
      INSERT INTO chunk_embeddings (chunk_id, space, data_source_id, item_id, generation, text_hash, embedding)
        SELECT c.id, s.id, c.data_source_id, c.item_id, c.generation, gen_random_uuid(), '[0.5,0.25,1]' FROM chunks c, embedding_spaces s LIMIT 1;
      INSERT INTO item_embeddings SELECT item_id, space, generation FROM chunk_embeddings`);
    const chat = (await world.owner.get(`/api/v1/chats/${walked.chat}`)).body;
    await service.close();
    before = { chat, rows: await rowsOfFolder(folder), files: await filesOf(folder) };
  }, 300_000);
  afterAll(async () => {
    await killProcesses();
    await store.close();
    await dropDatabase(name.database);
    rmSync(folder, { recursive: true, force: true });
  });

  it('is only looked at with --check', async () => {
    const { code, out } = await parley(`${command()} --check`, here());
    expect([code, out]).toEqual([0, expect.stringMatching(/public\.messages[\s\S]*rows, [\s\S]*The new database can be filled/)]);
    expect(await onTarget(target(), "SELECT to_regclass('parley_migrations')::text AS name")).toEqual([{ name: null }]);
  });

  it('is not moved into a database in use, or without a server', async () => {
    const other = await createDatabase();
    await onTarget(databaseUrl(other), 'CREATE TABLE tenants (id text); INSERT INTO tenants VALUES (1)');
    const used = await parley(`move --to ${databaseUrl(other)}`, here());
    expect([used.code, used.err]).toEqual([1, expect.stringContaining('it is in use: an organization is in it')]);
    await dropDatabase(other);
    const gone = await parley(`move --to ${databaseUrl(other)}`, here());
    expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('that database does not exist')]);
  });

  it('goes on after every kill, and neither side is used meanwhile', { timeout: 600_000 }, async () => {
    const [{ files }] = [before];
    const tables = 'SELECT count(*)::int AS n FROM parley_move_tables';
    const moments: readonly (readonly [string, string])[] = [
      ['no table', "SELECT CASE WHEN to_regclass('parley_move') IS NULL THEN 0 ELSE 1 END AS n"],
      ['some tables', `${tables} HAVING count(*) >= 8`],
      [
        'a table whose rows are on their way',
        "SELECT 1 AS n FROM pg_stat_activity WHERE query LIKE 'COPY%FROM STDIN' AND datname = current_database()",
      ],
      ['half of the tables', `${tables} HAVING count(*) >= 40`],
      ['some files', 'SELECT count(*)::int AS n FROM parley_move_files HAVING count(*) > 0'],
    ];
    for (const [moment, sql] of moments) {
      const running = startMove(command(), here());
      await eventually(async () => {
        if (running.child.exitCode !== null) throw new Error(`ended before: ${moment}\n${running.output()}`, { cause: 'final' });
        const found = await onTarget<{ n: number }>(target(), sql).catch(() => []);
        expect([moment, (found[0]?.n ?? 0) > 0]).toEqual([moment, true]);
      });
      running.child.kill('SIGKILL');
      await once(running.child, 'close');
    }
    const refused = startProcess({ ...here(), PARLEY_ADMIN_KEY: 'k'.repeat(40) });
    expect(await refused.ended()).toBe(1);
    expect(refused.output()).toMatch(/is being moved to .*Repeat the command parley move/);
    const early = startProcess({ ...here(), ...settingsOfTarget() });
    expect(await early.ended()).toBe(1);
    expect(early.output()).toContain('is being filled by parley move, which has not ended');
    const { code, out, err } = await parley(command(), here());
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(new RegExp(`Moved and compared: \\d+ rows in \\d+ tables, ${files.length} files`));
    const vectors = await onTarget(target(), "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'");
    expect([vectors.length, out.includes('The server has no pgvector: vectors were left out')]).toEqual([
      vectors.length,
      vectors.length === 0,
    ]);
    expect(out).toContain(`PARLEY_MASTER_KEY_FILE=${join(folder, 'master.key')}`);
  });

  it('has every row and every file there, as they were, and nothing else', async () => {
    const moved = await rowsOf((sql) => onTarget(target(), sql));
    expect([...moved.keys()]).toEqual([...before.rows.keys()]);
    const hasVectors = (await onTarget(target(), "SELECT 1 WHERE to_regclass('chunk_embeddings') IS NOT NULL")).length > 0;
    // The mark of an item whose vectors are there.
    const rowsBefore = new Map([...before.rows, ...(hasVectors ? [] : [['public.item_embeddings', []] as const])]);
    expect(before.rows.get('public.item_embeddings')).toHaveLength(1);
    for (const [table, rows] of rowsBefore) expect([table, moved.get(table)]).toEqual([table, rows]);
    const indexes = await onTarget(target(), "SELECT 1 FROM pg_indexes WHERE indexname LIKE 'chunk_embeddings_space_%_idx'");
    expect(indexes).toHaveLength(hasVectors ? 1 : 0);
    expect((await store.keys()).map((file) => file.replace(/^moved\//, '')).sort()).toEqual(before.files);
    expect(before.files.length).toBeGreaterThan(0);
    const blank = [...before.rows].filter(([, rows]) => rows.length === 0).map(([table]) => table);
    expect(before.rows.size - blank.length).toBeGreaterThan(50);
  });

  it('is served from there, with its secrets, and new rows get new numbers', { timeout: 300_000 }, async () => {
    const upstream = await scriptedUpstream();
    const parley = startProcess({ ...here(), ...settingsOfTarget(), ...model, OPENAI_BASE_URL: upstream.url, LOG_LEVEL: 'warn' });
    const url = await parley.url();
    const owner = new TestClient(() => url, key);
    expect(withoutLinks((await owner.get(`/api/v1/chats/${walked.chat}`)).body)).toEqual(withoutLinks(before.chat));
    upstream.otherwise(() => ({ text: 'Still here.' }));
    const answer = await owner.post(`/api/v1/chats/${walked.chat}/messages`, { prompt: 'Are you there?' });
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([200, expect.stringContaining('Still here.')]);
    const file = await owner.get(`/api/v1/chats/${walked.chat}/files/${walked.file}/content`);
    expect(file.status).toBe(200);
    const [{ waiting }] = (await onTarget(
      target(),
      "SELECT count(*)::int AS waiting FROM pgboss.job WHERE name = 'schedules.delete-chat' AND state = 'created'",
    )) as [{ waiting: number }];
    expect(waiting).toBe(1);
    await parley.kill('SIGTERM');
  });

  it('is refused where it was, until the move is undone', { timeout: 300_000 }, async () => {
    const refused = startProcess({ ...here(), PARLEY_ADMIN_KEY: 'k'.repeat(40) });
    expect(await refused.ended()).toBe(1);
    expect(refused.output()).toMatch(/was moved to postgres:.*, its files to s3:.*Set DATABASE_URL and BLOB_URL/);
    const doctor = await parley('doctor', { ...here(), PORT: '0' });
    expect([doctor.code, doctor.out]).toEqual([1, expect.stringContaining('was moved to')]);
    const again = await parley(command(), here());
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('was moved to')]);
    expect((await parley('move --undo', here())).out).toContain('can be used again, as it was before the move');
    const { url: OPENAI_BASE_URL } = await scriptedUpstream();
    const old = startProcess({ ...here(), ...model, OPENAI_BASE_URL });
    const url = await old.url();
    const { body } = await new TestClient(() => url, key).get(`/api/v1/chats/${walked.chat}`);
    expect(withoutLinks(body)).toEqual(withoutLinks(before.chat));
    await old.kill('SIGTERM');
  });

  function settingsOfTarget(): Readonly<Record<string, string>> {
    return { DATABASE_URL: target(), BLOB_URL: store.env.BLOB_URL ?? '', PARLEY_MASTER_KEY_FILE: join(folder, 'master.key') };
  }
}

/** Links name the address of the service, and the time at which they end. */
function withoutLinks(body: unknown): string {
  return JSON.stringify(body, undefined, 1).replaceAll(/http:\/\/127\.0\.0\.1:\d+|\?link=[^"]*/g, '');
}

interface RunningMove {
  readonly child: ChildProcess;
  output(): string;
}

function startMove(line: string, env: Readonly<Record<string, string>>): RunningMove {
  const child = spawn(process.execPath, [scriptPath, ...line.split(' ')], { env: { PATH: process.env.PATH ?? '', ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  return { child, output: () => output };
}

async function rowsOfFolder(folder: string): Promise<Rows> {
  const server = await startEmbedded(folder, loadSettings({}), (error) => {
    throw error;
  });
  const pool = openPool({ ...server.connection, max: 1 }, { onLost: () => undefined });
  try {
    return await rowsOf(async (sql) => (await pool.query(sql)).rows);
  } finally {
    await pool.end();
    await server.close();
  }
}

/** Every row of every table as a text, in the order of the texts. */
async function rowsOf(query: (sql: string) => Promise<readonly unknown[]>): Promise<Rows> {
  const tables = (await query(
    `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE relkind IN ('r', 'p') AND NOT relispartition AND nspname IN ('public', 'pgboss') AND relname <> ALL
       ('{cache_invalidations,chunk_embeddings,chunk_sketches,parley_migrations,version,queue_stats,warning,bam}') ORDER BY 1`,
  )) as readonly { name: string }[];
  const all = new Map<string, readonly string[]>();
  for (const { name } of tables) {
    const rows = (await query(`SELECT t::text AS text FROM ${name} t`)) as readonly { text: string }[];
    all.set(name, rows.map(({ text }) => text).sort());
  }
  return all;
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const some of createDiskBlobs(join(folder, 'blobs')).listOlder(new Date(Date.now() + 86_400_000)))
    keys.push(...some);
  return keys.sort();
}

async function onTarget<Row = unknown>(url: string, sql: string): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url, options: '-c timezone=UTC' });
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}
