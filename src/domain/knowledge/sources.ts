import { itemJobs, queuePermissions, sourceJobs } from '../../engine/knowledge/queue.ts';
import type { AgentView } from '../../entities/agents/agent.ts';
import type { EndedApproval } from '../../entities/agents/part.ts';
import { DomainError, outOfRange, tooLong } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import type { Members } from '../../entities/ground/members.ts';
import { emptyPage, type Page, type PageRequest } from '../../entities/ground/page.ts';
import {
  type DataSource,
  type DataSourceType,
  isConnectedType,
  type RefreshPeriod,
} from '../../entities/knowledge/data-source.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Transaction } from '../../storage/ground/database.ts';
import {
  type DataSourceState,
  dataSourceOrders,
  type DataSourceListQuery as StoreQuery,
} from '../../storage/knowledge/sources/places.ts';
import { getAgent } from '../agents/agents.ts';
import { endedApproval } from '../agents/parts/access.ts';
import { changeAgents, type ExpectedDraft } from '../agents/versions/change.ts';
import type { Deps } from '../deps.ts';
import { canEditAgent, canEditDataSource, editableAgents, usableAgents, visibleDataSources } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';
import { readSourcePermissions, type SourcePermissionsInput } from './permissions/source-access.ts';
import { dataAtSite } from './sites.ts';

const searchLengthMax = 200;
const nameLengthMax = 200;
const bulkMax = 1_000;
const attachedAgentsMax = 1_000;
const pageMax = 1_000_000;

/** @throws DomainError NOT_FOUND, also for a source that the caller may not see. Cost: a fixed handful of statements. */
export async function getDataSource(deps: Deps, caller: Caller, id: string): Promise<DataSource> {
  const dataSource = isId('dataSource', id)
    ? await deps.storage.knowledge.sources.find(id, visibleDataSources(caller))
    : undefined;
  if (dataSource === undefined) throw missingSource();
  deps.audit.read(caller, 'dataSource', [dataSource]);
  return dataSource;
}

/** The sources among `ids` that the caller may see, in any order. */
export async function getDataSources(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly DataSource[]> {
  const sources = await deps.storage.knowledge.sources.findMany(ids, visibleDataSources(caller));
  deps.audit.read(caller, 'dataSource', sources);
  return sources;
}

/** The sources of agents that the caller sees, one array for each id, last attached first. Cost: a fixed handful of statements. */
export async function listDataSourcesOfAgents(
  deps: Deps,
  caller: Caller,
  agentIds: readonly string[],
  members?: Members<DataSource>,
): Promise<readonly (readonly DataSource[])[]> {
  const byAgent = await deps.storage.knowledge.sources.ofAgents(agentIds, visibleDataSources(caller), members);
  for (const sources of byAgent.values()) deps.audit.read(caller, 'dataSource', sources);
  return agentIds.map((id) => byAgent.get(id) ?? []);
}

/** A page of the sources of each agent that the caller sees, in the order of the agents, last attached first. Cost: a fixed handful of statements. */
export async function pageDataSourcesOfAgents(
  deps: Deps,
  caller: Caller,
  agentIds: readonly string[],
  page: PageRequest,
  members?: Members<DataSource>,
): Promise<readonly Page<DataSource>[]> {
  const pages = await deps.storage.knowledge.sourceLinks.pagesOfAgents(agentIds, visibleDataSources(caller), page, members);
  for (const { items } of pages.values()) deps.audit.read(caller, 'dataSource', items);
  return agentIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/** The sources of one agent that the caller sees. @throws DomainError NOT_FOUND for an agent that the caller may not see. */
export async function listDataSourcesOfAgent(deps: Deps, caller: Caller, agentId: string): Promise<readonly DataSource[]> {
  const agent = await getAgent(deps, caller, agentId);
  return (await listDataSourcesOfAgents(deps, caller, [agent.id]))[0] ?? [];
}

export interface DataSourceListQuery {
  /** Searched in the name, ignoring case; blank matches all. */
  readonly search?: string | null | undefined;
  readonly type?: DataSourceType | null | undefined;
  readonly state?: DataSourceState | null | undefined;
  /** `+` or `-`, then one of createdAt, lastIndexedAt, usageCount. Default: `-createdAt`. */
  readonly orderBy?: string | null | undefined;
  /** Counted from 1; not together with a cursor. */
  readonly page?: number | null | undefined;
}

/** Reads the order of a list. @throws DomainError INVALID_VALUE naming `orderBy`. */
export function readDataSourceOrder(orderBy: string | null | undefined): Pick<StoreQuery, 'orderBy' | 'isDescending'> {
  // A plus sign that a client did not encode arrives as a space.
  const text = (orderBy ?? '-createdAt').replace(/^ /, '+');
  const member = dataSourceOrders.find((name) => name === text.slice(1));
  if (member === undefined || !/^[+-]/.test(text)) {
    const message = 'orderBy must be + (ascending) or - (descending) and one of createdAt, lastIndexedAt, usageCount';
    throw new DomainError('INVALID_VALUE', message, { param: 'orderBy' });
  }
  return { orderBy: member, isDescending: text.startsWith('-') };
}

/** The shape of cursors of a list in this order. @throws DomainError INVALID_VALUE naming `orderBy`. */
export function orderedPageShape(orderBy: string | null | undefined): readonly ['time' | 'number', 'text'] {
  return [readDataSourceOrder(orderBy).orderBy === 'usageCount' ? 'number' : 'time', 'text'];
}

/**
 * The sources that the caller may see. Cost: a fixed handful of statements, and one more for the total on demand. A page by cursor costs the same
 * at any depth, a page by number more with its depth.
 *
 * @throws DomainError INVALID_VALUE naming the member.
 */
export async function listDataSources(
  deps: Deps,
  caller: Caller,
  query: DataSourceListQuery,
  page: PageRequest,
): Promise<Page<DataSource>> {
  const search = query.search?.trim() ?? '';
  if (search.length > searchLengthMax) {
    throw tooLong('search', searchLengthMax);
  }
  const order = readDataSourceOrder(query.orderBy);
  const storeQuery = {
    search,
    type: query.type ?? undefined,
    state: query.state ?? undefined,
    ...order,
    offset: toOffset(query.page, page),
  };
  const sourcePage = await deps.storage.knowledge.sources.list(visibleDataSources(caller), storeQuery, page);
  deps.audit.read(caller, 'dataSource', sourcePage.items);
  return sourcePage;
}

/** Rows before a page counted from 1; undefined for a list by cursor. @throws DomainError INVALID_VALUE naming `page`. */
export function toOffset(page: number | null | undefined, { limit, after }: PageRequest): number | undefined {
  if (page === undefined || page === null) return undefined;
  if (after !== undefined) {
    throw new DomainError('MUTUALLY_EXCLUSIVE_PARAMETERS', 'page and a cursor cannot be given together', { param: 'page' });
  }
  if (page < 1 || page > pageMax) {
    throw outOfRange('page', 1, pageMax);
  }
  return (page - 1) * limit;
}

/** The agents with these sources that the caller may use, by name, one array for each id. */
export async function listAgentsOfDataSources(
  deps: Deps,
  caller: Caller,
  dataSourceIds: readonly string[],
): Promise<readonly (readonly Pick<AgentView, 'id' | 'name' | 'src'>[])[]> {
  const agents = await deps.storage.knowledge.sources.agentsOf(dataSourceIds, usableAgents(caller));
  deps.audit.read(caller, 'agent', agents);
  const bySource = Map.groupBy(agents, ({ dataSourceId }) => dataSourceId);
  return dataSourceIds.map((id) => bySource.get(id) ?? []);
}

/** A page of the agents with each of these sources that the caller may use, in the order of the sources: their ids, newest first. */
export async function pageAgentsOfDataSources(
  deps: Deps,
  caller: Caller,
  dataSourceIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<{ readonly id: string }>[]> {
  const pages = await deps.storage.knowledge.sourceLinks.agentPagesOf(dataSourceIds, usableAgents(caller), page);
  return dataSourceIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/** Absent members are kept; null restores the default. */
export interface UpdateDataSourceInput extends SourcePermissionsInput {
  /** 1 to 200 characters; null keeps it. */
  readonly name?: string | null | undefined;
  readonly refreshPeriod?: RefreshPeriod | null | undefined;
  readonly cite?: boolean | null | undefined;
  /** Replaces the agents that the source is attached to, among those that the caller may edit. */
  readonly ais?: readonly string[] | null | undefined;
  readonly orgVisible?: boolean | null | undefined;
  /** Of a wiki or tracker source: the site that it reads. */
  readonly cloudId?: string | null | undefined;
}

/**
 * Changes a source.
 *
 * @throws DomainError NOT_FOUND, also for an agent in `ais`; FORBIDDEN for everyone except the source's owner and administrators,
 * and for an agent the caller may not edit; INVALID_VALUE for a `cloudId` that is no site of the account, or of another kind of source.
 */
export async function updateDataSource(
  deps: Deps,
  caller: Caller,
  id: string,
  { name, refreshPeriod, cite, ais, orgVisible, cloudId, ...permissions }: UpdateDataSourceInput,
): Promise<DataSource> {
  const source = await editableSource(deps, caller, id, 'change');
  const faults = new Faults();
  const newName = name?.trim();
  if (newName !== undefined) faults.requireName('name', newName, nameLengthMax);
  const permissionChanges = readSourcePermissions(deps, source.type, permissions, faults, source);
  faults.throwIfAny();
  const agents: AgentLinks = ais === undefined ? {} : await agentChanges(deps, caller, source, ais ?? []);
  const approvedAgents = await approvedAmong(deps, caller, agents);
  const data = cloudId === undefined ? undefined : await dataAtSite(deps, source, cloudId ?? undefined);
  const changes = {
    ...(newName === undefined ? {} : { name: newName }),
    ...(refreshPeriod === undefined ? {} : { refreshPeriod: refreshPeriod ?? 'NEVER' }),
    ...(cite === undefined ? {} : { cite: cite ?? true }),
    ...(orgVisible === undefined ? {} : { orgVisible: orgVisible ?? false }),
    ...permissionChanges,
    ...agents,
    ...(data === undefined ? {} : { data }),
  };
  await changeAgents(deps, caller, [...(agents.attach ?? []), ...(agents.detach ?? [])], async () => {
    await deps.storage.knowledge.sources.update(id, changes);
    // Ids and versions of two sites say nothing of each other: everything is read anew.
    if (data !== undefined) await deps.storage.knowledge.syncing.want(id, true, sourceJobs(deps.jobs, 'REFRESH'));
  });
  // Nobody finds anything of it until its permissions are read: that begins at once.
  if (permissionChanges.access === 'MIRRORED')
    await queuePermissions(deps.jobs, await deps.storage.knowledge.permissionReadings.findWithNewItems(id));
  const approvalEnds = await Promise.all(approvedAgents.map((agent) => endedApproval(deps, agent)));
  return { ...(await getDataSource(deps, caller, id)), ...(approvalEnds.find((one) => one.endedApproval === true) ?? {}) };
}

/** The agents that get a source, and those that lose it. */
interface AgentLinks {
  readonly attach?: readonly string[];
  readonly detach?: readonly string[];
}

/** The agents that get or lose a source and are approved. */
async function approvedAmong(
  deps: Deps,
  caller: Caller,
  { attach = [], detach = [] }: AgentLinks,
): Promise<readonly AgentView[]> {
  const agents = await Promise.all([...attach, ...detach].map((id) => getAgent(deps, caller, id)));
  return agents.filter(({ isApprovedByOrg }) => isApprovedByOrg);
}

/** Agents that the caller may not edit keep the source: the caller may not even see them. */
async function agentChanges(deps: Deps, caller: Caller, source: DataSource, ais: readonly string[]) {
  const faults = new Faults();
  faults.requireCount('ais', ais, attachedAgentsMax);
  faults.throwIfAny();
  const attachedAgents = await deps.storage.knowledge.sources.agentsOf([source.id], editableAgents(caller));
  const attachedIds = new Set(attachedAgents.map(({ id }) => id));
  const targetIds = new Set(ais);
  const attach = [...targetIds].filter((id) => !attachedIds.has(id));
  for (const agentId of attach) {
    const agent = await editableAgent(deps, caller, agentId);
    if (agent.orgId !== source.orgId) throw new DomainError('NOT_FOUND', 'There is no such agent', { param: 'ais' });
    await requireRoom(deps, agent.id);
  }
  return { attach, detach: [...attachedIds].filter((id) => !targetIds.has(id)) };
}

/**
 * Deletes a source: it disappears for everyone at once; a job deletes its passages, items and bytes.
 *
 * @returns the source, under deletion.
 * @throws DomainError NOT_FOUND; FORBIDDEN for everyone except its owner and administrators.
 */
export async function deleteDataSource(deps: Deps, caller: Caller, id: string): Promise<DataSource> {
  const source = await editableSource(deps, caller, id, 'delete');
  if ((await deleteSources(deps, caller, [id])).length === 0) throw missingSource();
  return { ...source, isDeleting: true };
}

/** Which of an agent's sources were deleted, and which only detached because other agents use them. */
export interface ReleasedDataSources extends EndedApproval {
  readonly aiId: string;
  /** All of them: what the agent has no more. */
  readonly dataSourceIds: readonly string[];
  readonly deletedCount: number;
  readonly detachedCount: number;
}

/**
 * Takes sources from an agent, all or none: those that other agents use are detached, the others are deleted.
 *
 * @throws DomainError NOT_FOUND for a source that is not attached to the agent or not visible; FORBIDDEN for one that would be deleted and
 * that the caller may not delete; EMPTY_ARRAY.
 */
export async function bulkDeleteDataSources(
  deps: Deps,
  caller: Caller,
  agentId: string,
  dataSourceIds: readonly string[],
  expectedDraft?: ExpectedDraft,
): Promise<ReleasedDataSources> {
  const agent = await editableAgent(deps, caller, agentId);
  if (dataSourceIds.length === 0) {
    throw new DomainError('EMPTY_ARRAY', 'dataSourceIds must name at least one source', { param: 'dataSourceIds' });
  }
  const faults = new Faults();
  faults.requireCount('dataSourceIds', dataSourceIds, bulkMax);
  faults.throwIfAny();
  const [attachedSources = []] = await listDataSourcesOfAgents(deps, caller, [agent.id]);
  const byId = new Map(attachedSources.map((source) => [source.id, source]));
  const ids = [...new Set(dataSourceIds)];
  for (const [index, id] of ids.entries()) {
    if (byId.has(id)) continue;
    throw new DomainError('NOT_FOUND', 'The agent has no such data source', { param: `dataSourceIds[${index}]` });
  }
  const enqueue = async (tx: Transaction, deleted: readonly string[]) => {
    for (const id of deleted) {
      const source = byId.get(id);
      if (source !== undefined && canEditDataSource(caller, source)) continue;
      throw new DomainError('FORBIDDEN', 'Only the owner of a data source and administrators may delete it', {
        param: `dataSourceIds[${ids.indexOf(id)}]`,
      });
    }
    await enqueueDeletion(deps, caller, tx, deleted);
  };
  const release = () => deps.storage.knowledge.sources.release(agent.id, ids, deps.now(), enqueue);
  const { deletedIds, detachedIds } = await changeAgents(deps, caller, [agent.id], release, expectedDraft);
  const counts = { deletedCount: deletedIds.length, detachedCount: detachedIds.length };
  return { aiId: agent.id, dataSourceIds: ids, ...counts, ...(await endedApproval(deps, agent)) };
}

async function deleteSources(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly string[]> {
  return deps.audit.change(caller, () =>
    deps.storage.knowledge.sources.markDeleting(ids, deps.now(), (tx, hiddenIds) => enqueueDeletion(deps, caller, tx, hiddenIds)),
  );
}

async function enqueueDeletion({ jobs }: Deps, caller: Caller, tx: Transaction, ids: readonly string[]): Promise<void> {
  const deletions = ids.map((dataSourceId) => ({ payload: { dataSourceId }, owner: caller, key: dataSourceId }));
  await jobs.enqueueAll('knowledge.delete-source', deletions, { tx });
}

/**
 * Has a source read again. Unchanged content is skipped unless `isForced`. The indexed passages answer meanwhile. During a run, another run follows.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for everyone except its owner and administrators.
 */
export async function refreshDataSource(deps: Deps, caller: Caller, id: string, isForced: boolean): Promise<DataSource> {
  const source = await editableSource(deps, caller, id, 'refresh');
  const { indexing, syncing } = deps.storage.knowledge;
  if (isConnectedType(source.type)) {
    await deps.audit.change(caller, () => syncing.want(source.id, isForced, sourceJobs(deps.jobs, 'REFRESH')));
  } else {
    const run = { id: deps.newId('sourceRun'), trigger: 'REFRESH' } as const;
    await deps.audit.change(caller, () => indexing.requeueSource(source.id, isForced, run, itemJobs(deps.jobs)));
  }
  return getDataSource(deps, caller, id);
}

/**
 * Ends the reading of a source. What is indexed goes on answering; what was not yet is CANCELLED. Without a run, nothing changes.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for everyone except its owner and administrators.
 */
export async function cancelDataSource(deps: Deps, caller: Caller, id: string): Promise<DataSource> {
  const source = await editableSource(deps, caller, id, 'cancel');
  await deps.audit.change(caller, () => deps.storage.knowledge.syncing.cancel(source.id));
  return getDataSource(deps, caller, id);
}

/** Indexes the items of a source that failed or were cancelled once more, and no others. @throws like `cancelDataSource`. */
export async function retryDataSource(deps: Deps, caller: Caller, id: string): Promise<DataSource> {
  const source = await editableSource(deps, caller, id, 'retry');
  const runId = isConnectedType(source.type) ? undefined : deps.newId('sourceRun');
  await deps.audit.change(caller, () => deps.storage.knowledge.syncing.retryFailed(source.id, runId, itemJobs(deps.jobs)));
  return getDataSource(deps, caller, id);
}

/** An agent that the caller may edit. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function editableAgent(deps: Deps, caller: Caller, agentId: string): Promise<AgentView> {
  const agent = await getAgent(deps, caller, agentId);
  if (!canEditAgent(caller, agent)) {
    throw new DomainError('FORBIDDEN', 'Only the owner, editors and administrators of an agent may change its data sources');
  }
  return agent;
}

/** A source that the caller may change. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function editableSource(deps: Deps, caller: Caller, id: string, verb: string): Promise<DataSource> {
  const source = await getDataSource(deps, caller, id);
  if (!canEditDataSource(caller, source)) {
    throw new DomainError('FORBIDDEN', `Only the owner of a data source and administrators may ${verb} it`);
  }
  return source;
}

/** @throws DomainError CONFLICT when an agent has its most sources already. */
export async function requireRoom(deps: Deps, agentId: string, count = 1): Promise<void> {
  const max = deps.settings.AGENT_DATA_SOURCES_MAX;
  if ((await deps.storage.knowledge.sources.countOf(agentId)) + count > max) {
    throw new DomainError('CONFLICT', `An agent may have at most ${max} data sources`);
  }
}

export function missingSource(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such data source', { param: 'dataSourceId' });
}

/** How many passages of a source lack vectors, and why. */
export interface SourceVectors {
  readonly missingCount: number;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

/** The vectors of sources, in their order; null where the service makes none. Access is checked where the sources are found. */
export async function findSourceVectors(deps: Deps, ids: readonly string[]): Promise<readonly (SourceVectors | null)[]> {
  const countsBySource = new Map((await deps.knowledge.vectorsOf(ids)).map((row) => [row.dataSourceId, row]));
  return ids.map((id) => {
    const row = countsBySource.get(id);
    return row === undefined ? null : { missingCount: row.passages, errorCode: row.errorCode, errorMessage: row.errorMessage };
  });
}
