// Raw SQL: counters. Prisma groups no rows by a column of another table.
import { type Page, type PageRequest, type SortKey, toPage } from '../../../entities/ground/page.ts';
import type { IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type { StoreFileBatch, StoreFileStatus, VectorStore, VectorStoreFile } from '../../../entities/knowledge/vector-store.ts';
import type { DataSourceFilter } from '../../../entities/people/access.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { readChildPages } from '../../ground/lists/child-pages.ts';
import type { StateCount } from '../items/counts.ts';
import { visibleWhere } from '../sources/filter.ts';
import { fileSelect, findStoreFiles, idRange, inStore, statesOf, toFile, toFileCounts } from './rows.ts';
import { listStores, readStores } from './stores.ts';

export interface OrderedPage extends PageRequest {
  readonly order: 'asc' | 'desc';
}
export interface StoreFileQuery {
  readonly status: StoreFileStatus | undefined;
  readonly order: 'asc' | 'desc';
}

/** Vector stores, their files and batches, for readers of many at once. Ids sort by the time they were made. */
export class VectorStorePages {
  readonly #db: Database;
  readonly #readByItem;

  constructor(db: Database) {
    this.#db = db;
    this.#readByItem = {
      async read(ids: string[]): Promise<readonly VectorStoreFile[]> {
        const items = await db.prisma.knowledgeItem.findMany({ where: { id: { in: ids } }, select: fileSelect });
        return items.map(toFile);
      },
      keyOf: ({ itemId }: VectorStoreFile): SortKey => [itemId],
      placeOf: ({ itemId }: VectorStoreFile) => itemId,
    };
  }

  /** The stores among the ids of data sources that match, in no order. */
  async findMany(ids: readonly string[], filter: DataSourceFilter): Promise<readonly VectorStore[]> {
    const where = { dataSourceId: { in: [...ids] }, dataSource: visibleWhere(filter) };
    const stores = await this.#db.prisma.vectorStore.findMany({ where, select: { dataSourceId: true } });
    return readStores(
      this.#db,
      stores.map(({ dataSourceId }) => dataSourceId),
    );
  }

  async list(filter: DataSourceFilter, page: OrderedPage): Promise<Page<VectorStore>> {
    const visible = { dataSource: visibleWhere(filter) };
    const { rows, foundCount } = await listStores(this.#db, filter, toSpan(page));
    const countAll = (most: number) => this.#db.prisma.vectorStore.count({ where: visible, take: most });
    return toPage(rows, page, ({ id }) => [id], countAll, foundCount);
  }

  /** The files with one of the ids of items whose stores match, in no order. */
  findFiles(itemIds: readonly string[], filter: DataSourceFilter): Promise<readonly VectorStoreFile[]> {
    return findStoreFiles(this.#db, {
      id: { in: [...itemIds] },
      dataSource: { AND: [visibleWhere(filter), { vectorStore: { isNot: null } }] },
    });
  }

  /** A page of the files of each store. The domain has found the stores for the caller. */
  filePagesOf(
    storeIds: readonly string[],
    { status, order }: StoreFileQuery,
    page: PageRequest,
  ): Promise<ReadonlyMap<string, Page<VectorStoreFile>>> {
    const db = this.#db;

    const ofStores = { in: [...storeIds] };
    const where = statusWhere(status);
    return readChildPages<VectorStoreFile>(this.#db, page, {
      ...this.#readByItem,
      async findPlaces() {
        const { range: id, direction, take } = toSpan({ ...page, order });
        const items = {
          where: { AND: [where, { id }] },
          orderBy: { id: direction },
          take,
          select: { id: true, rowBytes: true },
        };
        const stores = await db.prisma.dataSource.findMany({ where: { id: ofStores }, select: { id: true, items } });
        return stores.map((store) => ({ id: store.id, places: store.items }));
      },
      async countAll() {
        const groups = await db.prisma.knowledgeItem.groupBy({
          by: ['dataSourceId'],
          where: { AND: [where, { dataSourceId: ofStores }] },
          _count: true,
        });
        return new Map(groups.map(({ dataSourceId, _count }) => [dataSourceId, _count]));
      },
    });
  }

  /** The batches among the ids whose stores match, in no order. */
  findBatches(ids: readonly string[], filter: DataSourceFilter): Promise<readonly StoreFileBatch[]> {
    return this.#readBatches(ids, { store: { dataSource: visibleWhere(filter) } });
  }

  /** A page of the batches of each store, newest first. */
  batchPagesOf(storeIds: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, Page<StoreFileBatch>>> {
    const db = this.#db;

    const ofStores = { in: [...storeIds] };
    return readChildPages<StoreFileBatch>(this.#db, page, {
      async findPlaces() {
        const { range: id, direction, take } = toSpan({ ...page, order: 'desc' });
        const batches = { where: { id }, orderBy: { id: direction }, take, select: { id: true } };
        const stores = await db.prisma.vectorStore.findMany({
          where: { dataSourceId: ofStores },
          select: { dataSourceId: true, batches },
        });
        return stores.map((store) => ({ id: store.dataSourceId, places: store.batches }));
      },
      read: (ids) => this.#readBatches(ids, {}),
      keyOf: ({ id }) => [id],
      async countAll() {
        const where = { dataSourceId: ofStores };
        const groups = await db.prisma.vectorStoreFileBatch.groupBy({ by: ['dataSourceId'], where, _count: true });
        return new Map(groups.map(({ dataSourceId, _count }) => [dataSourceId, _count]));
      },
    });
  }

  /** A page of the files of each batch that are still in its store. */
  filePagesOfBatches(
    batchIds: readonly string[],
    { status, order }: StoreFileQuery,
    page: PageRequest,
  ): Promise<ReadonlyMap<string, Page<VectorStoreFile>>> {
    const db = this.#db;

    const ofBatches = { in: [...batchIds] };
    const item = statusWhere(status);
    return readChildPages<VectorStoreFile>(this.#db, page, {
      ...this.#readByItem,
      async findPlaces() {
        const { range: itemId, direction, take } = toSpan({ ...page, order });
        const files = {
          where: { itemId, item },
          orderBy: { itemId: direction },
          take,
          select: { item: { select: { id: true, rowBytes: true } } },
        };
        const batches = await db.prisma.vectorStoreFileBatch.findMany({
          where: { id: ofBatches },
          select: { id: true, files },
        });
        return batches.map((batch) => ({ id: batch.id, places: batch.files.map((file) => file.item) }));
      },
      async countAll() {
        const groups = await db.prisma.vectorStoreBatchFile.groupBy({
          by: ['batchId'],
          where: { batchId: ofBatches, item },
          _count: true,
        });
        return new Map(groups.map(({ batchId, _count }) => [batchId, _count]));
      },
    });
  }

  async #readBatches(ids: readonly string[], where: Prisma.VectorStoreFileBatchWhereInput): Promise<readonly StoreFileBatch[]> {
    const rows = await this.#db.prisma.vectorStoreFileBatch.findMany({ where: { AND: [{ id: { in: [...ids] } }, where] } });
    const counts = await countFilesOfBatches(
      this.#db,
      rows.map(({ id }) => id),
    );
    return rows.map((row) => ({ ...row, ...toFileCounts(counts.get(row.id) ?? []) }));
  }
}

function statusWhere(status: StoreFileStatus | undefined): Prisma.KnowledgeItemWhereInput {
  return status === undefined ? inStore : { indexStatus: { in: [...statesOf[status]] } };
}

/** A page by a cursor as what the ids of the page must be. */
function toSpan({ after, limit, isBackward = false, order }: OrderedPage) {
  const id = after === undefined ? undefined : String(after[0]);
  const [behind, before] = isBackward ? [undefined, id] : [id, undefined];
  return idRange({ after: behind, before, limit: limit + 1, order, isBackward });
}

/** Counts the files of batches by their states, as `countItems` does for sources. Cost: one statement. */
async function countFilesOfBatches(
  db: Database,
  batchIds: readonly string[],
): Promise<ReadonlyMap<string, readonly StateCount[]>> {
  const rows = await db.query<{ readonly batchId: string; readonly indexStatus: IndexStatus; readonly count: number }>(
    `select of_batch."batchId", i."indexStatus", count(*)::int as count
     from vector_store_batch_files of_batch join knowledge_items i on i.id = of_batch."itemId"
     where of_batch."batchId" = any($1::text[]) and i."indexStatus" <> 'DELETING'
     group by of_batch."batchId", i."indexStatus"`,
    [batchIds],
  );
  const counts = rows.map((row) => ({ ...row, answeringCount: 0, percentSum: 0, bytesSum: 0, firstId: '' }));
  return Map.groupBy(counts, ({ batchId }) => batchId);
}
