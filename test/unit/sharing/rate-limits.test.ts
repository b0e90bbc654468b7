import { pino } from 'pino';
import { expect, it } from 'vitest';
import { RateLimits } from '../../../src/engine/sharing/rate-limits.ts';
import type { RateBucketStore } from '../../../src/storage/operations/usage/rate-buckets.ts';
import { eventually } from '../../support/processes/eventually.ts';

const perMinute = 600;
const subject = { keyId: 'key_1', orgId: 'org_1' };

function limitsWith(report: RateBucketStore['report'], instances: number): RateLimits {
  const store: RateBucketStore = { report, sweep: async () => {} };
  const options = { keyPerMinute: perMinute, organizationPerMinute: 0, store, instances: () => instances };
  return new RateLimits({ ...options, logger: pino({ level: 'silent' }) });
}

/** Takes until a request is refused. @returns the number of allowed ones. */
function exhaust(limits: RateLimits, nowMs: number): number {
  for (let allowed = 0; ; allowed += 1) if (limits.take(subject, nowMs)?.isAllowed !== true) return allowed;
}

it('enforces the share of an instance when the counts cannot be shared, and the whole limit once they can', async () => {
  let isAway = true;
  let reports = 0;
  const limits = limitsWith(async (sent) => {
    reports += 1;
    if (isAway) throw new Error('nothing answers');
    return new Map(sent.map(({ id }) => [id, perMinute]));
  }, 2);
  const startedMs = performance.now();
  const before = exhaust(limits, startedMs);
  await eventually(() => expect(reports).toBe(1));
  const share = before + exhaust(limits, startedMs);
  expect(share).toBe(perMinute / 2);
  // Half of what comes back in a minute, and no more than that.
  expect(exhaust(limits, startedMs + 600_000)).toBe(perMinute / 2);
  isAway = false;
  await eventually(() => expect(reports).toBeGreaterThan(1));
  await eventually(() => expect(limits.rest(subject, startedMs + 600_001).key?.left).toBe(perMinute));
  await limits.stop();
});
