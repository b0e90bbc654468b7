import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from '../../../../src/settings.ts';
import { startEmbedded } from '../../../../src/storage/ground/embedded/embedded.ts';
import { lockFolder } from '../../../../src/storage/ground/embedded/lock.ts';
import { prepareDatabaseFolder } from '../../../../src/storage/ground/embedded/new-database.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { newFolder } from '../../../support/storage/databases.ts';

describe('the embedded database', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('starts anew when its first start was interrupted', async () => {
    mkdirSync(`${folder}/database.unfinished`);
    writeFileSync(`${folder}/database.unfinished/PG_VERSION`, 'half');
    const server = await startEmbedded(folder, loadSettings({}), () => {});
    const client = new Client(server.connection);
    await client.connect();
    const { rows } = await client.query('SELECT datname FROM pg_database');
    await client.end();
    await server.close();
    expect(rows).toEqual([{ datname: 'postgres' }]);
    expect(readdirSync(folder)).not.toContain('database.unfinished');
  });

  it('keeps its log small without a checkpoint from outside', async () => {
    const server = await startEmbedded(folder, loadSettings({}), () => {});
    const client = new Client(server.connection);
    await client.connect();
    await client.query('CREATE TABLE filler (text text)');
    // About 40 MB of log each.
    for (let round = 0; round < 7; round += 1) {
      await client.query("INSERT INTO filler SELECT repeat('x', 1900) FROM generate_series(1, 20000)");
    }
    const log = join(folder, 'database', 'pg_wal');
    const logBytes = () => readdirSync(log).reduce((sum, name) => sum + statSync(join(log, name)).size, 0);
    await eventually(() => expect(logBytes()).toBeLessThan(180 * 1024 * 1024));
    await client.end();
    await server.close();
  });

  it('keeps the folder it finds', async () => {
    mkdirSync(`${folder}/database`);
    writeFileSync(`${folder}/database/mine`, '');
    expect(await prepareDatabaseFolder(`${folder}/database`)).toBeUndefined();
    expect(readdirSync(`${folder}/database`)).toEqual(['mine']);
  });

  it('gives its folder to one holder at a time, and to the next one after that', () => {
    const unlock = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow(`${folder} is in use by another Parley process (pid ${process.pid})`);
    unlock();
    lockFolder(folder)();
  });
});
