import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { PoolClient, PoolConfig } from 'pg';
import { afterEach, expect, it } from 'vitest';
import { nobody } from '../../../src/lib/flow/fair-share.ts';
import { YieldingPool } from '../../../src/storage/ground/embedded/yielding-pool.ts';
import { jobsOwner } from '../../../src/storage/ground/opening/shared-pool.ts';

/** A connection to nothing. */
class NoClient extends EventEmitter {
  connect(callback: () => void): void {
    setImmediate(callback);
  }
  end(callback?: () => void): void {
    callback?.();
  }
}

let isBackground = false;
const pool = new YieldingPool({ Client: NoClient, max: 5 } as unknown as PoolConfig, {
  places: undefined,
  ownerOf: () => (isBackground ? jobsOwner : nobody),
});
const ofCaller = () => as(false);
const ofJob = () => as(true);
function as(background: boolean): Promise<PoolClient> {
  isBackground = background;
  return pool.connect();
}
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  await wait(60);
  return (await Promise.race([promise.then(() => true), wait(0, false)])) === true;
}

afterEach(() => wait(1_100));

it('lets a job begin at once when nobody else is there, and callers at any time', async () => {
  const job = await ofJob();
  const caller = await ofCaller();
  caller.release();
  job.release();
});

it('lets a job wait for callers, also for those that come while it waits', async () => {
  (await ofJob()).release();
  const first = await ofCaller();
  // It had the database for a while: now callers have it for twice as long.
  const long = ofJob();
  await wait(25);
  first.release();
  const held = await long;
  await wait(200);
  held.release();
  const caller = await ofCaller();
  const waiting = ofJob();
  expect(await isSettled(waiting)).toBe(false);
  const next = await ofCaller();
  caller.release();
  expect(await isSettled(waiting)).toBe(false);
  next.release();
  (await waiting).release();
});

it('lets jobs go on while callers ask all the time', async () => {
  let isOver = false;
  let asked = 0;
  const callers = Promise.all(
    Array.from({ length: 3 }, async () => {
      while (!isOver) {
        const client = await ofCaller();
        await wait(1);
        client.release();
        asked += 1;
      }
    }),
  );
  for (let turn = 0; turn < 5; turn += 1) {
    const before = asked;
    const job = await ofJob();
    await wait(5);
    job.release();
    expect(asked).toBeGreaterThan(before);
  }
  isOver = true;
  await callers;
});

it('knows whether callers are there, and for a second after the last one', async () => {
  const job = await ofJob();
  expect(pool.hasCallers).toBe(false);
  const caller = await ofCaller();
  expect(pool.hasCallers).toBe(true);
  caller.release();
  expect(pool.hasCallers).toBe(true);
  await wait(1_100);
  expect(pool.hasCallers).toBe(false);
  job.release();
});

it('lets jobs wait for each other, and none for one that keeps its connection', async () => {
  const kept = await ofJob();
  const other = await ofJob();
  other.release();
  kept.release();
  await new Promise<void>((resolve, reject) => {
    isBackground = true;
    pool.connect((error, client, release) => {
      release();
      if (error === undefined && client !== undefined) resolve();
      else reject(error);
    });
  });
});
