import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';

/** What an organization used, or its limits, changed. */
export interface UsageChange {
  readonly orgId: string;
}

/** The ledger announces every write; a dashboard need not show each one. */
const changeEveryMs = 1_000;

/** Yields at once, and when the use of the caller's organization or its limits changed, at most once a second, until the signal fires. */
export async function watchUsage(
  deps: Deps,
  { orgId }: Caller,
  signal: AbortSignal,
): Promise<AsyncGenerator<UsageChange, void, void>> {
  const { signals } = deps.storage;
  let isChanged = true;
  let wake = () => {};
  const noteChange = () => {
    isChanged = true;
    wake();
  };
  const mine = (changedId: string) => {
    if (changedId === orgId) noteChange();
  };
  const stops = [
    signals.subscribe('usage-changed', mine),
    signals.subscribe('organization-changed', mine),
    signals.onGap(noteChange),
  ];
  const close = () => {
    for (const stop of stops) stop();
    wake();
  };
  signal.addEventListener('abort', close, { once: true });

  async function* changes(): AsyncGenerator<UsageChange, void, void> {
    try {
      while (!signal.aborted) {
        if (!isChanged) {
          await new Promise<void>((resolve) => {
            wake = resolve;
            if (isChanged || signal.aborted) resolve();
          });
          continue;
        }
        isChanged = false;
        yield { orgId };
        await pause(signal);
      }
    } finally {
      signal.removeEventListener('abort', close);
      close();
    }
  }
  return changes();
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, changeEveryMs);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) finish();
  });
}
