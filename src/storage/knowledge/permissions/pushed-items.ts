import type { Transaction } from '../../ground/database.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { Store } from '../../ground/store.ts';
import type { AlsoInTransaction, NewItemContent } from '../indexing/lease.ts';
import { hideItems, isBusy } from '../items/states.ts';
import { addUploadRun } from '../syncing/upload-runs.ts';

/** A document as a program pushes it. */
export interface PushedItem {
  /** Given to a document that is new. */
  readonly id: string;
  readonly uniqueId: string;
  /** Undefined: what was there before stays. */
  readonly name: string | undefined;
  readonly contentUrl: string | null | undefined;
  /** Its text; null: what was there before stays. */
  readonly contentBlobKey: string | null;
  readonly sizeBytes: number | null;
}

export interface PushedOwner {
  /** The source. */
  readonly id: string;
  readonly orgId: string;
  readonly tenantId: string;
}
export interface PushJobs {
  readonly index: AlsoInTransaction;
  /** The same for documents that are new. */
  indexNew(tx: Transaction, items: readonly NewItemContent[]): Promise<void>;
  readonly remove: AlsoInTransaction;
}
export interface PushCounts {
  readonly addedCount: number;
  readonly changedCount: number;
  readonly removedCount: number;
  /** Blobs that nothing refers to any more. */
  readonly unusedBlobKeys: readonly string[];
}

const markdown = 'text/markdown';

/** The documents of API sources that programs push. */
export class PushedItemStore extends Store {
  /** Which of these documents a source has. */
  async existing(dataSourceId: string, uniqueIds: readonly string[]): Promise<readonly string[]> {
    const where = { dataSourceId, uniqueId: { in: [...uniqueIds] }, indexStatus: { not: 'DELETING' } };
    const items = await this.db.prisma.knowledgeItem.findMany({ where, select: { uniqueId: true } });
    return items.map(({ uniqueId }) => uniqueId);
  }
}

/** Writes pushed documents and removes some, in the caller's transaction. The last of two with one id wins. */
export async function writePushedItems(
  tx: Transaction,
  owner: PushedOwner,
  {
    items,
    removedIds,
    runId,
  }: { readonly items: readonly PushedItem[]; readonly removedIds: readonly string[]; readonly runId: string },
  jobs: PushJobs,
): Promise<PushCounts> {
  const { id: dataSourceId, orgId, tenantId } = owner;
  const { knowledgeItem } = tx.prisma;
  await lockRow(tx, 'data_sources', dataSourceId);
  const pushedById = new Map(items.map((item) => [item.uniqueId, item]));
  const living = { dataSourceId, indexStatus: { not: 'DELETING' } };
  const existingRows = await knowledgeItem.updateManyAndReturn({
    where: { ...living, uniqueId: { in: [...pushedById.keys()] } },
    data: { updatedAt: new Date() },
    select: { id: true, uniqueId: true, indexStatus: true, contentBlobKey: true },
  });
  const unusedBlobKeys = items.flatMap((item) =>
    item.contentBlobKey !== null && pushedById.get(item.uniqueId) !== item ? [item.contentBlobKey] : [],
  );
  const queuedIds: string[] = [];
  const busyIds: string[] = [];
  for (const row of existingRows) {
    const item = pushedById.get(row.uniqueId);
    if (item === undefined) continue;
    pushedById.delete(row.uniqueId);
    const isBusyNow = isBusy(row.indexStatus);
    const content = item.contentBlobKey === null ? {} : changedContent(item, isBusyNow);
    if (item.contentBlobKey !== null) (isBusyNow ? busyIds : queuedIds).push(row.id);
    if (item.contentBlobKey !== null && row.contentBlobKey !== null) unusedBlobKeys.push(row.contentBlobKey);
    await knowledgeItem.update({
      where: { id: row.id },
      data: {
        ...(item.name === undefined ? {} : { name: item.name, filename: toFilename(item.name) }),
        ...(item.contentUrl === undefined ? {} : { contentUrl: item.contentUrl }),
        ...content,
      },
    });
  }
  const additions = [...pushedById.values()].map((item) => toNewRow(owner, item));
  await knowledgeItem.createMany({ data: additions });
  const addedIds = additions.map(({ id }) => id);
  const run = { id: runId, dataSourceId, trigger: 'ADDED', isForced: false } as const;
  await addUploadRun(tx, run, [...queuedIds, ...busyIds]);
  await addUploadRun(tx, run, addedIds, true);
  const removable = await knowledgeItem.findMany({
    where: { ...living, uniqueId: { in: [...removedIds] } },
    select: { id: true },
  });
  const hidden = await hideItems(
    tx,
    removable.map(({ id }) => id),
  );
  const toOwned = (id: string) => ({ id, orgId, tenantId });
  await jobs.index(tx, queuedIds.map(toOwned));
  await jobs.indexNew(tx, additions);
  await jobs.remove(
    tx,
    hidden.map(({ id }) => toOwned(id)),
  );
  return { addedCount: addedIds.length, changedCount: existingRows.length, removedCount: hidden.length, unusedBlobKeys };
}

/** An item that is being indexed is indexed once more when that has ended. */
function changedContent({ contentBlobKey, sizeBytes }: PushedItem, isBusyNow: boolean) {
  const content = { contentBlobKey, sizeBytes };
  return isBusyNow ? { ...content, isRunWanted: true } : { ...content, indexStatus: 'QUEUED', indexPercentage: 0, attempt: 0 };
}

function toNewRow({ id: dataSourceId, orgId }: PushedOwner, item: PushedItem) {
  const { id, uniqueId, name = uniqueId.slice(0, 200), contentUrl = null, contentBlobKey, sizeBytes } = item;
  const now = new Date();
  return {
    ...{ id, uniqueId, name, contentUrl, contentBlobKey, sizeBytes, dataSourceId, orgId },
    ...{ createdAt: now, updatedAt: now, type: 'API', filename: toFilename(name), mimeType: markdown, indexStatus: 'QUEUED' },
  };
}

function toFilename(name: string): string {
  return /\.[a-z0-9]{1,8}$/i.test(name) ? name : `${name}.md`;
}
