import { everything } from '../../../entities/ground/filter.ts';
import { type Members, reads } from '../../../entities/ground/members.ts';
import type { ActiveRun, DataSource, IndexStatus, SourceError } from '../../../entities/knowledge/data-source.ts';
import type { DataSourceFilter } from '../../../entities/people/access.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { type Selection, selected } from '../../ground/lists/selected.ts';
import { countItems, type StateCount, toItemCounts } from '../items/counts.ts';
import { dataSourceWhere } from './filter.ts';

const selectAll = {
  id: true,
  createdAt: true,
  updatedAt: true,
  lastIndexedAt: true,
  orgId: true,
  ownerUserId: true,
  name: true,
  type: true,
  refreshPeriod: true,
  data: true,
  cite: true,
  orgVisible: true,
  access: true,
  linkShared: true,
  recheck: true,
  errorCode: true,
  errorMessage: true,
  _count: { select: { agents: { where: { agent: { isDeleted: false } } } } },
  runs: {
    where: { status: { in: ['LISTING', 'INDEXING'] } },
    select: { id: true, status: true, listedCount: true, currentItem: true },
    take: 1,
  },
} as const satisfies Prisma.DataSourceSelect;
type SourceRow = Prisma.DataSourceGetPayload<{ select: typeof selectAll }>;

const selection: Selection<DataSource> = {
  // The audit log needs the owner of everything that an administrator is shown.
  always: new Set(['id', 'orgId', 'ownerUserId']),
  madeOf: { _count: ['usageCount'], runs: ['activeRun'] },
};
/** Members that may be long. */
export const longMembers = ['data', 'errorMessage'] as const satisfies readonly (keyof DataSource)[];
/** Members that come from other tables. */
const relatedMembers = ['counts', 'failedItem', 'usageCount', 'activeRun'] as const satisfies readonly (keyof DataSource)[];

/** Whether the members are short, and all in the row of a source: `selectOf` and `sourceOf` are enough to read them. */
export function isPlain(members: Members<DataSource>): boolean {
  return !reads(members, ...longMembers, ...relatedMembers);
}

/**
 * Reads sources, in no order. One that was deleted in between is left out, as is one that does not match; default: all do.
 *
 * Items are counted first: a source whose items are all indexed has the time of that, too.
 *
 * Cost: one statement; one more for the counts of items.
 */
export async function readSources(
  db: Database,
  ids: readonly string[],
  members?: Members<DataSource>,
  filter: DataSourceFilter = everything,
): Promise<readonly DataSource[]> {
  if (ids.length === 0) return [];
  const isCounted = reads(members, 'counts', 'failedItem');
  const counts = isCounted ? await countItems(db, countedWhere(ids, filter)) : new Map<string, readonly StateCount[]>();
  const failedIds = reads(members, 'failedItem') ? [...counts.values()].flatMap((states) => findFailedId(states) ?? []) : [];
  const where = { AND: [{ id: { in: [...ids] }, deletingAt: null }, dataSourceWhere(filter)] };
  const items = { where: { id: { in: failedIds } }, select: { id: true, errorCode: true, errorMessage: true } };
  const rows: readonly (SourceRow & { readonly items?: readonly FailedRow[] })[] = await db.prisma.dataSource.findMany({
    where,
    select: { ...toSelect(members), ...(failedIds.length === 0 ? {} : { items }) },
  });
  const failedItems = toFailedItems(rows.flatMap((row) => row.items ?? []));
  return rows.map(({ items: _items, ...row }) => toSource(row, counts.get(row.id) ?? [], failedItems));
}

/** Items of a source that the caller may not see are not even counted. */
function countedWhere(ids: readonly string[], filter: DataSourceFilter): Prisma.KnowledgeItemWhereInput {
  const dataSourceId = { in: [...ids] };
  return filter === everything ? { dataSourceId } : { dataSourceId, dataSource: dataSourceWhere(filter) };
}

export function toSelect(members: Members<DataSource>): typeof selectAll {
  return selected(selectAll, members, selection);
}

type FailedItems = ReadonlyMap<string, SourceError>;

interface FailedRow {
  readonly id: string;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

function toFailedItems(items: readonly FailedRow[]): FailedItems {
  return new Map(
    items.map(({ id, errorCode, errorMessage }) => [id, { code: errorCode ?? 'FAILED', message: errorMessage ?? '' }]),
  );
}

function findFailedId(counts: readonly StateCount[]): string | undefined {
  const firstIn = (status: IndexStatus) => counts.find(({ indexStatus }) => indexStatus === status)?.firstId;
  return firstIn('FAILED') ?? (firstIn('INDEXED') === undefined ? firstIn('SKIPPED') : undefined);
}

/** Members that were not selected are absent. */
export function toSource(
  { _count: links, runs, ...own }: SourceRow,
  counts: readonly StateCount[] = [],
  failedItems: FailedItems = new Map(),
): DataSource {
  return {
    ...(own as Omit<DataSource, 'isDeleting' | 'activeRun' | 'failedItem' | 'usageCount' | 'counts'>),
    isDeleting: false,
    activeRun: (runs?.[0] as ActiveRun | undefined) ?? null,
    failedItem: failedItems.get(findFailedId(counts) ?? '') ?? null,
    usageCount: links?.agents ?? 0,
    counts: toItemCounts(counts),
  };
}
