import { setTimeout as wait } from 'node:timers/promises';
import { startClock } from './clock.ts';

/** Each look costs the service a request or two, so they come more slowly the longer it takes. */
const pausesMs = [10, 20, 40, 80] as const;

/**
 * Repeats `check` until it returns without throwing, instead of sleeping for a guessed time.
 *
 * @param timeoutMs  time in which this process could run. Give it only if the test is about this time: the default suits anything that happens
 * eventually. A check that began in time may take longer: the time of the processes that it calls is not counted.
 * @throws what `check` threw when it began after `timeoutMs`, or at once when its `cause` is 'final'.
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 60_000): Promise<T> {
  const clock = startClock();
  try {
    for (let look = 0; ; look += 1) {
      const begunMs = clock.elapsedMs();
      try {
        return await check();
      } catch (error) {
        const isFinal = error instanceof Error && error.cause === 'final';
        if (isFinal || begunMs > timeoutMs) throw error;
        await wait(pausesMs[look] ?? pausesMs[3]);
      }
    }
  } finally {
    clock.stop();
  }
}
