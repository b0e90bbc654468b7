import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Pace } from '../../../src/lib/pace.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] }));
afterEach(() => void vi.useRealTimers());

async function tookMs(pace: Pace, ms: number): Promise<void> {
  const done = pace.run(() => new Promise<void>((resolve) => void setTimeout(resolve, ms)));
  expect(pace.isDue()).toBe(false);
  await vi.advanceTimersByTimeAsync(ms);
  await done;
}

it('work is due at once, and again after its time', async () => {
  const pace = new Pace(250);
  expect(pace.isDue()).toBe(true);
  await tookMs(pace, 10);
  vi.advanceTimersByTime(239);
  expect(pace.isDue()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(pace.isDue()).toBe(true);
});

it('work that takes long is due later: it takes a twentieth of the time', async () => {
  const pace = new Pace(250);
  await tookMs(pace, 100);
  vi.advanceTimersByTime(1_899);
  expect(pace.isDue()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(pace.isDue()).toBe(true);
});

it('is due at once after a reset, and in its time after work that failed', async () => {
  const pace = new Pace(50);
  await tookMs(pace, 100);
  pace.reset();
  expect(pace.isDue()).toBe(true);
  await expect(pace.run(() => Promise.reject(new Error('no database')))).rejects.toThrow('no database');
  vi.advanceTimersByTime(50);
  expect(pace.isDue()).toBe(true);
});
