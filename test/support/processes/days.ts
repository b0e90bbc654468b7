import { setTimeout as wait } from 'node:timers/promises';

const hourMs = 3_600_000;
/** Longer than a test of days takes. */
const restMs = 20_000;

/**
 * For tests of what counts by day: waits out the last seconds of an hour, so that no day of a time zone with whole hours ends while the test goes on. At
 * other times it returns at once.
 */
export async function keepWithinDay(): Promise<void> {
  const leftMs = hourMs - (Date.now() % hourMs);
  if (leftMs < restMs) await wait(leftMs);
}
