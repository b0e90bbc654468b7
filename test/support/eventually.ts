import { setTimeout as wait } from 'node:timers/promises';
import { startClock } from './clock.ts';

const pauseMs = 20;

/**
 * Asks again until `check` returns without throwing, instead of sleeping for a guessed time.
 *
 * @param timeoutMs  in which this process could run. Give it only where it is what the test shows: the default is for what comes at some time.
 *   A check that began in time may take longer: it asks processes whose own time is not counted.
 * @throws what `check` threw when it began after `timeoutMs`, or at once when its `cause` is 'final'.
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 60_000): Promise<T> {
  const clock = startClock();
  try {
    for (;;) {
      const begunMs = clock.elapsedMs();
      try {
        return await check();
      } catch (error) {
        const isFinal = error instanceof Error && error.cause === 'final';
        if (isFinal || begunMs > timeoutMs) throw error;
        await wait(pauseMs);
      }
    }
  } finally {
    clock.stop();
  }
}
