import type { Deps } from '../../deps.ts';

/**
 * Yields what a reader sees of a chat at once and after each change of it.
 *
 * @param read  asks anew whether the reader may see it; undefined ends the stream.
 * @param recheckMs  also asked after so long without a change: rights may end without one.
 */
export async function* followChat<View>(
  { storage: { signals } }: Pick<Deps, 'storage'>,
  chatId: string,
  first: View,
  read: () => Promise<View | undefined>,
  signal: AbortSignal,
  recheckMs?: number,
): AsyncGenerator<View> {
  let isChanged = false;
  let wake: (() => void) | undefined;
  const onChange = () => {
    isChanged = true;
    wake?.();
  };
  const stops = [
    signals.subscribe('chat-changed', (changedId) => {
      if (changedId === chatId) onChange();
    }),
    signals.onGap(onChange),
  ];
  const recheck = recheckMs === undefined ? undefined : setInterval(onChange, recheckMs);
  const onLeave = () => wake?.();
  signal.addEventListener('abort', onLeave, { once: true });
  try {
    yield first;
    while (!signal.aborted) {
      if (!isChanged) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (isChanged || signal.aborted) resolve();
        });
        continue;
      }
      isChanged = false;
      const view = await read();
      if (view === undefined) return;
      yield view;
    }
  } finally {
    clearInterval(recheck);
    signal.removeEventListener('abort', onLeave);
    for (const stop of stops) stop();
  }
}
