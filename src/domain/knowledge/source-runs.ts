import { DomainError } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import { emptyPage, type Page, type PageRequest } from '../../entities/ground/page.ts';
import { type IndexingStatistics, indexingStatistics } from '../../entities/knowledge/data-source.ts';
import type { SourceRun } from '../../entities/knowledge/source-run.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { isAdministrator, visibleDataSources } from '../ground/access/access.ts';
import { getDataSource } from './sources.ts';

/** @throws DomainError NOT_FOUND, also for a run of a source that the caller may not see. */
export async function getSourceRun(deps: Deps, caller: Caller, id: string): Promise<SourceRun> {
  const [sourceRun] = isId('sourceRun', id) ? await getSourceRuns(deps, caller, [id]) : [];
  if (sourceRun === undefined) throw new DomainError('NOT_FOUND', 'There is no such run of a data source', { param: 'id' });
  return sourceRun;
}

/** The runs among `ids` whose sources the caller may see, in any order. */
export async function getSourceRuns(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly SourceRun[]> {
  const runs = await deps.storage.knowledge.sourceRuns.findMany(ids, visibleDataSources(caller));
  for (const id of new Set(runs.map(({ dataSourceId }) => dataSourceId))) deps.audit.read(caller, 'dataSource', [{ id }]);
  return runs;
}

/** The runs of a source, newest first. @throws DomainError NOT_FOUND */
export async function listSourceRuns(
  deps: Deps,
  caller: Caller,
  dataSourceId: string,
  page: PageRequest,
): Promise<Page<SourceRun>> {
  const source = await getDataSource(deps, caller, dataSourceId);
  return deps.storage.knowledge.sourceRuns.list(source.id, page);
}

/** A page of the runs of each source, in the order of the sources, newest first. Access is checked where the sources are found. */
export async function listRunsOfSources(
  deps: Deps,
  dataSourceIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<SourceRun>[]> {
  const pages = await deps.storage.knowledge.sourceRuns.pagesOf(dataSourceIds, page);
  return dataSourceIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/**
 * The names of what runs read just now, in their order. Of a MIRRORED source they are for administrators, who see the names of its documents; null for others.
 *
 * Cost: none where nothing is read, or no source is MIRRORED; else one statement.
 */
export async function findCurrentItems(
  { storage: { knowledge } }: Deps,
  caller: Caller,
  runs: readonly Pick<SourceRun, 'dataSourceId' | 'currentItem'>[],
): Promise<readonly (string | null)[]> {
  const ids = runs.flatMap(({ currentItem, dataSourceId }) => (currentItem === null ? [] : [dataSourceId]));
  if (ids.length === 0 || !(await knowledge.permissions.gates.areAnyMirrored(ids))) return runs.map((run) => run.currentItem);
  const sources = await knowledge.sources.findMany([...new Set(ids)], visibleDataSources(caller));
  const shownIds = new Set(
    sources.flatMap(({ id, access, orgId }) => (access === 'LENT' || isAdministrator(caller, orgId) ? [id] : [])),
  );
  return runs.map(({ currentItem, dataSourceId }) => (shownIds.has(dataSourceId) ? currentItem : null));
}

/** How far a run that goes on is. */
export interface SourceRunProgress {
  /** Whole percent of the documents that the run reads; null while they are listed. */
  readonly percent: number | null;
  /** The documents that the run reads, by what they are doing. */
  readonly statistics: IndexingStatistics;
  /** Documents that were done a minute since the run began; null before the first. */
  readonly documentsPerMinute: number | null;
  /** At that rate; null where it is not known. */
  readonly remainingMs: number | null;
}

const minuteMs = 60_000;

/** The progress of runs, in their order; null for one that has ended. Cost: one statement. Access is checked where the runs are found. */
export async function findProgressOfRuns(
  { storage, now }: Deps,
  runs: readonly SourceRun[],
): Promise<readonly (SourceRunProgress | null)[]> {
  const going = runs.filter(({ endedAt }) => endedAt === null);
  const counts = going.length === 0 ? new Map() : await storage.knowledge.sourceRuns.itemCountsOf(going);
  return runs.map((run) => {
    if (run.endedAt !== null) return null;
    const statistics = indexingStatistics(counts.get(run.id) ?? noItems);
    const { doneCount, failedCount, totalCount } = statistics;
    const endedCount = doneCount + failedCount;
    const elapsedMs = Math.max(1, now().getTime() - run.startedAt.getTime());
    const isListed = run.status === 'INDEXING';
    return {
      percent: isListed ? Math.floor((100 * endedCount) / Math.max(1, totalCount)) : null,
      statistics,
      documentsPerMinute: endedCount === 0 ? null : (endedCount * minuteMs) / elapsedMs,
      remainingMs: isListed && endedCount > 0 ? Math.round(((totalCount - endedCount) * elapsedMs) / endedCount) : null,
    };
  });
}

const noItems = {
  ...{ initialized: 0, queued: 0, active: 0, indexed: 0, skipped: 0 },
  ...{ failed: 0, answering: 0, cancelledAnswering: 0, percentSum: 0 },
};
