import { setTimeout as pause } from 'node:timers/promises';
import type { Experiment } from '../../../entities/conversations/evaluation/experiment.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { getExperiment } from './experiments.ts';

/** Changes within this time are shown as one. */
const pauseMs = 200;
/** No signal announces the end of a caller's access: it is checked again after this time. */
const recheckMs = 4_000;

/**
 * Follows an experiment: yields it now and after its changes, at most five times a second. Ends when it has ended and its summary is there, when it is
 * deleted, and when the caller may not see it any more.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN, before the first value.
 */
export async function watchExperiment(
  deps: Deps,
  caller: Caller,
  id: string,
  signal: AbortSignal,
): Promise<AsyncGenerator<Experiment, void, void>> {
  return follow(deps, caller, await getExperiment(deps, caller, id), signal);
}

async function* follow(
  deps: Deps,
  caller: Caller,
  first: Experiment,
  signal: AbortSignal,
): AsyncGenerator<Experiment, void, void> {
  const { signals } = deps.storage;
  let wake = () => {};
  let isChanged = true;
  const change = () => {
    isChanged = true;
    wake();
  };
  const stops = [
    signals.subscribe('experiment-changed', (changedId) => {
      if (changedId === first.id) change();
    }),
    signals.onGap(change),
  ];
  const recheck = setInterval(change, recheckMs);
  signal.addEventListener('abort', change);
  try {
    let lastJson = JSON.stringify(first);
    yield first;
    for (let last = first; !isOver(last); ) {
      isChanged = false;
      const experiment = await findAgain(deps, caller, first.id);
      if (experiment === undefined || signal.aborted) return;
      const json = JSON.stringify(experiment);
      if (json !== lastJson) yield experiment;
      [last, lastJson] = [experiment, json];
      if (isOver(last)) return;
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      if (isChanged) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    clearInterval(recheck);
    signal.removeEventListener('abort', change);
    for (const stop of stops) stop();
  }
}

function isOver({ endedAt, summary }: Experiment): boolean {
  return endedAt !== null && summary !== null;
}

async function findAgain(deps: Deps, caller: Caller, id: string): Promise<Experiment | undefined> {
  try {
    return await getExperiment(deps, caller, id);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
