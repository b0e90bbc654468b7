import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadSettings } from '../../../../src/settings.ts';
import type { Database } from '../../../../src/storage/ground/database.ts';
import { openDatabase } from '../../../../src/storage/ground/opening/open.ts';
import { copyOf, type Place } from '../../../support/storage/databases.ts';

describe('a program that runs while a newer one changes a table', () => {
  let place: Place;
  let db: Database;
  beforeAll(async () => {
    place = await copyOf(inject('template'));
    // One connection: what a statement prepares is what the next one meets.
    db = await openDatabase(loadSettings({ ...place.env, DATABASE_POOL_MAX: '1' }), { onError: () => {} });
    await db.pool.query('CREATE TABLE things (id int PRIMARY KEY)');
    await db.pool.query('INSERT INTO things VALUES (1)');
  });
  afterAll(async () => {
    await db.close();
    await place.remove();
  });

  const read = () => db.query('SELECT * FROM things WHERE id = $1', [1]);
  async function preparedCount(): Promise<number> {
    const { rows } = await db.pool.query<{ count: number }>('SELECT count(*)::int AS count FROM pg_prepared_statements');
    return rows[0]?.count ?? 0;
  }

  it('answers by statements that it prepared before, and prepares no more', async () => {
    await read();
    await read();
    expect(await preparedCount()).toBe(1);
    await db.pool.query('ALTER TABLE things ADD COLUMN name text');
    expect(await read()).toEqual([{ id: 1, name: null }]);
    await db.pool.query('ALTER TABLE things ADD COLUMN size int');
    expect(await read()).toEqual([{ id: 1, name: null, size: null }]);
    await db.query('SELECT id FROM things WHERE id = $1', [1]);
    // The pool replaces a connection whose statement failed.
    expect(await preparedCount()).toBe(0);
  });
});
