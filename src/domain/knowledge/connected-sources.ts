import type { AgentView } from '../../entities/agents/agent.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { type ConnectedType, type DataSource, missingSettings } from '../../entities/knowledge/data-source.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { NewConnectedSource } from '../../storage/knowledge/sources/connected-sources.ts';
import { endedApproval } from '../agents/parts/access.ts';
import type { Deps } from '../deps.ts';
import { visibleDataSources } from '../ground/access/access.ts';
import { requireRoom } from './sources.ts';

/**
 * Makes sources of a connected kind, attaches them, and queues their first synchronization. All or none.
 *
 * @returns the new sources, INITIALIZED; their later status is read from the sources.
 * @throws DomainError CONFLICT when the agent has its most sources already; UNSUPPORTED_VALUE naming the settings without which no run could read.
 */
export async function addConnectedSources(
  deps: Deps,
  caller: Caller,
  agent: AgentView,
  type: ConnectedType,
  sources: readonly Pick<NewConnectedSource, 'name' | 'refreshPeriod' | 'data'>[],
): Promise<readonly DataSource[]> {
  const missing = missingSettings(type, deps.settings);
  if (missing.length > 0) {
    const message = `sources of the type ${type} cannot be read here: the operator has to set ${missing.join(' and ')}`;
    throw new DomainError('UNSUPPORTED_VALUE', message, { param: 'type' });
  }
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
  await deps.audit.change(caller, async () => {
    await deps.storage.knowledge.connectedSources.create(agent.id, rows, async (tx) => {
      for (const { id } of rows) {
        await deps.jobs.enqueue('knowledge.sync-source', { dataSourceId: id, trigger: 'ADDED' }, { owner: caller, key: id, tx });
      }
    });
    return rows[0];
  });
  const existingSources = await deps.storage.knowledge.sources.findMany(
    rows.map(({ id }) => id),
    visibleDataSources(caller),
  );
  const byId = new Map(existingSources.map((source) => [source.id, source]));
  const approval = await endedApproval(deps, agent);
  return rows.flatMap(({ id }) => {
    const source = byId.get(id);
    return source === undefined
      ? []
      : [{ ...source, ...approval, errorCode: null, errorMessage: null, failedItem: null, activeRun: null }];
  });
}
