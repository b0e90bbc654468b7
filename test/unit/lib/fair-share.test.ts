import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../src/lib/flow/fair-queue.ts';
import { FairShare, nobody, type ShareOwner } from '../../../src/lib/flow/fair-share.ts';

const percents = { tenantPercent: 90, organizationPercent: 90 };
const owner = (tenant: string, organization = '1'): ShareOwner => ({ tenantId: tenant, orgId: `${tenant}-${organization}` });

/** Takes places until this owner gets none. @returns how many. */
function fill(share: FairShare, who: ShareOwner): number {
  let taken = 0;
  for (; share.refusal(who) === undefined; taken += 1) share.take(who);
  return taken;
}

describe('places that are shared', () => {
  it.each([
    [1, 1, 1],
    [2, 1, 1],
    [3, 2, 2],
    [10, 8, 9],
    [100, 80, 90],
    [10_000, 8_090, 9_000],
  ])('of %i one organization alone takes %i, and its tenant %i with more organizations', (max, ofOrganization, ofTenant) => {
    const share = new FairShare({ max, ...percents });
    const first = fill(share, owner('a'));
    for (let index = 2; index < 40; index += 1) fill(share, owner('a', String(index)));
    expect(first).toBeGreaterThanOrEqual(ofOrganization);
    expect(first).toBeLessThan(ofOrganization + max / 100 + 1);
    expect(share.count).toBe(ofTenant);
  });

  it.each([2, 3, 5, 20, 1_000])('of %i a tenant that has none gets its first, however many a greedy one asked for', (max) => {
    const share = new FairShare({ max, ...percents });
    for (let index = 0; index < 50; index += 1) fill(share, owner('greedy', String(index)));
    expect(share.refusal(owner('greedy', 'another'))).toBe('tenant');
    expect(share.refusal(owner('next'))).toBeUndefined();
  });

  it('several greedy tenants hold about equal parts in the end, and leave some', () => {
    const share = new FairShare({ max: 1_000, ...percents });
    const tenants = ['a', 'b', 'c', 'd'].map((name) => owner(name));
    for (const tenant of tenants) fill(share, tenant);
    // A freed place is taken by an owner that may have it.
    for (let round = 0; round < 5_000; round += 1) {
      for (const tenant of tenants) if (share.countOf(tenant) > 250 - (round % 2)) share.give(tenant);
      for (const tenant of tenants) if (share.refusal(tenant) === undefined) share.take(tenant);
    }
    const counts = tenants.map((tenant) => share.countOf(tenant));
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(60);
    expect(share.refusal(owner('next'))).toBeUndefined();
  });

  it('an organization of the same tenant that has none gets a first one besides a greedy one', () => {
    const share = new FairShare({ max: 100, ...percents });
    fill(share, owner('a'));
    expect([share.refusal(owner('a')), share.refusal(owner('a', '2'))]).toEqual(['organization', undefined]);
  });

  it('bounds what a tenant has under way while another takes places too, and lets it go on alone a while later', () => {
    let nowMs = 0;
    const share = new FairShare({ max: 100, ...percents, contendedMax: 2, nowMs: () => nowMs });
    expect(fill(share, owner('a'))).toBeGreaterThan(50);
    for (let place = share.count; place > 2; place -= 1) share.give(owner('a'));
    expect(share.refusal(owner('a'))).toBeUndefined();
    share.take(owner('b'));
    share.give(owner('b'));
    expect(share.refusal(owner('a'))).toBe('tenant');
    share.take(owner('a'));
    expect(share.refusal(owner('b'))).toBeUndefined();
    nowMs = 1_000;
    expect(share.refusal(owner('a'))).toBe('tenant');
    nowMs = 3_000;
    expect(share.refusal(owner('a'))).toBeUndefined();
  });

  it('bounds organizations of one tenant in the same way, and never the service itself', () => {
    const share = new FairShare({ max: 100, tenantPercent: 90, contendedMax: 2, nowMs: () => 0 });
    share.take(owner('a', '2'));
    expect(fill(share, owner('a', '1'))).toBe(2);
    expect(share.refusal(owner('a', '1'))).toBe('organization');
    expect(fill(share, owner('a', '2'))).toBe(1);
    expect(fill(share, owner('b'))).toBe(2);
    expect(fill(share, nobody)).toBeGreaterThan(50);
    expect(share.refusal(owner('c'))).toBeUndefined();
  });

  it('an organization has no more than its own bound, whatever is free', () => {
    const share = new FairShare({ max: 1_000, ...percents, organizationMax: 7 });
    expect([fill(share, owner('a')), share.refusal(owner('a'))]).toEqual([7, 'organization']);
  });

  it('a person has no more than the bound of people, and leaves the rest of the organization to others', () => {
    const share = new FairShare({ max: 1_000, ...percents, organizationMax: 7, personMax: 3 });
    const ann = { ...owner('a'), userId: 'ann' };
    const bob = { ...owner('a'), userId: 'bob' };
    expect([fill(share, ann), share.refusal(ann), share.refusal(bob)]).toEqual([3, 'person', undefined]);
    share.give(ann);
    expect([share.refusal(ann), fill(share, bob), fill(share, ann), fill(share, bob)]).toEqual([undefined, 3, 1, 0]);
  });

  it('places that come back are there again', () => {
    const share = new FairShare({ max: 10, ...percents });
    const taken = fill(share, owner('a'));
    for (let index = 0; index < taken; index += 1) share.give(owner('a'));
    expect([share.count, fill(share, owner('b'))]).toEqual([0, taken]);
  });
});

describe('a queue for places', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const never = new AbortController().signal;

  /** Makes each of them wait; the result grows in the order in which they get a place. */
  function waiting(queue: FairQueue, owners: readonly ShareOwner[]): string[] {
    const entered: string[] = [];
    for (const who of owners) void queue.take(who, never).then(() => entered.push(who.orgId));
    return entered;
  }

  it('alternates between tenants, and within a tenant between organizations', async () => {
    const queue = new FairQueue({ max: 2, tenantPercent: 90 });
    await queue.take(owner('x'), never);
    await queue.take(owner('y'), never);
    const a = [owner('a', '1'), owner('a', '1'), owner('a', '1'), owner('a', '2'), owner('a', '3')];
    const entered = waiting(queue, [...a, owner('b'), owner('b'), owner('c')]);
    queue.give(owner('x'));
    for (let index = 0; index < 8; index += 1) {
      await turn();
      const [last] = entered.slice(-1);
      if (last !== undefined) queue.give({ tenantId: last.split('-')[0] ?? '', orgId: last });
    }
    await turn();
    expect(entered).toEqual(['a-1', 'b-1', 'c-1', 'a-2', 'b-1', 'a-3', 'a-1', 'a-1']);
  });

  it('lets a tenant in at once that has none, past a thousand that wait', async () => {
    const queue = new FairQueue({ max: 3, tenantPercent: 90 });
    const entered = waiting(
      queue,
      Array.from({ length: 1_000 }, (_, index) => owner('greedy', String(index % 3))),
    );
    await turn();
    await queue.take(owner('next'), never);
    expect([entered.length, queue.waitingCount, queue.share.count]).toEqual([2, 998, 3]);
  });

  it('drops owners that stop waiting, and delays nobody', async () => {
    const queue = new FairQueue({ max: 1, tenantPercent: 90 });
    await queue.take(owner('a'), never);
    const leaving = new AbortController();
    const left = queue.take(owner('b'), leaving.signal);
    const entered = waiting(queue, [owner('c')]);
    leaving.abort(new Error('not needed any more'));
    await expect(left).rejects.toThrow('not needed any more');
    await expect(queue.take(owner('b'), leaving.signal)).rejects.toThrow('not needed any more');
    queue.give(owner('a'));
    await turn();
    expect([entered, queue.waitingCount]).toEqual([['c-1'], 0]);
  });
});
