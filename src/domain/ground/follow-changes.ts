import { setTimeout as wait } from 'node:timers/promises';
import type { Deps } from '../deps.ts';

/** Changes within this time are shown as one. */
const pauseMs = 200;
/** No signal announces the end of a caller's access: it is checked again after this time. */
const recheckMs = 4_000;

export interface Following<T> {
  readonly topic: Parameters<Deps['storage']['signals']['subscribe']>[0];
  /** The payload of its signals. */
  readonly id: string;
  readonly first: T;
  /** Undefined when it is gone, or the caller may not see it any more. */
  readonly read: () => Promise<T | undefined>;
  /** What is compared to see a change. Default: the thing itself. */
  readonly readState?: (thing: T) => unknown;
  /** Whether nothing more changes. */
  readonly isOver?: (thing: T) => boolean;
}

/** Yields a thing now and after its changes, at most five times a second, until it is over, gone or hidden from the caller, or the signal fires. */
export async function* followChanges<T>(deps: Deps, following: Following<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
  const { topic, id, first, read, readState = (thing: T): unknown => thing, isOver = () => false } = following;
  const { signals } = deps.storage;
  let wake = () => {};
  let isChanged = true;
  const change = () => {
    isChanged = true;
    wake();
  };
  const stops = [
    signals.subscribe(topic, (changedId) => {
      if (changedId === id) change();
    }),
    signals.onGap(change),
  ];
  const recheck = setInterval(() => wake(), recheckMs);
  signal.addEventListener('abort', change);
  try {
    let lastJson = JSON.stringify(await readState(first));
    yield first;
    for (let last = first; !isOver(last) && !signal.aborted; ) {
      isChanged = false;
      const thing = await read();
      if (thing === undefined) return;
      const json = JSON.stringify(await readState(thing));
      if (json !== lastJson) yield thing;
      [last, lastJson] = [thing, json];
      if (isOver(last)) return;
      await wait(pauseMs, undefined, { signal }).catch(() => {});
      if (!isChanged && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    clearInterval(recheck);
    signal.removeEventListener('abort', change);
    for (const stop of stops) stop();
  }
}
