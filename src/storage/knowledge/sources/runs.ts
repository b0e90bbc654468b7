import { type Page, type PageRequest, type SortKey, toPage } from '../../../entities/ground/page.ts';
import type { ItemCounts } from '../../../entities/knowledge/data-source.ts';
import type { SourceRun, SourceRunStatus } from '../../../entities/knowledge/source-run.ts';
import type { DataSourceFilter } from '../../../entities/people/access.ts';
import { readChildPages } from '../../ground/lists/child-pages.ts';
import { byTime } from '../../ground/lists/paging.ts';
import { Store } from '../../ground/store.ts';
import { countItemsOfRuns, toItemCounts } from '../items/counts.ts';
import { dataSourceWhere } from './filter.ts';

/** The runs of sources, for people. */
export class SourceRunStore extends Store {
  /** The runs among the ids whose sources match, in no order. */
  async findMany(ids: readonly string[], filter: DataSourceFilter): Promise<readonly SourceRun[]> {
    const dataSource = { AND: [{ deletingAt: null }, dataSourceWhere(filter)] };
    const rows = await this.db.prisma.sourceRun.findMany({ where: { id: { in: [...ids] }, dataSource }, omit });
    return rows.map(toRun);
  }

  /** Newest first. The domain has decided that the caller may see the source. */
  async list(dataSourceId: string, page: PageRequest): Promise<Page<SourceRun>> {
    const rows = await this.db.prisma.sourceRun.findMany({ ...byTime('startedAt', 'desc', { dataSourceId }, page), omit });
    return toPage(rows.map(toRun), page, toKey, (take) => this.db.prisma.sourceRun.count({ where: { dataSourceId }, take }));
  }

  /** The same of several sources: a page of each. */
  pagesOf(dataSourceIds: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, Page<SourceRun>>> {
    const db = this.db;

    const ofSources = { in: [...dataSourceIds] };
    const rows = new Map<string, SourceRun>();
    return readChildPages(this.db, page, {
      async findPlaces() {
        const runs = { ...byTime('startedAt', 'desc', {}, page), omit };
        const sources = await db.prisma.dataSource.findMany({ where: { id: ofSources }, select: { id: true, runs } });
        for (const run of sources.flatMap((source) => source.runs)) rows.set(run.id, toRun(run));
        return sources.map(({ id, runs: places }) => ({ id, places: places.map((run) => ({ id: run.id })) }));
      },
      read: async (ids) => ids.flatMap((id) => rows.get(id) ?? []),
      keyOf: toKey,
      async countAll() {
        const where = { dataSourceId: ofSources };
        const groups = await db.prisma.sourceRun.groupBy({ by: ['dataSourceId'], where, _count: true });
        return new Map(groups.map(({ dataSourceId, _count }) => [dataSourceId, _count]));
      },
    });
  }

  /** The items that runs have queued, by what they are doing. A run that queued none is left out. */
  async itemCountsOf(runs: readonly Pick<SourceRun, 'id' | 'dataSourceId'>[]): Promise<ReadonlyMap<string, ItemCounts>> {
    const counts = await countItemsOfRuns(this.db, runs);
    return new Map([...counts].map(([id, states]) => [id, toItemCounts(states)]));
  }
}

/** What only the process that reads a source needs. */
const omit = { place: true, attempt: true, leaseOwner: true, leaseUntil: true, fence: true } as const;

function toRun<Row extends { readonly trigger: string; readonly status: string }>(row: Row) {
  return { ...row, trigger: row.trigger as SourceRun['trigger'], status: row.status as SourceRunStatus };
}

function toKey({ startedAt, id }: SourceRun): SortKey {
  return [startedAt.toISOString(), id];
}
