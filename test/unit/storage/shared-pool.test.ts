import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PoolConfig } from 'pg';
import { expect, it } from 'vitest';
import type { ShareOwner } from '../../../src/lib/flow/fair-share.ts';
import { nobody } from '../../../src/lib/flow/fair-share.ts';
import { jobsOwner, SharedPool } from '../../../src/storage/ground/opening/shared-pool.ts';
import { testPools } from '../../support/sharing/pools.ts';

/** A connection whose statements end when the test says so. */
class SlowClient extends EventEmitter {
  connect(callback: () => void): void {
    setImmediate(callback);
  }
  end(callback?: () => void): void {
    callback?.();
  }
}

const max = 4;
const tenant = (name: string, organization = '1'): ShareOwner => ({ tenantId: name, orgId: `${name}-${organization}` });

/** A pool whose connections are released one by one, in the order in which they were taken; `served` names their owners. */
function sharedPool(contendedMax: number, connectionTimeoutMillis = 0) {
  let asking: ShareOwner = nobody;
  const config = { Client: SlowClient, max, connectionTimeoutMillis } as unknown as PoolConfig;
  const pool = new SharedPool(config, {
    places: testPools().queue('statements', max, { contendedMax }),
    ownerOf: () => asking,
  });
  const served: string[] = [];
  const underWay: (() => void)[] = [];
  const ask = (owner: ShareOwner) => {
    asking = owner;
    const asked = pool.connect().then((client) => {
      served.push(owner.orgId === jobsOwner.orgId ? 'jobs' : owner.tenantId === '' ? 'service' : owner.orgId);
      underWay.push(() => client.release());
    });
    asking = nobody;
    return asked;
  };
  const settle = async () => {
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  };
  const endNext = async () => {
    await settle();
    underWay.shift()?.();
    await settle();
  };
  return { ask, served, endNext, settle };
}

it('serves a tenant with one statement after those under way of a tenant with two hundred', async () => {
  const { ask, served, endNext, settle } = sharedPool(1);
  for (let statement = 0; statement < 200; statement += 1) void ask(tenant('noisy'));
  await settle();
  expect(served.length).toBeLessThanOrEqual(max);
  void ask(tenant('quiet'));
  await endNext();
  expect(served).toContain('quiet-1');
});

it('has one statement of a noisy tenant under way while another asks, and takes turns with it', async () => {
  const { ask, served, endNext } = sharedPool(1);
  for (let statement = 0; statement < 200; statement += 1) void ask(tenant('noisy'));
  void ask(tenant('quiet'));
  for (let ended = 0; ended < max + 1; ended += 1) await endNext();
  for (let round = 0; round < 10; round += 1) {
    const before = served.length;
    void ask(tenant('quiet'));
    while (!served.slice(before).includes('quiet-1')) await endNext();
    expect(served.slice(before, served.indexOf('quiet-1', before)).filter((who) => who === 'noisy-1').length).toBeLessThanOrEqual(
      1,
    );
    await endNext();
    await endNext();
  }
  expect(served.filter((who) => who === 'noisy-1').length).toBeGreaterThan(10);
});

it('lets the organizations of one tenant take turns, and the service and its jobs too', async () => {
  const { ask, served, endNext } = sharedPool(1);
  for (let statement = 0; statement < 50; statement += 1) void ask(tenant('a', 'noisy'));
  for (let statement = 0; statement < 50; statement += 1) void ask(tenant('b'));
  for (const owner of [tenant('a', 'quiet'), nobody, jobsOwner]) void ask(owner);
  for (let ended = 0; ended < 12; ended += 1) await endNext();
  expect(served).toEqual(expect.arrayContaining(['a-quiet', 'service', 'jobs']));
});

it('serves one owner after the other at the same speed when it is alone, and goes on after a failed wait', async () => {
  const { ask, served, endNext, settle } = sharedPool(1, 30);
  const asked = Array.from({ length: 8 }, () => ask(tenant('alone')));
  await settle();
  expect(served.length).toBe(max);
  const outcomes = await Promise.allSettled(asked.slice(max));
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ reason: { message: 'timeout exceeded when trying to connect' } });
  void ask(tenant('alone'));
  await endNext();
  expect(served.length).toBe(max + 1);
});
