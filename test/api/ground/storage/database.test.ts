import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadSettings } from '../../../../src/settings.ts';
import type { Database } from '../../../../src/storage/ground/database.ts';
import { openDatabase } from '../../../../src/storage/ground/opening/open.ts';
import { copyOf, type Place, testServerUrl } from '../../../support/storage/databases.ts';

/** Rules for the pool on both databases; the embedded one has a single session for all connections. */
describe(`the database (${testServerUrl === undefined ? 'embedded' : 'server'})`, () => {
  let place: Place;
  let db: Database;
  beforeAll(async () => {
    place = await copyOf(inject('template'));
    db = await openDatabase(loadSettings(place.env), { onError: () => {} });
    await db.pool.query('CREATE TABLE counters (id int PRIMARY KEY, value int NOT NULL)');
  });
  afterAll(async () => {
    await db.close();
    await place.remove();
  });

  it('keeps concurrent statements apart, also those larger than a network read', async () => {
    const large = 'x'.repeat(300_000);
    const asked = Array.from({ length: 300 }, async (_, index) => {
      const text = index % 10 === 0 ? large : 'small';
      const { rows } =
        index % 2 === 0
          ? await db.pool.query('SELECT $1::int AS index, length($2::text) AS length', [index, text])
          : await db.pool.query('SELECT length($1::text) AS length, $2::int AS index', [text, index]);
      return rows[0];
    });
    const expected = asked.map((_, index) => ({ index, length: index % 10 === 0 ? large.length : 5 }));
    expect(await Promise.all(asked)).toEqual(expected);
  });

  it('lets every connection prepare a statement of the same name', async () => {
    const asked = Array.from({ length: 50 }, (_, index) =>
      db.pool.query({ name: 'double', text: 'SELECT $1::int * 2 AS value', values: [index] }),
    );
    expect((await Promise.all(asked)).map(({ rows }) => rows[0].value)).toEqual(asked.map((_, index) => index * 2));
  });

  it('runs concurrent transactions as if one after the other', async () => {
    await db.pool.query('INSERT INTO counters VALUES (1, 0)');
    const added = Array.from({ length: 40 }, (_, index) =>
      db
        .transaction(async (client) => {
          const rows = await client.query<{ value: number }>('SELECT value FROM counters WHERE id = 1 FOR UPDATE');
          await client.execute('UPDATE counters SET value = $1 WHERE id = 1', [(rows[0]?.value ?? 0) + 1]);
          if (index % 4 === 0) throw new Error('rolled back');
        })
        .catch(() => {}),
    );
    await Promise.all(added);
    expect((await db.pool.query('SELECT value FROM counters WHERE id = 1')).rows).toEqual([{ value: 30 }]);
  });

  it('goes on after a statement failed', async () => {
    await expect(db.pool.query('SELECT nothing')).rejects.toThrow('nothing');
    await expect(db.pool.query('SELECT $1::int AS a', ['no number'])).rejects.toThrow('no number');
    expect((await db.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  it('releases the locks of a process that stops in the middle of a transaction', async () => {
    const { rows } = await db.pool.query('SHOW idle_in_transaction_session_timeout');
    // The embedded database needs no such limit: it ends with its only process.
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: testServerUrl === undefined ? '0' : '10s' }]);
  });

  it('rolls back the transaction of a connection that is lost, and serves the others', async () => {
    await db.pool.query('INSERT INTO counters VALUES (2, 0)');
    const client = await db.pool.connect();
    client.on('error', () => {});
    await client.query('BEGIN');
    await client.query('UPDATE counters SET value = 99 WHERE id = 2');
    await client.query('SELECT 1').then(() => client.release(new Error('lost')));
    expect((await db.pool.query('SELECT value FROM counters WHERE id = 2')).rows).toEqual([{ value: 0 }]);
  });
});
