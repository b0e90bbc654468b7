import { idAs } from '../../../entities/ground/ids.ts';
import type { IndexStatus } from '../../../entities/knowledge/data-source.ts';
import type {
  FileAttributes,
  StoreFileCounts,
  StoreFileStatus,
  VectorStoreFile,
} from '../../../entities/knowledge/vector-store.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { type BoundedRows, type Place, readPage } from '../../ground/lists/paging.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { countIn, type StateCount } from '../items/counts.ts';
import { openStates } from '../items/states.ts';
import { addUploadRun } from '../syncing/upload-runs.ts';

/** A file with its bytes in place, to be indexed. */
export interface NewStoreFile {
  readonly fileId: string;
  readonly itemId: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly contentBlobKey: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly attributes: FileAttributes;
  /** The id of a run, should it begin one. */
  readonly runId: string;
}

/**
 * A page by the id before it: newest first, or oldest first. With `before` alone, the page that ends just before that id, read from its end.
 */
export interface IdPage {
  /** Reads from the end of the list. */
  readonly isBackward?: boolean;
  readonly after: string | undefined;
  readonly before: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}
export type RowMatches<Row> = BoundedRows<Row>;

export const statesOf: Readonly<Record<StoreFileStatus, readonly IndexStatus[]>> = {
  in_progress: openStates,
  completed: ['INDEXED'],
  failed: ['FAILED', 'SKIPPED'],
  cancelled: ['CANCELLED'],
};

/** Items of files that are in their store. */
export const inStore = { indexStatus: { not: 'DELETING' } };

export function toFileCounts(counts: readonly StateCount[]): StoreFileCounts {
  return {
    inProgress: countIn(counts, ...statesOf.in_progress),
    completed: countIn(counts, ...statesOf.completed),
    failed: countIn(counts, ...statesOf.failed),
    cancelled: countIn(counts, ...statesOf.cancelled),
  };
}

export const fileSelect = {
  id: true,
  uniqueId: true,
  createdAt: true,
  dataSourceId: true,
  filename: true,
  name: true,
  sizeBytes: true,
  indexStatus: true,
  errorCode: true,
  errorMessage: true,
  metadata: true,
} as const satisfies Prisma.KnowledgeItemSelect;

/** Items as files of their stores, in no order. */
export async function findStoreFiles(
  { prisma }: Pick<Database, 'prisma'>,
  where: Prisma.KnowledgeItemWhereInput,
): Promise<readonly VectorStoreFile[]> {
  const items = await prisma.knowledgeItem.findMany({ where: { AND: [where, inStore] }, select: fileSelect });
  return items.map(toFile);
}

export function toFile(item: Prisma.KnowledgeItemGetPayload<{ select: typeof fileSelect }>): VectorStoreFile {
  const { id: itemId, uniqueId, filename, name, sizeBytes, indexStatus, metadata, ...rest } = item;
  const [status = 'in_progress'] = (Object.keys(statesOf) as StoreFileStatus[]).filter((one) =>
    statesOf[one].includes(indexStatus as IndexStatus),
  );
  const { attributes = {} } = metadata as { readonly attributes?: FileAttributes };
  const ids = { id: idAs('vectorStoreFile', itemId), fileId: uniqueId, itemId };
  return { ...rest, ...ids, filename: filename ?? name, sizeBytes: Number(sizeBytes ?? 0), status, attributes };
}

/** What follows from a page of ids: the ids it may have, and how they are read. */
export function idRange(page: IdPage) {
  const { after, before, limit: take, order } = page;
  const [further, nearer] = order === 'asc' ? (['gt', 'lt'] as const) : (['lt', 'gt'] as const);
  const range: { lt?: string; gt?: string } = {};
  if (after !== undefined) range[further] = after;
  if (before !== undefined) range[nearer] = before;
  const opposite = order === 'asc' ? ('desc' as const) : ('asc' as const);
  return { range, direction: isReadBackwards(page) ? opposite : order, take };
}

/** Whether a page is read from its end. */
export function isReadBackwards({ after, before, isBackward }: Pick<IdPage, 'after' | 'before' | 'isBackward'>): boolean {
  return isBackward === true || (before !== undefined && after === undefined);
}

/**
 * A page of files in the order in which they were attached.
 *
 * @returns the end of the page, `after` or `before`, that is no file of the store, as one that was taken out is not any more once it is cleaned up.
 * @param findPlaces  of a range of items, of which `where` is true.
 */
export async function listStoreFiles(
  db: Database,
  storeId: string,
  status: StoreFileStatus | undefined,
  page: IdPage,
  findPlaces: (
    ids: ReturnType<typeof idRange>,
    where: { readonly dataSourceId: string; readonly indexStatus: Prisma.StringFilter },
  ) => Promise<readonly Place[]>,
): Promise<RowMatches<VectorStoreFile> | MissingEnd> {
  const itemPage = await findItemPage(db, storeId, page);
  if ('missing' in itemPage) return itemPage;
  const indexStatus = status === undefined ? inStore.indexStatus : { in: [...statesOf[status]] };
  const places = await findPlaces(idRange(itemPage), { dataSourceId: storeId, indexStatus });
  const { rows, foundCount } = await readPage(db, places, (ids) =>
    db.prisma.knowledgeItem.findMany({ where: { id: { in: ids } }, select: fileSelect }),
  );
  return { rows: rows.map(toFile), foundCount };
}

/** The end of a page that names no file of a store. */
export interface MissingEnd {
  readonly missing: 'after' | 'before';
}

/** The same page by the ids of items. */
async function findItemPage({ prisma }: Database, storeId: string, page: IdPage): Promise<IdPage | MissingEnd> {
  const fileIds = [page.after, page.before].filter((id) => id !== undefined);
  if (fileIds.length === 0) return page;
  const where = { dataSourceId: storeId, uniqueId: { in: fileIds } };
  const items = await prisma.knowledgeItem.findMany({ where, select: { id: true, uniqueId: true } });
  const ids = new Map(items.map(({ id, uniqueId }) => [uniqueId, id]));
  const missing = (['after', 'before'] as const).find((end) => page[end] !== undefined && !ids.has(page[end]));
  if (missing !== undefined) return { missing };
  return { ...page, after: ids.get(page.after ?? ''), before: ids.get(page.before ?? '') };
}

/**
 * Notes that a store was used, which sets the day of its expiry anew.
 *
 * @param unusedSince  nothing is noted when it was used after this time.
 */
export async function noteUse({ prisma }: Pick<Database, 'prisma'>, dataSourceId: string, unusedSince?: Date): Promise<void> {
  const where = { dataSourceId, ...(unusedSince === undefined ? {} : { lastActiveAt: { lt: unusedSince } }) };
  const store = await prisma.vectorStore.findFirst({ where, select: { expiresAfterDays: true } });
  if (store === null) return;
  const { expiresAfterDays } = store;
  const lastActiveAt = new Date();
  const expiresAt = expiresAfterDays === null ? null : new Date(lastActiveAt.getTime() + expiresAfterDays * dayMs);
  // Another call that sets other days meanwhile is a use, too.
  await prisma.vectorStore.updateMany({ where: { ...where, expiresAfterDays }, data: { lastActiveAt, expiresAt } });
}

const dayMs = 86_400_000;

/** Others that add files wait until the transaction ends. @returns false for a store that is gone, or under deletion. */
export async function lockStore(tx: Transaction, dataSourceId: string): Promise<boolean> {
  await lockRow(tx, 'data_sources', dataSourceId);
  return (await tx.prisma.dataSource.count({ where: { id: dataSourceId, deletingAt: null } })) === 1;
}

/** Adds the rows of new files, queued for indexing. */
export async function addItems(tx: Transaction, dataSourceId: string, files: readonly NewStoreFile[]): Promise<void> {
  const [first] = files;
  if (first === undefined) return;
  await tx.prisma.knowledgeItem.createMany({
    data: files.map(({ fileId, itemId, attributes, filename, createdAt, runId: _runId, ...rest }) => ({
      ...rest,
      id: itemId,
      dataSourceId,
      createdAt,
      updatedAt: createdAt,
      filename,
      name: filename,
      uniqueId: fileId,
      type: 'FILE_UPLOAD',
      indexStatus: 'QUEUED',
      metadata: { attributes },
    })),
  });
  await addUploadRun(tx, { id: first.runId, dataSourceId, trigger: 'ADDED', isForced: false }, listItemIds(files), true);
}

export function listItemIds(files: readonly NewStoreFile[]): readonly string[] {
  return files.map(({ itemId }) => itemId);
}
