import type { StoreFileBatch, StoreFileStatus, VectorStoreFile } from '../../../entities/knowledge/vector-store.ts';
import { PublishingStore } from '../../ground/store.ts';
import { countItems } from '../items/counts.ts';
import { cancelItems } from '../items/states.ts';
import {
  addItems,
  type IdPage,
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
import type { AlsoQueue } from './stores.ts';

export interface NewFileBatch {
  readonly id: string;
  readonly createdAt: Date;
  readonly dataSourceId: string;
}

/** What became of a batch that was to be written. */
export type AddedBatch =
  /** Written. The files that another request attached meanwhile are in the batch with the items they had: their copies are not needed. */
  | { readonly kind: 'added'; readonly unneeded: readonly NewStoreFile[] }
  | { readonly kind: 'full' }
  | { readonly kind: 'missing' };

/** Files of a vector store that one request attached. Access is that of the store: load it before. */
export class VectorStoreBatchStore extends PublishingStore {
  /**
   * Adds new files to a store, with files that it has already, as one batch.
   *
   * @param knownItemIds  items of files that the store had when the batch was made; those that are gone are left out.
   * @param also  queues the jobs of the new items.
   */
  async add(
    batch: NewFileBatch,
    files: readonly NewStoreFile[],
    knownItemIds: readonly string[],
    filesMax: number,
    also: AlsoQueue,
  ): Promise<AddedBatch> {
    const { dataSourceId, id: batchId } = batch;
    const added = await this.db.transaction(async (tx): Promise<AddedBatch> => {
      if (!(await lockStore(tx, dataSourceId))) return { kind: 'missing' };
      const there = { dataSourceId, ...inStore };
      const select = { id: true, uniqueId: true };
      const fileIdFilter = { in: files.map(({ fileId }) => fileId) };
      const meanwhile = await tx.prisma.knowledgeItem.findMany({ where: { ...there, uniqueId: fileIdFilter }, select });
      const attachedFileIds = new Set(meanwhile.map(({ uniqueId }) => uniqueId));
      const [unneededFiles, missing] = [
        files.filter(({ fileId }) => attachedFileIds.has(fileId)),
        files.filter(({ fileId }) => !attachedFileIds.has(fileId)),
      ];
      if (missing.length > 0 && (await tx.prisma.knowledgeItem.count({ where: there })) + missing.length > filesMax)
        return { kind: 'full' };
      const knownItems = await tx.prisma.knowledgeItem.findMany({ where: { ...there, id: { in: [...knownItemIds] } }, select });
      await addItems(tx, dataSourceId, missing);
      await tx.prisma.vectorStoreFileBatch.create({ data: batch });
      const itemIds = new Set([...listItemIds(missing), ...[...meanwhile, ...knownItems].map(({ id }) => id)]);
      await tx.prisma.vectorStoreBatchFile.createMany({ data: [...itemIds].map((itemId) => ({ batchId, itemId })) });
      await noteUse(tx, dataSourceId);
      await also(tx, listItemIds(missing));
      return { kind: 'added', unneeded: unneededFiles };
    });
    if (added.kind === 'added') this.#announce(dataSourceId);
    return added;
  }

  async find(storeId: string, id: string): Promise<StoreFileBatch | undefined> {
    const batch = await this.db.prisma.vectorStoreFileBatch.findFirst({ where: { id, dataSourceId: storeId } });
    if (batch === null) return undefined;
    const counts = await countItems(this.db, { batches: { some: { batchId: id } }, ...inStore });
    return { ...batch, ...toFileCounts(counts.get(storeId) ?? []) };
  }

  listFiles(
    storeId: string,
    batchId: string,
    status: StoreFileStatus | undefined,
    page: IdPage,
  ): Promise<RowMatches<VectorStoreFile> | MissingEnd> {
    return listStoreFiles(this.db, storeId, status, page, async ({ range: itemId, direction, take }, where) => {
      const files = await this.db.prisma.vectorStoreBatchFile.findMany({
        where: { batchId, itemId, item: where },
        orderBy: { itemId: direction },
        take,
        select: { item: { select: { id: true, rowBytes: true } } },
      });
      return files.map(({ item }) => item);
    });
  }

  /** Stops the indexing of its files; those that are indexed stay. */
  async cancel(storeId: string, id: string): Promise<void> {
    await this.db.transaction(async (tx) => {
      const { count } = await tx.prisma.vectorStoreFileBatch.updateMany({
        where: { id, dataSourceId: storeId, cancelledAt: null },
        data: { cancelledAt: new Date() },
      });
      if (count === 0) return;
      await cancelItems(tx, { batches: { some: { batchId: id } } });
    });
    this.#announce(storeId);
  }

  #announce(id: string) {
    return this.signals.publish('data-source-changed', id);
  }
}
