import type { DataSource } from '../../entities/knowledge/data-source.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { visibleDataSources } from '../ground/access/access.ts';
import { followChanges } from '../ground/follow-changes.ts';
import { findPermissionReadings } from './permissions/report.ts';
import { getDataSource } from './sources.ts';

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
  const first = await getDataSource(deps, caller, id);
  return followChanges(
    deps,
    {
      ...{ topic: 'data-source-changed', id: first.id, first },
      read: () => deps.storage.knowledge.sources.find(first.id, visibleDataSources(caller)),
      readState: async (source) => [source, await findPermissionReadings(deps, caller, [source])],
    },
    signal,
  );
}
