import type { DataSourceFilter } from '../../entities/accounts/access.ts';
import type { KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/page.ts';
import type { Database } from '../database/database.ts';
import { byTime, readPage, requireWholePage } from '../database/paging.ts';
import type { Prisma } from '../generated/client.ts';
import { dataSourceWhere } from './source-filter.ts';

/** The documents of sources. Items of a source under deletion are never returned. */
export interface KnowledgeItemStore {
  /** An item whose source matches. */
  find(id: string, filter: DataSourceFilter): Promise<KnowledgeItem | undefined>;
  /** The items with one of the ids whose sources match, in no order. */
  findMany(ids: readonly string[], filter: DataSourceFilter): Promise<readonly KnowledgeItem[]>;
  /** Oldest first. The domain has decided that the caller may see the source. */
  list(dataSourceId: string, page: PageRequest, offset: number | undefined): Promise<Page<KnowledgeItem>>;
  setCite(id: string, cite: boolean): Promise<void>;
}

export function createKnowledgeItemStore(db: Database): KnowledgeItemStore {
  return {
    async find(id, filter) {
      const where = { id, dataSource: { AND: [{ deletingAt: null }, dataSourceWhere(filter)] } };
      const row = await db.prisma.knowledgeItem.findFirst({ where, select });
      return row === null ? undefined : itemOf(row);
    },
    async findMany(ids, filter) {
      const where = { id: { in: [...ids] }, dataSource: { AND: [{ deletingAt: null }, dataSourceWhere(filter)] } };
      return (await db.prisma.knowledgeItem.findMany({ where, select })).map(itemOf);
    },
    async list(dataSourceId, page, offset) {
      const where = { dataSourceId, indexStatus: { not: 'DELETING' } };
      const places = await db.prisma.knowledgeItem.findMany({
        ...byTime('createdAt', 'asc', where, page),
        skip: offset ?? 0,
        select: { id: true, rowBytes: true },
      });
      const read = await readPage(db, places, (ids) => db.prisma.knowledgeItem.findMany({ where: { id: { in: ids } }, select }));
      if (offset !== undefined) requireWholePage(db, read, page.limit);
      const countAll = (take: number) => db.prisma.knowledgeItem.count({ where, take });
      return pageOf(read.rows.map(itemOf), page, timeKey, countAll, read.foundCount);
    },
    async setCite(id, cite) {
      await db.prisma.knowledgeItem.updateMany({ where: { id }, data: { cite, updatedAt: new Date() } });
    },
  };
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
  errorCode: true,
  errorMessage: true,
  isRetryable: true,
  lastCheckedAt: true,
  indexedAt: true,
} as const satisfies Prisma.KnowledgeItemSelect & Record<keyof KnowledgeItem, true>;
type ItemRow = Prisma.KnowledgeItemGetPayload<{ select: typeof select }>;

function itemOf(row: ItemRow): KnowledgeItem {
  const { sizeBytes, ...own } = row;
  return { ...(own as Omit<KnowledgeItem, 'sizeBytes'>), sizeBytes: sizeBytes === null ? null : Number(sizeBytes) };
}
