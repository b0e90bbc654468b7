import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { Jobs } from '../../../../src/engine/jobs/jobs.ts';
import { loadSettings } from '../../../../src/settings.ts';
import type { Database } from '../../../../src/storage/ground/database.ts';
import { openDatabase } from '../../../../src/storage/ground/opening/open.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { someOwner } from '../../../support/sharing/pools.ts';
import { copyOf, type Place } from '../../../support/storage/databases.ts';

describe('jobs', () => {
  let place: Place;
  let db: Database;
  let jobs: Jobs;
  let seen: string[];
  beforeEach(async () => {
    place = await copyOf(inject('template'));
    db = await openDatabase(loadSettings(place.env), { onError: () => {} });
    jobs = newJobs();
    seen = [];
  });
  afterEach(async () => {
    await jobs.stop(1_000);
    await db.close();
    await place.remove();
  });

  it('run once, with their data', async () => {
    jobs.work('knowledge.index-item', worker, async ({ itemId }) => void seen.push(itemId));
    await jobs.start();
    await jobs.enqueue('knowledge.index-item', { itemId: 'a' }, { owner: someOwner });
    await eventually(() => expect(seen).toEqual(['a']));
  });

  it('are looked for in queues only where there are some', async () => {
    const statements: string[] = [];
    const { pool } = db;
    const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
    pool.query = ((...args: unknown[]) => {
      statements.push(String(args[0]));
      return query(...args);
    }) as never;
    const fetchesOf = (name: string) =>
      statements.filter((text) => text.includes('SKIP LOCKED') && text.includes(`'${name}'`)).length;
    jobs.work('knowledge.index-item', worker, async ({ itemId }) => void seen.push(itemId));
    jobs.work('knowledge.delete-item', worker, async () => undefined);
    await jobs.start();
    await jobs.enqueue('knowledge.index-item', { itemId: 'a' }, { owner: someOwner });
    await eventually(() => expect(seen).toEqual(['a']));
    expect(fetchesOf('knowledge.index-item')).toBeGreaterThan(0);
    expect(fetchesOf('knowledge.delete-item')).toBe(0);
  });

  it('come into being with the transaction that queued them, and not with one that failed', async () => {
    jobs.work('knowledge.index-item', worker, async ({ itemId }) => void seen.push(itemId));
    await jobs.start();
    const failed = db.transaction(async (tx) => {
      await jobs.enqueue('knowledge.index-item', { itemId: 'never' }, { owner: someOwner, tx });
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    await db.transaction((tx) => jobs.enqueue('knowledge.index-item', { itemId: 'kept' }, { owner: someOwner, tx }));
    await eventually(() => expect(seen).toEqual(['kept']));
  });

  it('are queued within the first transaction after a start, where nobody works on them', async () => {
    await jobsWithQueue();
    await db.transaction((tx) => jobs.enqueue('knowledge.index-item', { itemId: 'kept' }, { owner: someOwner, tx }));
    await restartWorking();
    await eventually(() => expect(seen).toEqual(['kept']));
  });

  it('wait once for a key', async () => {
    await jobsWithQueue();
    for (const itemId of ['a', 'b', 'c'])
      await jobs.enqueue('knowledge.index-item', { itemId }, { owner: someOwner, key: 'same' });
    await jobs.enqueue('knowledge.index-item', { itemId: 'other' }, { owner: someOwner, key: 'other' });
    await restartWorking();
    await eventually(() => expect([...seen].sort()).toEqual(['a', 'other']));
  });

  it('are tried again after a failure', async () => {
    jobs.work('knowledge.index-item', worker, async ({ itemId }) => {
      seen.push(itemId);
      if (seen.length === 1) throw new Error('the first try fails');
    });
    await jobs.start();
    await jobs.enqueue('knowledge.index-item', { itemId: 'a' }, { owner: someOwner });
    await eventually(() => expect(seen).toEqual(['a', 'a']));
  });

  it('are kept by a process that only queues them, and run by a worker process', async () => {
    await jobsWithQueue();
    await jobs.enqueue('knowledge.index-item', { itemId: 'kept' }, { owner: someOwner });
    await restartWorking();
    await eventually(() => expect(seen).toEqual(['kept']));
  });

  it('repeat a task until the process stops, and never twice at once', async () => {
    let running = 0;
    let most = 0;
    jobs.every('count', 10, async () => {
      running += 1;
      most = Math.max(most, running);
      await db.pool.query('SELECT 1');
      running -= 1;
      seen.push('tick');
    });
    await jobs.start();
    await eventually(() => expect(seen.length).toBeGreaterThan(3));
    await jobs.stop(1_000);
    const { length } = seen;
    await db.pool.query('SELECT pg_sleep(0.1)');
    expect([most, seen.length]).toEqual([1, length]);
  });

  const worker = { concurrency: 1, retriesMax: 2, timeoutMs: 10_000 };

  function newJobs(isWorker = true): Jobs {
    return new Jobs({ db, isWorker, firstAfterMs: 250, logger: pino({ level: 'silent' }) });
  }

  async function jobsWithQueue(): Promise<void> {
    jobs = newJobs(false);
    jobs.work('knowledge.index-item', worker, async () => {});
    await jobs.start();
  }

  async function restartWorking(): Promise<void> {
    await jobs.stop(1_000);
    jobs = newJobs();
    jobs.work('knowledge.index-item', worker, async ({ itemId }) => void seen.push(itemId));
    await jobs.start();
  }
});
