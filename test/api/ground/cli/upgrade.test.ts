import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { productVersion } from '../../../../src/lib/product.ts';
import { loadSettings } from '../../../../src/settings.ts';
import type { Database } from '../../../../src/storage/ground/database.ts';
import { copyBeforeUpgrade, type UpgradeCopy } from '../../../../src/storage/ground/embedded/upgrade-copy.ts';
import { newestMigration } from '../../../../src/storage/ground/migrations/migrations-folder.ts';
import { listRemovals } from '../../../../src/storage/ground/migrations/upgrade-plan.ts';
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
    expect(current.out).toContain(`has the schema of version ${productVersion}`);
    await onDatabase(async ({ pool }) => {
      await noteEarlierMigrations(pool);
      await pool.query(`DROP INDEX runs_unanswered_of_organization; DELETE FROM parley_migrations WHERE name = '${migration}'`);
    });
    const { code, out } = await parley('upgrade --check', place.env);
    expect([code, out]).toEqual([3, expect.stringContaining('The next start applies 1 migration(s):')]);
    expect(out).toMatch(
      new RegExp(`  ${migration}  \\(who writes to its tables waits until it is done\\)\n    runs: about \\d+ rows, \\d`),
    );
    const { code: codeOfJson, out: json } = await parley('upgrade --check --json', { ...place.env, FILES_MAX: '7' });
    expect([codeOfJson, JSON.parse(json)]).toMatchObject([
      3,
      {
        ...{ version: productVersion, obstacles: [], settings: [expect.stringMatching(/^FILES_MAX is no setting any more/)] },
        ...{ database: { isInUse: false }, migrations: [{ name: migration, stopsWriters: true, removes: [] }] },
      },
    ]);
    const applied = await onDatabase(async ({ pool }) =>
      pool.query("SELECT to_regclass('runs_unanswered_of_organization') AS there"),
    );
    expect(applied.rows).toEqual([{ there: 'runs_unanswered_of_organization' }]);
  });

  it('ends with 1 where a setting refuses the start, and names it', async () => {
    const { code, out } = await parley('upgrade --check', { ...place.env, PORT: 'many' });
    expect([code, out]).toEqual([1, expect.stringMatching(/In the way: PORT /)]);
  });

  it('refuses what it does not know', async () => {
    expect(await parley('upgrade', place.env)).toMatchObject({ code: 2, err: expect.stringContaining('parley upgrade --check') });
    expect(await parley('upgrade --check --undo', place.env)).toMatchObject({ code: 2 });
    expect(await parley('upgrade --check --fast 1', place.env)).toMatchObject({ code: 2 });
  });
});

describe('what a migration removes', () => {
  it.each([
    ['a column', 'ALTER TABLE "runs" ADD COLUMN "a" int, DROP COLUMN "usage";', ['column runs.usage']],
    ['a table', 'DROP TABLE IF EXISTS "old_things";', ['table old_things']],
    ['rows', 'DELETE FROM "people" later USING "people" first WHERE true;', ['rows of people']],
    ['nothing, in the body of a function', 'CREATE FUNCTION f() RETURNS void AS $$ DELETE FROM "a"; $$ LANGUAGE sql;', []],
    ['nothing, in a comment', '-- DROP TABLE "a";\nDROP INDEX "a_idx";', []],
  ])('%s', (_case, sql, removed) => expect(listRemovals(sql)).toEqual(removed));
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
      const { migration: _newest, upgradingTo: _begun, ...note } = JSON.parse(readFileSync(path(), 'utf8'));
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

    it('stays the one from before when the upgrade is killed among its migrations and goes on', async () => {
      beOlder();
      const made = await copyBeforeUpgrade(folder, 0);
      expect(made).toMatchObject({ kind: 'kept' });
      // As the killed start left it: some of its work is in the database, and the folder does not have its note.
      writeFileSync(join(folder, 'database', 'begun'), 'x');
      expect(await copyBeforeUpgrade(folder, 0)).toBeUndefined();
      expect((await start(ids)).made).toBeUndefined();
      expect([existsSync(join(copy, 'begun')), JSON.parse(readFileSync(path(), 'utf8')).upgradingTo]).toEqual([false, undefined]);
      rmSync(join(folder, 'database', 'begun'));
    });

    it('is put back by --undo, while no service runs, and the next upgrade makes one again', async () => {
      const aside = join(folder, 'database.after-upgrade');
      rmSync(copy, { recursive: true, force: true });
      expect(await parley('upgrade --undo', place.env)).toMatchObject({
        code: 1,
        err: expect.stringContaining('There is no copy'),
      });
      beOlder();
      await start(insert('written-after'));
      const db = await openDatabase(loadSettings(place.env), { onError: () => {} });
      try {
        expect(await parley('upgrade --undo', place.env)).toMatchObject({ code: 1, err: expect.stringContaining('is running') });
        beOlder();
        const { code, out } = await parley('upgrade --check --json', place.env);
        expect([code, JSON.parse(out)]).toMatchObject([3, { database: { isInUse: true }, copy: { hasRoom: true } }]);
      } finally {
        await db.close();
      }
      expect(await parley('upgrade --undo', place.env)).toMatchObject({ code: 0, out: expect.stringContaining(aside) });
      expect([existsSync(copy), existsSync(aside)]).toEqual([false, true]);
      expect((await start(ids)).made).toMatchObject({ kind: 'kept' });
      expect((await start(ids)).rows).not.toContainEqual({ id: 'written-after' });
      expect(await parley('upgrade --undo', place.env)).toMatchObject({
        code: 1,
        err: expect.stringContaining('is there already'),
      });
    });

    it('is left out where the disk has no room, and the former one makes room', async () => {
      beOlder();
      expect(await copyBeforeUpgrade(folder, 0)).toMatchObject({ kind: 'kept' });
      beOlder();
      expect(await copyBeforeUpgrade(folder, Number.MAX_SAFE_INTEGER)).toMatchObject({ kind: 'no room' });
      expect([existsSync(copy), existsSync(`${copy}.unfinished`)]).toEqual([false, false]);
    });
  });
