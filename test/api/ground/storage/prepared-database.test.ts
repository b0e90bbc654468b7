import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from '../../../../src/settings.ts';
import { makePreparedDatabase } from '../../../../src/start/prepare-database.ts';
import { startEmbedded } from '../../../../src/storage/ground/embedded/embedded.ts';
import { FolderInUseError } from '../../../../src/storage/ground/embedded/lock.ts';
import { prepareDatabaseFolder } from '../../../../src/storage/ground/embedded/new-database.ts';
import { preparedDatabasePath } from '../../../../src/storage/ground/embedded/prepared-database.ts';
import { migrate, readMigrations } from '../../../../src/storage/ground/migrations/migrate.ts';
import { openPool } from '../../../../src/storage/ground/opening/pool.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { sampled, triesAll } from '../../../support/property/sample.ts';
import { newFolder } from '../../../support/storage/databases.ts';
import { describeSchema } from '../../../support/storage/schema.ts';

describe('the prepared database', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = newFolder();
    path = join(folder, 'prepared', 'some.tar.zst');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is what a new data folder begins with: all migrations are applied, and were applied now', async () => {
    const beganAt = new Date();
    await using database = await openFolder(join(folder, 'data'));
    const { rows } = await database.pool.query<{ name: string; appliedAt: Date }>(
      'SELECT name, applied_at AS "appliedAt" FROM parley_migrations',
    );
    expect(rows.map(({ name }) => name).sort()).toEqual(
      readMigrations()
        .map(({ name }) => name)
        .sort(),
    );
    for (const { appliedAt } of rows) expect(appliedAt.getTime()).toBeGreaterThanOrEqual(beganAt.getTime());
    expect(await migrate(database.pool)).toEqual([]);
  });

  it('has no row but those that migrations and the job queue write for everybody', async () => {
    await using database = await openFolder(join(folder, 'data'));
    const { rows: tables } = await database.pool.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    expect(tables.length).toBeGreaterThan(100);
    const filled: string[] = [];
    for (const { name } of tables)
      if ((await database.pool.query(`SELECT FROM ${name} LIMIT 1`)).rowCount === 1) filled.push(name);
    expect(filled.sort()).toEqual([
      'pgboss.queue',
      'pgboss.version',
      'public.audit_sinks',
      'public.lexeme_numberings',
      'public.parley_migrations',
    ]);
  });

  it('has the schema that migrations give to an empty database', async () => {
    await using prepared = await openFolder(join(folder, 'data'));
    await prepareDatabaseFolder(join(folder, 'other', 'database'), join(folder, 'absent'));
    await using migrated = await openFolder(join(folder, 'other'));
    expect((await migrate(migrated.pool)).length).toBe(readMigrations().length);
    expect(await describeSchema(prepared.pool)).toEqual(await describeSchema(migrated.pool));
  });

  it('is left aside when its file is damaged', async () => {
    const whole = readFileSync(preparedDatabasePath());
    const damaged = Buffer.from(whole);
    damaged.fill(0, whole.length >> 1, (whole.length >> 1) + 64);
    const files = { cut: whole.subarray(0, whole.length >> 1), damaged, empty: Buffer.alloc(0) };
    for (const [name, bytes] of sampled(Object.entries(files))) {
      writeFileSync(join(folder, name), bytes);
      const database = join(folder, `database of ${name}`);
      expect(await prepareDatabaseFolder(database, join(folder, name))).toMatchObject({ isPrepared: false });
      expect(existsSync(join(database, 'PG_VERSION'))).toBe(true);
      expect(existsSync(join(database, 'base', '1'))).toBe(true);
    }
  });

  it('is made by one process at a time, once, and can be used', async () => {
    const makers = await Promise.allSettled([makePreparedDatabase(path), makePreparedDatabase(path)]);
    const reasons = makers.flatMap((maker) => (maker.status === 'rejected' ? [maker.reason] : []));
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toBeInstanceOf(FolderInUseError);
    const bytes = readFileSync(path);
    await makePreparedDatabase(path);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(await prepareDatabaseFolder(join(folder, 'database'), path)).toMatchObject({ isPrepared: true });
  });

  it.runIf(triesAll)(
    'is made by the next process when one is killed meanwhile, and takes the place of those of earlier programs',
    async () => {
      const program = new URL('../../../../src/start/prepare-database.ts', import.meta.url);
      const make = join(folder, 'make.mjs');
      writeFileSync(make, `import { makePreparedDatabase } from '${program}';\nawait makePreparedDatabase('${path}');\n`);
      const child = spawn(process.execPath, [make], { stdio: 'ignore' });
      await eventually(() => expect(existsSync(join(dirname(path), 'unfinished', 'database'))).toBe(true));
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      expect(existsSync(path)).toBe(false);
      writeFileSync(join(dirname(path), 'earlier.tar.zst'), '');
      await makePreparedDatabase(path);
      expect(readdirSync(dirname(path)).sort()).toEqual(['parley.lock', 'parley.pid', 'some.tar.zst']);
    },
  );
});

interface OpenFolder extends AsyncDisposable {
  readonly pool: Pool;
}

async function openFolder(dataDir: string): Promise<OpenFolder> {
  const server = await startEmbedded(dataDir, loadSettings({}), (error) => {
    throw error;
  });
  const pool = openPool({ ...server.connection, max: 2 }, { onLost: () => undefined });
  return {
    pool,
    async [Symbol.asyncDispose]() {
      await pool.end();
      await server.close();
    },
  };
}
