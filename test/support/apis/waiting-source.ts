import { eventOf, type Resolver, streamOf } from './rest-frame.ts';

/** A source that yields one event and then waits until its reader leaves. */
export function oneThenWait(onGone: () => void): Resolver {
  return (_args, { signal }) =>
    streamOf(async function* () {
      yield [eventOf(0)];
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          onGone();
          resolve();
        });
      });
    });
}
