import type { Caller } from '../../entities/accounts/caller.ts';
import type { Run } from '../../entities/runs/run.ts';
import { isAdministrator } from '../access/access.ts';
import type { Deps } from '../deps.ts';
import { readRuns } from './runs.ts';

const runsMax = 500;
/** The least time between two updates. */
const quietMs = 200;
/** Looks again after this time, because signals may be lost. */
const lookAgainMs = 5_000;

/** The organization's active runs, newest first. Administrators see all, others their own. Cost: one statement. */
export async function listActiveRuns(deps: Deps, caller: Caller): Promise<readonly Run[]> {
  const userId = isAdministrator(caller, caller.orgId) ? undefined : caller.userId;
  const runs = await deps.storage.runs.listActive(caller.orgId, userId, runsMax);
  readRuns(deps, caller, runs);
  return runs;
}

/** The active runs at once and after each change, until the signal fires. */
export async function* watchActiveRuns(deps: Deps, caller: Caller, signal: AbortSignal): AsyncGenerator<readonly Run[]> {
  const { signals } = deps.storage;
  let wake: (() => void) | undefined;
  const changed = () => wake?.();
  const stops = [signals.subscribe('chat-changed', changed), signals.subscribe('run-changed', changed), signals.onGap(changed)];
  signal.addEventListener('abort', changed, { once: true });
  let last = '';
  try {
    while (!signal.aborted) {
      const change = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const runs = await listActiveRuns(deps, caller);
      const shown = JSON.stringify(runs.map(({ id, status, startedAt, isWaiting }) => [id, status, startedAt, isWaiting]));
      if (shown !== last) yield runs;
      last = shown;
      await Promise.race([change, pause(lookAgainMs)]);
      if (!signal.aborted) await pause(quietMs);
    }
  } finally {
    signal.removeEventListener('abort', changed);
    for (const stop of stops) stop();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
