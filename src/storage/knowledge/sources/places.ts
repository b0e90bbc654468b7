import type { PageRequest } from '../../../entities/ground/page.ts';
import type { DataSourceType } from '../../../entities/knowledge/data-source.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { byTime, type Place, readingOrder } from '../../ground/lists/paging.ts';

export const dataSourceOrders = ['createdAt', 'lastIndexedAt', 'usageCount'] as const;
/** What people look for in a list: sources that answer without a flaw, that are read now, that have failures. */
export const dataSourceStates = ['ready', 'reading', 'failing'] as const;
export type DataSourceState = (typeof dataSourceStates)[number];

export interface DataSourceListQuery {
  readonly state: DataSourceState | undefined;
  readonly search: string;
  readonly type: DataSourceType | undefined;
  readonly orderBy: (typeof dataSourceOrders)[number];
  readonly isDescending: boolean;
  /** Rows to skip, where pages are requested by number; undefined: by cursor. */
  readonly offset: number | undefined;
}

type Where = Prisma.DataSourceWhereInput;
interface Request extends Pick<DataSourceListQuery, 'orderBy' | 'isDescending' | 'offset'> {
  readonly page: PageRequest;
}

const select = { id: true, rowBytes: true } as const;

/** The ids of a page of sources, and one more, in the order of reading. */
export async function findSourcePlaces(db: Database, where: Where, request: Request): Promise<readonly Place[]> {
  const { orderBy, offset, page } = request;
  const order = request.isDescending ? 'desc' : 'asc';
  const reading = { ...request, isDescending: readingOrder(order, page) === 'desc' };
  switch (orderBy) {
    case 'createdAt':
      return db.prisma.dataSource.findMany({
        ...byTime('createdAt', order, where, page),
        skip: offset ?? 0,
        select,
      });
    case 'lastIndexedAt':
      return db.prisma.dataSource.findMany({ ...byLastIndexed(where, reading), select });
    case 'usageCount': {
      const ids = await byUsage(db, where, reading);
      const sizes = await db.prisma.dataSource.findMany({ where: { id: { in: [...ids] } }, select });
      const places = new Map(sizes.map((place) => [place.id, place]));
      return ids.flatMap((id) => places.get(id) ?? []);
    }
  }
}

/** The time in the cursor after a source that was never indexed: it sorts as the oldest. */
export const neverIndexed = new Date(0);

function byLastIndexed(where: Where, { isDescending, offset, page: { after, limit } }: Request) {
  const direction = isDescending ? ('desc' as const) : ('asc' as const);
  const further = isDescending ? 'lt' : 'gt';
  const [afterTime = '', afterId = ''] = after?.map(String) ?? [];
  const at = new Date(afterTime);
  const isNever = at.getTime() === neverIndexed.getTime();
  const others: Where = { lastIndexedAt: isDescending ? null : { not: null } };
  const rest: Where[] = isNever
    ? [{ lastIndexedAt: null, id: { [further]: afterId } }, ...(isDescending ? [] : [others])]
    : [
        { lastIndexedAt: { [further]: at } },
        { lastIndexedAt: at, id: { [further]: afterId } },
        ...(isDescending ? [others] : []),
      ];
  return {
    where: { AND: [where, ...(after === undefined ? [] : [{ OR: rest }])] },
    orderBy: [
      { lastIndexedAt: { sort: direction, nulls: isDescending ? ('last' as const) : ('first' as const) } },
      { id: direction },
    ],
    take: limit + 1,
    skip: offset ?? 0,
  };
}

/** Sources that agents use are ordered by the number of those; the others, which no such number exists for, are a list of their own. */
async function byUsage(db: Database, where: Where, { isDescending, offset = 0, page }: Request): Promise<readonly string[]> {
  const { agentDataSource, dataSource } = db.prisma;
  const direction = isDescending ? ('desc' as const) : ('asc' as const);
  const further = isDescending ? 'lt' : 'gt';
  const [afterCount, afterId = ''] = page.after ?? [];
  const use = { agent: { isDeleted: false } };
  const usedWhere: Where = { AND: [where, { agents: { some: use } }] };
  const unusedWhere: Where = { AND: [where, { agents: { none: use } }] };

  async function readUsed(take: number, skip: number): Promise<readonly string[]> {
    const count = Number(afterCount);
    const isBehind = [
      { agentId: { _count: { [further]: count } } },
      { AND: [{ agentId: { _count: { equals: count } } }, { dataSourceId: { [further]: afterId } }] },
    ];
    const groups = await agentDataSource.groupBy({
      by: ['dataSourceId'],
      where: { ...use, dataSource: where },
      // Prisma fails on an empty condition of groups.
      ...(page.after === undefined ? {} : { having: { OR: isBehind } }),
      orderBy: [{ _count: { agentId: direction } }, { dataSourceId: direction }],
      take,
      skip,
    });
    return groups.map(({ dataSourceId }) => dataSourceId);
  }
  async function readUnused(take: number, skip: number): Promise<readonly string[]> {
    const rest = page.after !== undefined && Number(afterCount) === 0 ? [{ id: { [further]: String(afterId) } }] : [];
    const orderBy = { id: direction };
    const rows = await dataSource.findMany({ where: { AND: [unusedWhere, ...rest] }, orderBy, take, skip, select: { id: true } });
    return rows.map(({ id }) => id);
  }

  const take = page.limit + 1;
  const isAfterUsed = page.after !== undefined && Number(afterCount) > 0;
  const isAfterUnused = page.after !== undefined && !isAfterUsed;
  const lists = isDescending
    ? [
        { isPassed: isAfterUnused, read: readUsed, all: usedWhere },
        { isPassed: false, read: readUnused, all: unusedWhere },
      ]
    : [
        { isPassed: isAfterUsed, read: readUnused, all: unusedWhere },
        { isPassed: false, read: readUsed, all: usedWhere },
      ];
  const ids: string[] = [];
  let skip = offset;
  for (const { isPassed, read, all } of lists) {
    if (isPassed || ids.length === take) continue;
    const part = await read(take - ids.length, skip);
    ids.push(...part);
    // The next list is read from its beginning once this one has given a row.
    if (skip > 0) skip = part.length > 0 ? 0 : Math.max(0, skip - (await dataSource.count({ where: all })));
  }
  return ids;
}
