import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { publicError } from '../../../../src/entities/ground/errors.ts';
import type { Database } from '../../../../src/storage/ground/database.ts';
import { openDatabase } from '../../../../src/storage/ground/opening/open.ts';
import { testSettings } from '../../../support/settings.ts';
import { copyOf, type Place, testServerUrl } from '../../../support/storage/databases.ts';

let place: Place;
let db: Database;

beforeAll(async () => {
  place = await copyOf(inject('template'));
  const env = {
    DATABASE_POOL_MAX: '2',
    DATABASE_CHECKOUT_TIMEOUT_MS: '500',
    DATABASE_STATEMENT_TIMEOUT_MS: '300',
    DATABASE_BACKGROUND_TIMEOUT_MS: '30000',
  };
  db = await openDatabase(testSettings({ ...place.env, ...env }), { onError: () => {} });
});
afterAll(async () => {
  await db.close();
  await place.remove();
});

const sleep = (seconds: number) => `SELECT pg_sleep(${seconds})::text`;
const overloaded = { status: 503, code: 'OVERLOADED', detail: { retryAfterSeconds: 1 } };

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it was not ended');
}

if (testServerUrl === undefined) {
  it('the embedded database sets no time, since it could not keep to one', async () => {
    const { rows } = await db.pool.query('SHOW statement_timeout');
    expect(rows).toEqual([{ statement_timeout: '0' }]);
    await expect(db.transaction((client) => client.query(sleep(0.7)))).resolves.toBeDefined();
  });
} else
  describe('a statement on a server', () => {
    it.each([
      ['a single statement', () => db.pool.query(sleep(20))],
      ['a statement of Prisma', () => db.prisma.$queryRawUnsafe(sleep(20))],
      ['a write of Prisma', () => db.prisma.$executeRawUnsafe(sleep(20))],
      ['a statement in a transaction', () => db.transaction((client) => client.query(sleep(20)))],
    ])('is ended after its time, and its caller is told that the service is busy: %s', async (_what, run) => {
      expect(publicError(await failureOf(run()))).toMatchObject(overloaded);
      expect((await db.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    });

    it('has more time in a job', async () => {
      await db.runAs('background', () => db.query(sleep(0.7)));
      await db.runAs('background', () => db.transaction((client) => client.query(sleep(0.7))));
    });

    it('of a job leaves nothing behind for the next on its connection', async () => {
      await db.runAs('background', () => Promise.all([0, 0].map((time) => db.transaction((tx) => tx.query(sleep(time))))));
      const { rows } = await db.pool.query('SHOW statement_timeout');
      expect(rows).toEqual([{ statement_timeout: '300ms' }]);
    });

    it('of a job that is wrong fails as itself, and frees its connection', async () => {
      for (let time = 0; time < 4; time += 1) {
        const failed = db.runAs('background', () => db.transaction((tx) => tx.query('SELECT nothing FROM nowhere')));
        await expect(failed).rejects.toThrow('nowhere');
      }
      expect((await db.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    });

    it('that gets no connection in time is refused with OVERLOADED', async () => {
      const held = [await db.pool.connect(), await db.pool.connect()];
      expect(publicError(await failureOf(db.pool.query('SELECT 1')))).toMatchObject(overloaded);
      expect(publicError(await failureOf(db.transaction((tx) => tx.query('SELECT 1'))))).toMatchObject(overloaded);
      for (const client of held) client.release();
    });
  });
