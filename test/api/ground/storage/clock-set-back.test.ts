import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { Jobs } from '../../../../src/engine/jobs/jobs.ts';
import { loadSettings } from '../../../../src/settings.ts';
import type { Database } from '../../../../src/storage/ground/database.ts';
import { openDatabase } from '../../../../src/storage/ground/opening/open.ts';
import { TaskStore } from '../../../../src/storage/ground/tasks.ts';
import { AuditSinkStore } from '../../../../src/storage/operations/audit/sink.ts';
import { createRateBucketStore } from '../../../../src/storage/operations/usage/rate-buckets.ts';
import { AttemptStore } from '../../../../src/storage/people/sign-in/passwords.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { someOwner } from '../../../support/sharing/pools.ts';
import { copyOf, type Place } from '../../../support/storage/databases.ts';

/** All times in the tables become later by two hours, as if they had been written before the clock was set back by so much. */
describe('after the clock of the database was set back', () => {
  let place: Place;
  let db: Database;
  beforeEach(async () => {
    place = await copyOf(inject('template'));
    db = await openDatabase(loadSettings(place.env), { onError: () => {} });
  });
  afterEach(async () => {
    await db.close();
    await place.remove();
  });

  async function setClockBack(table: string): Promise<void> {
    const { rows } = await db.pool.query<{ name: string }>(
      `select quote_ident(attname) as name from pg_attribute where attrelid = $1::regclass and atttypid = 'timestamptz'::regtype and not attisdropped`,
      [table],
    );
    expect(rows).not.toEqual([]);
    await db.pool.query(`update ${table} set ${rows.map(({ name }) => `${name} = ${name} + interval '2 hours'`).join(', ')}`);
  }

  it('a limit of requests that instances share refills again', async () => {
    const buckets = createRateBucketStore(db);
    const report = async (used: number) => (await buckets.report([{ id: 'key a', perMinute: 60_000, used }])).get('key a') ?? 0;
    expect(await report(60_000)).toBe(0);
    await setClockBack('rate_buckets');
    const left = await report(0);
    await db.pool.query('select pg_sleep(0.05)');
    expect(await report(0)).toBeGreaterThanOrEqual(left + 50);
  });

  it('a task is due that ended before', async () => {
    const tasks = new TaskStore(db);
    await tasks.prepare(['count']);
    const take = () => tasks.takeDue(['count'], 'one', 30_000);
    const [lease] = await take();
    expect(lease?.id).toBe('count');
    if (lease !== undefined) await tasks.end(lease, 60_000);
    expect(await take()).toEqual([]);
    await setClockBack('repeated_tasks');
    expect(await take()).toHaveLength(1);
  });

  it('a window of attempts to sign in is over that began before', async () => {
    const attempts = new AttemptStore(db);
    const count = async () => (await attempts.count('ann', 900_000)).count;
    expect([await count(), await count()]).toEqual([1, 2]);
    await setClockBack('sign_in_attempts');
    expect([await count(), await count()]).toEqual([1, 2]);
  });

  it('entries of the audit log are sent whose receiver failed before', async () => {
    const sink = new AuditSinkStore(db);
    const take = () => sink.take('one', 15_000);
    const lease = await take();
    if (lease !== undefined) await sink.markFailed(lease, 'refused', 60_000);
    expect(await take()).toBe(undefined);
    await setClockBack('audit_sinks');
    expect(await take()).toMatchObject({ owner: 'one' });
  });

  it.each(['created', 'retry'])('a job runs that was %s before, and a later one still waits', async (state) => {
    const worker = { concurrency: 1, retriesMax: 2, timeoutMs: 10_000 };
    const seen: string[] = [];
    const start = async (isWorker: boolean) => {
      const jobs = new Jobs({ db, isWorker, firstAfterMs: 250, logger: pino({ level: 'silent' }) });
      jobs.work('knowledge.index-item', worker, async ({ itemId }) => void seen.push(itemId));
      await jobs.start();
      return jobs;
    };
    const queueing = await start(false);
    await queueing.enqueue('knowledge.index-item', { itemId: 'now' }, { owner: someOwner });
    await db.pool.query('update pgboss.job set state = $1::pgboss.job_state', [state]);
    await queueing.enqueue('knowledge.index-item', { itemId: 'later' }, { owner: someOwner, startAfterMs: 3_600_000 });
    await queueing.stop(0);
    await setClockBack('pgboss.job');
    const working = await start(true);
    await eventually(() => expect(seen).toEqual(['now']));
    const { rows } = await db.pool.query(
      `select data ->> 'itemId' as id, start_after between now() + interval '50 minutes' and now() + interval '1 hour' as "isLater"
         from pgboss.job where state = 'created'`,
    );
    expect(rows).toEqual([{ id: 'later', isLater: true }]);
    await working.stop(1_000);
  });
});
