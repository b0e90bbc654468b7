import { setTimeout as wait } from 'node:timers/promises';

const pauseMs = 20;

/**
 * Asks again until `check` returns without throwing, instead of sleeping for a guessed time.
 *
 * @throws what `check` threw last, after `timeoutMs`, or at once when its `cause` is 'final'.
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 10_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const isFinal = error instanceof Error && error.cause === 'final';
      if (isFinal || performance.now() > deadline) throw error;
      await wait(pauseMs);
    }
  }
}
