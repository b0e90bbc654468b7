import type { AgentView } from '../entities/agent.ts';
import type { Caller } from '../entities/caller.ts';
import type { ConnectedType, DataSource } from '../entities/data-source.ts';
import type { NewConnectedSource } from '../storage/connected-sources.ts';
import { visibleDataSources } from './access.ts';
import { requireRoom } from './data-sources.ts';
import type { Deps } from './deps.ts';

/**
 * Writes sources of a connected kind, attaches them, and has their connector begin. All or none.
 *
 * @returns them as they were written: INITIALIZED. What becomes of them is told by the sources themselves, later.
 * @throws DomainError CONFLICT when the agent has as many sources as it may have.
 */
export async function addConnectedSources(
  deps: Deps,
  caller: Caller,
  agent: AgentView,
  type: ConnectedType,
  sources: readonly Pick<NewConnectedSource, 'name' | 'refreshPeriod' | 'data'>[],
): Promise<readonly DataSource[]> {
  await requireRoom(deps, agent.id, sources.length);
  const createdAt = deps.now();
  const rows = sources.map((source) => ({
    ...source,
    name: source.name.trim().slice(0, 200),
    id: deps.newId('dataSource'),
    createdAt,
    orgId: agent.orgId,
    ownerUserId: caller.userId,
    type,
  }));
  await deps.storage.connectedSources.create(agent.id, rows, async (tx) => {
    for (const { id } of rows) {
      await deps.jobs.enqueue('knowledge.sync-source', { dataSourceId: id, isForced: false }, { owner: caller, key: id, tx });
    }
  });
  const found = await deps.storage.dataSources.findMany(
    rows.map(({ id }) => id),
    visibleDataSources(caller),
  );
  const byId = new Map(found.map((source) => [source.id, source]));
  return rows.flatMap(({ id }) => {
    const source = byId.get(id);
    return source === undefined ? [] : [{ ...source, errorCode: null, errorMessage: null }];
  });
}
