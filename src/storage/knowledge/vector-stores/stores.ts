import type {
  AttributeFilter,
  FileAttributes,
  Metadata,
  StoreFileStatus,
  StorePassage,
  VectorStore,
  VectorStoreFile,
} from '../../../entities/knowledge/vector-store.ts';
import type { DataSourceFilter } from '../../../entities/people/access.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { heldRows } from '../../ground/holds.ts';
import { readPage } from '../../ground/lists/paging.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import { countItems } from '../items/counts.ts';
import { hideItems } from '../items/states.ts';
import { visibleWhere } from '../sources/filter.ts';
import { addUploadRun } from '../syncing/upload-runs.ts';
import { itemsWith } from './attributes.ts';
import { readPassages } from './passages.ts';
import {
  addItems,
  findStoreFiles,
  type IdPage,
  idRange,
  inStore,
  listItemIds,
  listStoreFiles,
  lockStore,
  type MissingEnd,
  type NewStoreFile,
  noteUse,
  type RowMatches,
  toFileCounts,
} from './rows.ts';

export interface NewVectorStore {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly name: string;
  readonly description: string;
  readonly metadata: Metadata;
  readonly expiresAfterDays: number | null;
  readonly expiresAt: Date | null;
}

export interface VectorStoreChanges {
  readonly name?: string;
  readonly metadata?: Metadata;
  readonly expiresAfterDays?: number | null;
}

/** What is queued in the transaction of a change. */
export type AlsoQueue = (tx: Transaction, itemIds: readonly string[]) => Promise<void>;

export type DetachedFiles =
  | { readonly storeId: string; readonly fileId?: string }
  | { readonly orgId: string; readonly fileId: string };

/** Stores under deletion, and files under deletion, are in none of these. */
export class VectorStoreStore extends PublishingStore {
  async create(
    { description, metadata, expiresAfterDays, expiresAt, ...source }: NewVectorStore,
    files: readonly NewStoreFile[],
    also: AlsoQueue,
  ): Promise<void> {
    const { id: dataSourceId, createdAt } = source;
    await this.db.transaction(async (tx) => {
      await tx.prisma.dataSource.create({ data: { ...source, type: 'FILE_UPLOAD', updatedAt: createdAt } });
      const data = { dataSourceId, description, metadata, expiresAfterDays, expiresAt, lastActiveAt: createdAt };
      await tx.prisma.vectorStore.create({ data });
      await addItems(tx, dataSourceId, files);
      await also(tx, listItemIds(files));
    });
    this.#announce(dataSourceId);
  }

  async find(id: string, filter: DataSourceFilter): Promise<VectorStore | undefined> {
    const where = { dataSourceId: id, dataSource: visibleWhere(filter) };
    const store = await this.db.prisma.vectorStore.findFirst({ where, select: { dataSourceId: true } });
    return store === null ? undefined : (await readStores(this.db, [id]))[0];
  }

  /** By the time they were made; ids sort by it too. */
  list(filter: DataSourceFilter, page: IdPage): Promise<RowMatches<VectorStore>> {
    return listStores(this.db, filter, idRange(page));
  }

  /** Sets the day of expiry anew: a change is a use. */
  async update(id: string, { name, ...changes }: VectorStoreChanges): Promise<void> {
    await this.db.transaction(async (tx) => {
      if (name !== undefined) await tx.prisma.dataSource.updateMany({ where: { id }, data: { name, updatedAt: new Date() } });
      await tx.prisma.vectorStore.updateMany({ where: { dataSourceId: id }, data: changes });
      await noteUse(tx, id);
    });
    this.#announce(id);
  }

  /** Notes that a store was used, at most once a minute. */
  touch(id: string): Promise<void> {
    return noteUse(this.db, id, new Date(Date.now() - touchEveryMs));
  }

  /** @returns false when the store has `filesMax` files, or the file already. */
  async addFile(storeId: string, file: NewStoreFile, filesMax: number, also: AlsoQueue): Promise<boolean> {
    const wasAdded = await this.db.transaction(async (tx) => {
      if (!(await lockStore(tx, storeId))) return false;
      const where = { dataSourceId: storeId, ...inStore };
      if ((await tx.prisma.knowledgeItem.count({ where })) >= filesMax) return false;
      if ((await tx.prisma.knowledgeItem.count({ where: { ...where, uniqueId: file.fileId } })) > 0) return false;
      await addItems(tx, storeId, [file]);
      await noteUse(tx, storeId);
      await also(tx, [file.itemId]);
      return true;
    });
    if (wasAdded) this.#announce(storeId);
    return wasAdded;
  }

  /** Has files that failed or were cancelled indexed from the beginning. @returns those of the items that it concerns. */
  async beginAnew(itemIds: readonly string[], newRunId: () => string, also: AlsoQueue): Promise<readonly string[]> {
    const rows = await this.db.transaction(async (tx) => {
      const restartedItems = await tx.prisma.knowledgeItem.updateManyAndReturn({
        where: { id: { in: [...itemIds] }, indexStatus: { in: ['FAILED', 'SKIPPED', 'CANCELLED'] } },
        data: {
          updatedAt: new Date(),
          indexStatus: 'QUEUED',
          indexPercentage: 0,
          attempt: 0,
          isForced: true,
          errorCode: null,
          errorMessage: null,
        },
        select: { id: true, dataSourceId: true },
      });
      for (const [dataSourceId, items] of Map.groupBy(restartedItems, (row) => row.dataSourceId)) {
        const run = { id: newRunId(), dataSourceId, trigger: 'REFRESH', isForced: true } as const;
        await addUploadRun(
          tx,
          run,
          items.map(({ id }) => id),
        );
      }
      await also(
        tx,
        restartedItems.map(({ id }) => id),
      );
      return restartedItems;
    });
    for (const id of new Set(rows.map(({ dataSourceId }) => dataSourceId))) this.#announce(id);
    return rows.map(({ id }) => id);
  }

  async findFile(storeId: string, fileId: string): Promise<VectorStoreFile | undefined> {
    return (await findStoreFiles(this.db, { dataSourceId: storeId, uniqueId: fileId }))[0];
  }

  /** Those of the files that the store has, in no order. */
  filesByIds(storeId: string, fileIds: readonly string[]): Promise<readonly VectorStoreFile[]> {
    return findStoreFiles(this.db, { dataSourceId: storeId, uniqueId: { in: [...fileIds] } });
  }

  /** The items of files that fit a filter by attributes. */
  itemsWith(storeId: string, filter: AttributeFilter): Promise<readonly string[]> {
    return itemsWith(this.db, storeId, filter);
  }

  filesOfItems(itemIds: readonly string[]): Promise<readonly VectorStoreFile[]> {
    return findStoreFiles(this.db, { id: { in: [...itemIds] } });
  }

  listFiles(
    storeId: string,
    status: StoreFileStatus | undefined,
    page: IdPage,
  ): Promise<RowMatches<VectorStoreFile> | MissingEnd> {
    return listStoreFiles(this.db, storeId, status, page, ({ range: id, direction, take }, where) =>
      this.db.prisma.knowledgeItem.findMany({
        where: { ...where, id },
        orderBy: { id: direction },
        take,
        select: { id: true, rowBytes: true },
      }),
    );
  }

  /** The passages of an item from a place on, in order; none before it is indexed. */
  passages(itemId: string, from: number, limit: number): Promise<RowMatches<StorePassage>> {
    return readPassages(this.db, itemId, from, limit);
  }

  async setAttributes(id: string, attributes: FileAttributes): Promise<void> {
    await this.db.transaction(async (tx) => {
      await lockRow(tx, 'knowledge_items', id);
      const item = await tx.prisma.knowledgeItem.findUnique({ where: { id }, select: { metadata: true } });
      if (item === null) return;
      const metadata = { ...(item.metadata as Prisma.JsonObject), attributes } as Prisma.InputJsonObject;
      await tx.prisma.knowledgeItem.update({ where: { id }, data: { metadata } });
    });
  }

  /** Hides files from everybody. `of`: the files of a store, of which one or all, or one file in all stores of an organization. */
  async detach(files: DetachedFiles, also: AlsoQueue): Promise<void> {
    const dataSourceIds = await this.db.transaction(async (tx) => {
      const items = await tx.prisma.knowledgeItem.findMany({
        where: {
          ...inStore,
          ...('storeId' in files ? { dataSourceId: files.storeId } : { orgId: files.orgId }),
          ...(files.fileId === undefined ? {} : { uniqueId: files.fileId }),
          dataSource: { vectorStore: { isNot: null } },
        },
        select: { id: true },
      });
      const hiddenItems = await hideItems(
        tx,
        items.map(({ id }) => id),
      );
      if (hiddenItems.length > 0)
        await also(
          tx,
          hiddenItems.map(({ id }) => id),
        );
      return new Set(hiddenItems.map(({ dataSourceId }) => dataSourceId));
    });
    for (const id of dataSourceIds) this.#announce(id);
  }

  /** Stores that expired and still have files, and that no legal hold keeps. */
  async expired(limit: number): Promise<readonly { readonly id: string; readonly orgId: string; readonly tenantId: string }[]> {
    const isOver = { vectorStore: { expiresAt: { lte: new Date() } }, NOT: await heldRows(this.db, 'ownerUserId') };
    const stores = await this.db.prisma.dataSource.findMany({
      where: { deletingAt: null, ...isOver, items: { some: inStore } },
      select: { id: true, orgId: true, organization: { select: { tenantId: true } } },
      take: limit,
    });
    return stores.map(({ id, orgId, organization: { tenantId } }) => ({ id, orgId, tenantId }));
  }

  #announce(id: string) {
    return this.signals.publish('data-source-changed', id);
  }
}

/** Searches note the use of a store this often. */
const touchEveryMs = 60_000;

/** The stores of a range of ids, as many as fit into a page. */
export async function listStores(
  db: Database,
  filter: DataSourceFilter,
  { range, direction, take }: ReturnType<typeof idRange>,
): Promise<RowMatches<VectorStore>> {
  const stores = await db.prisma.vectorStore.findMany({
    where: { dataSourceId: range, dataSource: visibleWhere(filter) },
    orderBy: { dataSourceId: direction },
    take,
    select: { dataSourceId: true, rowBytes: true, dataSource: { select: { rowBytes: true } } },
  });
  const places = stores.map(({ dataSourceId: id, rowBytes, dataSource }) => ({
    id,
    rowBytes: rowBytes + dataSource.rowBytes,
  }));
  return readPage(db, places, (ids) => readStores(db, ids));
}

/** Stores with the states of their files, in no order. */
export async function readStores(db: Database, ids: readonly string[]): Promise<readonly VectorStore[]> {
  const where = { dataSourceId: { in: [...ids] } };
  const dataSource = { id: true, createdAt: true, orgId: true, ownerUserId: true, orgVisible: true, name: true } as const;
  const [rows, counts] = await Promise.all([
    db.prisma.vectorStore.findMany({ where, include: { dataSource: { select: dataSource } } }),
    countItems(db, { ...where, ...inStore }),
  ]);
  return rows.map(({ dataSourceId, dataSource: source, metadata, ...own }) => {
    const ofStore = counts.get(dataSourceId) ?? [];
    const usageBytes = ofStore.reduce((sum, { bytesSum }) => sum + bytesSum, 0);
    return { ...source, ...own, metadata: metadata as Metadata, ...toFileCounts(ofStore), usageBytes };
  });
}
