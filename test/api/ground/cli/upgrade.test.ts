import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadSettings } from '../../../../src/settings.ts';
import type { Database } from '../../../../src/storage/ground/database.ts';
import { copyBeforeUpgrade, type UpgradeCopy } from '../../../../src/storage/ground/embedded/upgrade-copy.ts';
import { newestMigration } from '../../../../src/storage/ground/migrations/migrations-folder.ts';
import { openDatabase } from '../../../../src/storage/ground/opening/open.ts';
import { parley } from '../../../support/processes/command-line.ts';
import { copyOf, type Place, testServerUrl } from '../../../support/storage/databases.ts';
import { noteEarlierMigrations } from '../../../support/storage/schema.ts';

const migration = '61_run_history_indexes';

describe('parley upgrade --check', () => {
  let place: Place;
  beforeAll(async () => {
    place = await copyOf(inject('template'));
  });
  afterAll(() => place.remove());

  const onDatabase = async <T>(work: (db: Database) => Promise<T>): Promise<T> => {
    const db = await openDatabase(loadSettings(place.env), { onError: () => {} });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  };

  it('says that nothing is to be done, then what the next start would do', async () => {
    await onDatabase(async () => undefined);
    const current = await parley('upgrade --check', place.env);
    expect([current.code, current.out]).toEqual([0, expect.stringContaining('the next start changes nothing')]);
    await onDatabase(async ({ pool }) => {
      await noteEarlierMigrations(pool);
      await pool.query(`DROP INDEX runs_unanswered_of_organization; DELETE FROM parley_migrations WHERE name = '${migration}'`);
    });
    const { code, out } = await parley('upgrade --check', place.env);
    expect([code, out]).toEqual([0, expect.stringContaining('The next start applies 1 migration(s):')]);
    expect(out).toMatch(
      new RegExp(`  ${migration}  \\(who writes to its tables waits until it is done\\)\n    runs: about \\d+ rows, \\d`),
    );
    const applied = await onDatabase(async ({ pool }) =>
      pool.query("SELECT to_regclass('runs_unanswered_of_organization') AS there"),
    );
    expect(applied.rows).toEqual([{ there: 'runs_unanswered_of_organization' }]);
  });

  it('refuses what it does not know', async () => {
    expect(await parley('upgrade', place.env)).toMatchObject({ code: 2, err: expect.stringContaining('parley upgrade --check') });
    expect(await parley('upgrade --check --fast 1', place.env)).toMatchObject({ code: 2 });
  });
});

if (testServerUrl === undefined)
  describe('the copy of an embedded database before an upgrade', () => {
    let place: Place;
    let folder: string;
    let copy: string;
    beforeAll(async () => {
      place = await copyOf(inject('template'));
      folder = place.env.DATA_DIR ?? '';
      copy = join(folder, 'database.before-upgrade');
    });
    afterAll(() => place.remove());

    /** Opens the database as a start does. */
    const start = async (sql: string): Promise<{ readonly made: UpgradeCopy | undefined; readonly rows: readonly unknown[] }> => {
      let made: UpgradeCopy | undefined;
      const onUpgradeCopy = (given: UpgradeCopy) => {
        made = given;
      };
      const db = await openDatabase(loadSettings(place.env), { onError: () => {}, onUpgradeCopy });
      try {
        return { made, rows: (await db.pool.query(sql)).rows };
      } finally {
        await db.close();
      }
    };
    const path = () => join(folder, 'parley.json');
    const beOlder = () => {
      const { migration: _newest, ...note } = JSON.parse(readFileSync(path(), 'utf8'));
      writeFileSync(path(), JSON.stringify({ ...note, migration: '60_run_history' }));
    };
    const insert = (id: string) => `INSERT INTO tenants (id, "updatedAt", name) VALUES ('${id}', now(), 'T')`;
    const ids = 'SELECT id FROM tenants ORDER BY id';

    it('is made once for a program with newer migrations, and goes back to what was there', async () => {
      await start(insert('before'));
      rmSync(copy, { recursive: true, force: true });
      expect((await start(ids)).made).toBeUndefined();
      beOlder();
      expect((await start(insert('after'))).made).toMatchObject({ kind: 'kept', path: copy });
      expect(JSON.parse(readFileSync(path(), 'utf8'))).toMatchObject({ migration: newestMigration() });
      const made = statSync(copy).mtimeMs;
      expect((await start(ids)).made).toBeUndefined();
      expect(statSync(copy).mtimeMs).toBe(made);
      renameSync(join(folder, 'database'), join(folder, 'away'));
      renameSync(copy, join(folder, 'database'));
      expect((await start(ids)).rows).toEqual([{ id: 'before' }]);
    });

    it('is left out where the disk has no room, and the former one makes room', async () => {
      beOlder();
      expect(await copyBeforeUpgrade(folder, 0)).toMatchObject({ kind: 'kept' });
      expect(await copyBeforeUpgrade(folder, Number.MAX_SAFE_INTEGER)).toMatchObject({ kind: 'no room' });
      expect([existsSync(copy), existsSync(`${copy}.unfinished`)]).toEqual([false, false]);
    });
  });
