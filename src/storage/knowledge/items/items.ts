import { type Page, type PageRequest, pageOf, timeKey } from '../../../entities/ground/page.ts';
import type { IndexStatus, KnowledgeItem } from '../../../entities/knowledge/data-source.ts';
import { parseOmissions } from '../../../entities/knowledge/omission.ts';
import type { ItemPassages } from '../../../entities/knowledge/passage.ts';
import type { DataSourceFilter } from '../../../entities/people/access.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { readChildPages } from '../../ground/lists/child-pages.ts';
import { byTime, readPage, requireWholePage } from '../../ground/lists/paging.ts';
import { readPassages } from '../passages/item-passages.ts';
import { dataSourceWhere } from '../sources/filter.ts';
import { countNamedItems, findNamedItems, type NameSearch } from './names.ts';

/** Which items of a source; absent members: all. */
export interface ItemQuery {
  readonly statuses?: readonly IndexStatus[] | undefined;
  /** Searched in the name, ignoring case; '' matches all. */
  readonly search?: string | undefined;
}

/** The documents of sources. Items of a source under deletion are never returned. */
export interface KnowledgeItemStore {
  /** An item whose source matches. */
  find(id: string, filter: DataSourceFilter): Promise<KnowledgeItem | undefined>;
  /** The items among the ids whose sources match, in no order. */
  findMany(ids: readonly string[], filter: DataSourceFilter): Promise<readonly KnowledgeItem[]>;
  /** Oldest first. The domain has decided that the caller may see the source. */
  list(dataSourceId: string, query: ItemQuery, page: PageRequest, offset: number | undefined): Promise<Page<KnowledgeItem>>;
  /** The same of several sources: a page of each. */
  pagesOf(
    dataSourceIds: readonly string[],
    query: ItemQuery,
    page: PageRequest,
  ): Promise<ReadonlyMap<string, Page<KnowledgeItem>>>;
  /** A page of the passages of each of the items, which the domain has found for the caller. */
  passagesOf(itemIds: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, ItemPassages>>;
  setCite(id: string, cite: boolean): Promise<void>;
}

export function createKnowledgeItemStore(db: Database): KnowledgeItemStore {
  const read = (ids: string[]) => db.prisma.knowledgeItem.findMany({ where: { id: { in: ids } }, select });

  async function findMany(ids: readonly string[], filter: DataSourceFilter): Promise<readonly KnowledgeItem[]> {
    const dataSource = { AND: [{ deletingAt: null }, dataSourceWhere(filter)] };
    const rows = await db.prisma.knowledgeItem.findMany({ where: { id: { in: [...ids] }, dataSource }, select });
    return rows.map(itemOf);
  }

  async function placesIn(dataSourceId: string, query: ItemQuery, page: PageRequest, offset: number | undefined) {
    const search = searchOf(query);
    if (search !== undefined) return (await findNamedItems(db, [dataSourceId], search, page, offset)).get(dataSourceId) ?? [];
    return db.prisma.knowledgeItem.findMany({
      ...byTime('createdAt', 'asc', { dataSourceId, ...itemsWhere(query) }, page),
      skip: offset ?? 0,
      select: { id: true, rowBytes: true },
    });
  }

  async function countIn(dataSourceId: string, query: ItemQuery, most: number): Promise<number> {
    const search = searchOf(query);
    if (search !== undefined) return (await countNamedItems(db, [dataSourceId], search, most)).get(dataSourceId) ?? 0;
    return db.prisma.knowledgeItem.count({ where: { dataSourceId, ...itemsWhere(query) }, take: most });
  }

  return {
    findMany,
    find: async (id, filter) => (await findMany([id], filter))[0],
    async list(dataSourceId, query, page, offset) {
      const found = await readPage(db, await placesIn(dataSourceId, query, page, offset), read);
      if (offset !== undefined) requireWholePage(db, found, page.limit);
      return pageOf(found.rows.map(itemOf), page, timeKey, (most) => countIn(dataSourceId, query, most), found.foundCount);
    },
    pagesOf(dataSourceIds, query, page) {
      const ofSources = { in: [...dataSourceIds] };
      const where = itemsWhere(query);
      const search = searchOf(query);
      return readChildPages<KnowledgeItem>(db, page, {
        async findPlaces() {
          if (search !== undefined) {
            const named = await findNamedItems(db, dataSourceIds, search, page);
            return dataSourceIds.map((id) => ({ id, places: named.get(id) ?? [] }));
          }
          const items = { ...byTime('createdAt', 'asc', where, page), select: { id: true, rowBytes: true } };
          const sources = await db.prisma.dataSource.findMany({ where: { id: ofSources }, select: { id: true, items } });
          return sources.map(({ id, items: places }) => ({ id, places }));
        },
        read: async (ids) => (await read(ids)).map(itemOf),
        keyOf: timeKey,
        async countAll(most) {
          if (search !== undefined) return countNamedItems(db, dataSourceIds, search, most);
          const groups = await db.prisma.knowledgeItem.groupBy({
            by: ['dataSourceId'],
            where: { dataSourceId: ofSources, ...where },
            _count: true,
          });
          return new Map(groups.map(({ dataSourceId, _count }) => [dataSourceId, _count]));
        },
      });
    },
    passagesOf: (itemIds, page) => readPassages(db, itemIds, page),
    async setCite(id, cite) {
      await db.prisma.knowledgeItem.updateMany({ where: { id }, data: { cite, updatedAt: new Date() } });
    },
  };
}

/** The part of a query that Prisma asks; one with a text to search for goes to `findNamedItems`. */
function itemsWhere({ statuses }: ItemQuery): Prisma.KnowledgeItemWhereInput {
  return {
    AND: [{ indexStatus: { not: 'DELETING' } }, ...(statuses === undefined ? [] : [{ indexStatus: { in: [...statuses] } }])],
  };
}

/** Undefined: the query names no text. */
function searchOf({ search = '', statuses }: ItemQuery): NameSearch | undefined {
  return search === '' ? undefined : { search, statuses };
}

const select = {
  id: true,
  createdAt: true,
  updatedAt: true,
  orgId: true,
  dataSourceId: true,
  name: true,
  uniqueId: true,
  parentUniqueId: true,
  type: true,
  indexStatus: true,
  indexPercentage: true,
  documentCount: true,
  tokenCount: true,
  contentBlobKey: true,
  filename: true,
  mimeType: true,
  sizeBytes: true,
  contentUrl: true,
  isContentStoredExternally: true,
  isBlobStorageDeleted: true,
  metadata: true,
  cite: true,
  omissions: true,
  errorCode: true,
  errorMessage: true,
  isRetryable: true,
  lastCheckedAt: true,
  indexedAt: true,
} as const satisfies Prisma.KnowledgeItemSelect & Record<keyof KnowledgeItem, true>;
type ItemRow = Prisma.KnowledgeItemGetPayload<{ select: typeof select }>;

function itemOf(row: ItemRow): KnowledgeItem {
  const { sizeBytes, omissions, ...own } = row;
  return {
    ...(own as Omit<KnowledgeItem, 'sizeBytes' | 'omissions'>),
    sizeBytes: sizeBytes === null ? null : Number(sizeBytes),
    omissions: parseOmissions(omissions) ?? [],
  };
}
