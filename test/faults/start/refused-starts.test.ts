import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { loadSettings } from '../../../src/settings.ts';
import { StartRefusal } from '../../../src/storage/ground/opening/start-refusal.ts';
import { openStorage, type Storage } from '../../../src/storage/storage.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { copyOf, type Place, testServerUrl } from '../../support/storage/databases.ts';

type Env = Readonly<Record<string, string>>;
const [oldKey, newKey] = ['the old master key of this test', 'the new master key of this test'];
const onlyOld = { PARLEY_MASTER_KEY: oldKey };
const onlyNew = { PARLEY_MASTER_KEY: newKey };

describe('a start that would lose something is refused', () => {
  let place: Place;
  let folder: string;
  beforeEach(async () => {
    place = await copyOf(inject('template'));
    folder = place.env.DATA_DIR ?? '';
  });
  afterEach(() => place.remove());

  /** Opens all stores as a start does, and closes them. */
  async function opened<T>(env: Env, work: (storage: Storage) => Promise<T>): Promise<T> {
    const onError = (error: Error) => {
      throw error;
    };
    const storage = await openStorage(loadSettings({ ...place.env, ...env }), { onError });
    try {
      return await work(storage);
    } finally {
      await storage.close();
    }
  }
  const seal = (env: Env) =>
    opened(env, async ({ db, vault }) => {
      await db.pool.query(`INSERT INTO tenants (id, name, "updatedAt") VALUES ('ten_1', 'x', now())`);
      await db.pool.query(`INSERT INTO organizations (id, "tenantId", name, "updatedAt") VALUES ('org_1', 'ten_1', 'x', now())`);
      return vault.seal({ orgId: 'org_1', table: 'tools', rowId: 'one' }, 'kept');
    });
  const refused = async (env: Env, words: RegExp | string) => {
    const start = opened(env, async () => undefined);
    await expect(start).rejects.toThrow(words);
    await expect(start).rejects.toBeInstanceOf(StartRefusal);
  };

  it('with a wrong master key, and accepted with the right one', async () => {
    await seal(onlyOld);
    await refused(onlyNew, /PARLEY_MASTER_KEY is not the key that opens them\. Nothing was changed\./);
    await opened(onlyOld, async () => undefined);
  });

  it('with an empty database beside files of organizations', async () => {
    mkdirSync(join(folder, 'blobs', 'org_somebody'), { recursive: true });
    await refused({}, /holds files of organizations, and the database is empty\. Nothing was changed\./);
  });

  if (testServerUrl !== undefined) return;

  it('without the generated master key, and makes no other one', async () => {
    await seal({});
    const [path, aside] = [join(folder, 'master.key'), join(folder, 'master.key.aside')];
    renameSync(path, aside);
    await refused({}, /master key that opens them is missing: there is no .*master\.key/);
    expect(existsSync(path)).toBe(false);
    renameSync(aside, path);
    await refused(onlyNew, `The key in ${path} opens them`);
    await opened({ PARLEY_MASTER_KEY: `${newKey},${readFileSync(path, 'utf8').trim()}` }, ({ vault }) => vault.rotate());
    await opened(onlyNew, async () => undefined);
  });

  it('with a database that lost one of its central files, and opens once that is back', async () => {
    await seal({});
    for (const part of ['PG_VERSION', 'base', 'global/pg_control', 'pg_wal', 'pg_xact']) {
      const [path, aside] = [join(folder, 'database', part), join(folder, 'aside')];
      renameSync(path, aside);
      await refused({}, `lacks ${part}, so it cannot be opened. Nothing was changed.`);
      expect(existsSync(path)).toBe(false);
      renameSync(aside, path);
    }
    await opened({}, async () => undefined);
  });

  it('with a folder whose database is gone, is empty, or is another one', async () => {
    await seal({});
    const [path, aside, note] = [join(folder, 'database'), join(folder, 'aside'), join(folder, 'parley.json')];
    renameSync(path, aside);
    await refused({}, 'was in use before, but its database');
    mkdirSync(path);
    await refused({}, 'was in use before, but its database');
    rmSync(path, { recursive: true });
    renameSync(aside, path);
    const noted = readFileSync(note, 'utf8');
    writeFileSync(note, JSON.stringify({ format: 1, databaseId: 'another' }));
    await refused({}, 'belongs to the database another');
    writeFileSync(note, JSON.stringify({ format: 2 }));
    await refused({}, 'cannot be read by this version');
    writeFileSync(note, noted);
    await opened({}, async () => undefined);
  });

  it('unless it is of an earlier version, which notes nothing of its database', async () => {
    await seal({});
    rmSync(join(folder, 'parley.json'));
    await opened({}, async () => undefined);
    expect(existsSync(join(folder, 'parley.json'))).toBe(true);
    rmSync(join(folder, 'parley.json'));
    rmSync(join(folder, 'database'), { recursive: true });
    await refused({}, 'was in use before');
  });

  it('by a process that prints the reason without a stack, and ends', async () => {
    await seal({});
    rmSync(join(folder, 'database', 'PG_VERSION'));
    const parley = startProcess({ ...place.env, LOG_LEVEL: 'error' });
    expect(await parley.ended()).toBe(1);
    expect(parley.output()).toMatch(/^Parley cannot start: The database in .* lacks PG_VERSION/);
    expect(parley.output()).not.toContain('    at ');
    await killProcesses();
  });
});
