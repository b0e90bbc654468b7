import { setTimeout as wait } from 'node:timers/promises';
import type { DataSource } from '../../entities/knowledge/data-source.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { visibleDataSources } from '../ground/access/access.ts';
import { findPermissionReadings } from './permissions/report.ts';
import { getDataSource } from './sources.ts';

/** Changes within this time are shown as one. */
const pauseMs = 200;
/** No signal announces the end of a caller's access: it is checked again after this time. */
const recheckMs = 4_000;

/**
 * Follows a source: yields it now and after every change, also of the reading of its permissions, at most five times a second. Ends when the source is deleted or the
 * caller may no longer see it.
 *
 * @throws DomainError NOT_FOUND, before the first value.
 */
export async function watchDataSource(
  deps: Deps,
  caller: Caller,
  id: string,
  signal: AbortSignal,
): Promise<AsyncGenerator<DataSource, void, void>> {
  return follow(deps, caller, await getDataSource(deps, caller, id), signal);
}

async function* follow(
  deps: Deps,
  caller: Caller,
  first: DataSource,
  signal: AbortSignal,
): AsyncGenerator<DataSource, void, void> {
  const {
    signals,
    knowledge: { sources: dataSources },
  } = deps.storage;
  let wake = () => {};
  let isChanged = true;
  const change = () => {
    isChanged = true;
    wake();
  };
  const stops = [
    signals.subscribe('data-source-changed', (changedId) => {
      if (changedId === first.id) change();
    }),
    signals.onGap(change),
  ];
  const recheck = setInterval(() => wake(), recheckMs);
  signal.addEventListener('abort', change);
  try {
    const read = async (source: DataSource) => JSON.stringify([source, await findPermissionReadings(deps, caller, [source])]);
    let lastJson = await read(first);
    yield first;
    while (!signal.aborted) {
      isChanged = false;
      const source = await dataSources.find(first.id, visibleDataSources(caller));
      if (source === undefined) return;
      const currentJson = await read(source);
      if (currentJson !== lastJson) yield source;
      lastJson = currentJson;
      await wait(pauseMs, undefined, { signal }).catch(() => {});
      if (!isChanged && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    clearInterval(recheck);
    signal.removeEventListener('abort', change);
    for (const stop of stops) stop();
  }
}
