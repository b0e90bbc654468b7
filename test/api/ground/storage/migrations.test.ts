import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { schemaChanges } from '../../../../scripts/support/schema-engine.ts';
import { loadSettings } from '../../../../src/settings.ts';
import type { Database } from '../../../../src/storage/ground/database.ts';
import { migrate, readMigrations } from '../../../../src/storage/ground/migrations/migrate.ts';
import { earlierMigrationsFolder, migrationsFolder } from '../../../../src/storage/ground/migrations/migrations-folder.ts';
import { openDatabase } from '../../../../src/storage/ground/opening/open.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { sampled } from '../../../support/property/sample.ts';
import { emptyPlace, type Place, testServerUrl } from '../../../support/storage/databases.ts';
import { describeSchema, noteEarlierMigrations } from '../../../support/storage/schema.ts';

describe('a database of an earlier version', () => {
  let place: Place;
  let db: Database;
  let schema: readonly string[];
  beforeAll(async () => {
    place = await emptyPlace();
    db = await openDatabase(loadSettings(place.env), { onError: () => {} });
    schema = await describeSchema(db.pool);
  });
  afterAll(async () => {
    await db.close();
    await place.remove();
  });

  const earlier = readMigrations(earlierMigrationsFolder);
  // 19 is the newest migration of version 0.1.0.
  it.each(
    sampled([
      ['those of version 0.1.0', earlier.findIndex(({ name }) => name.startsWith('19_'))],
      ['a part of them', randomInt(earlier.length)],
    ] as const),
  )('that has %s (up to number %i) gets the same schema as a new one', { timeout: 60_000 }, async (_which, newest) => {
    await db.pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const folder = mkdtempSync(join(tmpdir(), 'parley-migrations-'));
    for (const { name } of earlier.slice(0, newest + 1)) symlinkSync(join(earlierMigrationsFolder, name), join(folder, name));
    await migrate(db.pool, folder);
    rmSync(folder, { recursive: true });
    const missing = earlier.slice(newest + 1).map(({ name }) => name);
    expect(await migrate(db.pool)).toEqual([
      ...missing,
      ...readMigrations()
        .slice(1)
        .map(({ name }) => name),
    ]);
    expect(await describeSchema(db.pool)).toEqual(schema);
    expect(await migrate(db.pool)).toEqual([]);
  });
});

describe('migrations', () => {
  let place: Place;
  let db: Database;
  let folder: string;
  beforeAll(async () => {
    place = await emptyPlace();
    db = await openDatabase(loadSettings(place.env), { onError: () => {} });
  });
  afterAll(async () => {
    await db.close();
    await place.remove();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-migrations-'));
    for (const { name, sql } of readMigrations()) addMigration(name, sql);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('make exactly what prisma/schema.prisma says', async () => {
    expect(await schemaChanges(db.pool.options)).toBe('');
  });

  it('have a number each', () => {
    for (const each of [migrationsFolder, earlierMigrationsFolder]) {
      const numbers = readMigrations(each).map(({ name }) => Number.parseInt(name, 10));
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    }
  });

  it('are applied once, also by processes that start together', async () => {
    addMigration('900_together', 'CREATE TABLE together (id int); INSERT INTO together VALUES (1);');
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(db.pool, folder)));
    expect(applied.flat()).toEqual(['900_together']);
    expect((await db.pool.query('SELECT * FROM together')).rows).toEqual([{ id: 1 }]);
    expect(await migrate(db.pool, folder)).toEqual([]);
    await forget('900_together');
  });

  it('leave nothing behind when one fails', async () => {
    addMigration('901_broken', 'CREATE TABLE half (id int); SELECT nothing;');
    await expect(migrate(db.pool, folder)).rejects.toThrow('migration 901_broken failed');
    expect((await db.pool.query("SELECT to_regclass('half') AS half")).rows).toEqual([{ half: null }]);
  });

  describe('outside a transaction', () => {
    const first = '-- Outside a transaction: many rows.\n';
    const build = 'CREATE INDEX CONCURRENTLY IF NOT EXISTS "many_value_idx" ON "many" ("value");\n';
    beforeEach(() => db.pool.query('CREATE TABLE many (id int, value int)'));
    afterEach(async () => {
      await db.pool.query('DROP TABLE many');
      for (const name of ['903_index', '904_drop']) await forget(name);
    });
    const indexes = async () =>
      (
        await db.pool.query<{ name: string; isValid: boolean }>(
          `SELECT c.relname::text AS name, indisvalid AS "isValid" FROM pg_index JOIN pg_class c ON c.oid = indexrelid
           WHERE c.relname LIKE 'many%' ORDER BY 1`,
        )
      ).rows;

    it('build an index, also by processes that start together, and drop it', async () => {
      addMigration('903_index', first + build);
      const applied = await Promise.all(Array.from({ length: 3 }, () => migrate(db.pool, folder)));
      expect(applied.flat()).toEqual(['903_index']);
      expect(await indexes()).toEqual([{ name: 'many_value_idx', isValid: true }]);
      addMigration('904_drop', `${first}DROP INDEX CONCURRENTLY IF EXISTS "many_value_idx";`);
      expect(await migrate(db.pool, folder)).toEqual(['904_drop']);
      expect(await indexes()).toEqual([]);
    });

    it('build the index of every partition, and that of the table of them', async () => {
      await db.pool.query(`DROP TABLE many; CREATE TABLE many (id int, value int) PARTITION BY RANGE (id);
        CREATE TABLE many_low PARTITION OF many FOR VALUES FROM (0) TO (9);
        CREATE TABLE many_rest PARTITION OF many DEFAULT`);
      addMigration('903_index', first + build);
      await migrate(db.pool, folder);
      const found = await indexes();
      expect(found).toHaveLength(3);
      expect(found.filter(({ isValid }) => !isValid)).toEqual([]);
    });

    it('refuse what cannot be repeated', async () => {
      addMigration('903_index', `${first}INSERT INTO many VALUES (1);`);
      await expect(migrate(db.pool, folder)).rejects.toMatchObject({ cause: { message: /cannot repeat: INSERT/ } });
      expect((await db.pool.query('SELECT * FROM many')).rows).toEqual([]);
    });

    if (testServerUrl !== undefined)
      it('build an index anew that a crash left unfinished, while writers go on', async () => {
        await db.pool.query('INSERT INTO many SELECT n, 1 FROM generate_series(1, 2) n');
        // Fails on its second row, as a crash would: the index stays, invalid.
        const unique = 'CREATE UNIQUE INDEX CONCURRENTLY "many_value_idx" ON many (value)';
        await expect(db.pool.query(unique)).rejects.toThrow('could not create unique index');
        expect(await indexes()).toEqual([{ name: 'many_value_idx', isValid: false }]);
        addMigration('903_index', first + build);
        const writer = await db.pool.connect();
        await writer.query('BEGIN; INSERT INTO many VALUES (3, 3)');
        const migrating = migrate(db.pool, folder);
        const waiting = `SELECT 1 FROM pg_stat_activity WHERE query LIKE '% INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'`;
        await eventually(async () => expect((await db.pool.query(waiting)).rowCount).toBe(1));
        await db.pool.query('INSERT INTO many VALUES (4, 4)');
        await writer.query('COMMIT');
        writer.release();
        await migrating;
        expect(await indexes()).toEqual([{ name: 'many_value_idx', isValid: true }]);
      });
  });

  it('refuse to go on when an applied one was edited', async () => {
    addMigration('160_start', '-- something else');
    await expect(migrate(db.pool, folder)).rejects.toThrow('edited: 160_start');
  });

  it('refuse a database of a newer version', async () => {
    addMigration('902_future', 'SELECT 1');
    await migrate(db.pool, folder);
    await expect(migrate(db.pool)).rejects.toThrow('newer Parley: it has 902_future');
    await forget('902_future');
  });

  it('make each chat of an older version one branch, in its order', async () => {
    await noteEarlierMigrations(db.pool);
    await undoBranches();
    // By ordinal, not in the order in which they were written; numbers of hidden messages count too, and some are missing.
    const rows = [
      ['b2', 'one', 2, false],
      ['a0', 'one', 0, false],
      ['c5', 'one', 5, true],
      ['d9', 'one', 9, false],
      ['e0', 'other', 0, false],
      ['f1', 'other', 1, false],
      ['g7', 'single', 7, false],
    ] as const;
    for (const id of ['one', 'other', 'single', 'empty']) {
      await db.pool.query(`INSERT INTO chats (id, "updatedAt", "orgId", "userId") VALUES ($1, now(), 'o', 'u')`, [id]);
    }
    const insert = `INSERT INTO messages (id, "updatedAt", "chatId", ordinal, role, content, "isHidden")
      VALUES ($1, '2020-01-01', $2, $3, 'user', 'Hi', $4)`;
    for (const row of rows) await db.pool.query(insert, [...row]);

    expect(await migrate(db.pool)).toEqual([branches]);

    const found = await db.pool.query(
      'SELECT id, "parentId", "isActive", "updatedAt" < \'2020-01-03\' AS same FROM messages ORDER BY id',
    );
    const message = (id: string, parentId: string | null) => ({ id, parentId, isActive: true, same: true });
    expect(found.rows).toEqual([
      message('a0', null),
      message('b2', 'a0'),
      message('c5', 'b2'),
      message('d9', 'c5'),
      message('e0', null),
      message('f1', 'e0'),
      message('g7', null),
    ]);
  });

  const branches = '44_message_branches';

  /** Makes the tables that the migration changes what they were before it. */
  async function undoBranches(): Promise<void> {
    await db.pool.query(`DROP TABLE message_feedback, chat_reads;
      ALTER TABLE messages DROP COLUMN "isActive", DROP COLUMN "parentId";
      ALTER TABLE chats DROP COLUMN "answeredAt"`);
    await forget(branches);
  }

  function addMigration(name: string, sql: string): void {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, 'migration.sql'), sql);
  }

  async function forget(name: string): Promise<void> {
    await db.pool.query('DELETE FROM parley_migrations WHERE name = $1', [name]);
  }
});
