// Raw SQL: parts of the statements of vector stores.
import type { FileAttributes } from '../../../entities/knowledge/vector-store.ts';
import type { Transaction } from '../../database/database.ts';
import type { Parameters } from '../../database/sql/where.ts';
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

/** A page by the id before it: newest first, or oldest first. With `before` alone, the page that ends just before that id, read from its end. */
export interface IdPage {
  readonly after: string | undefined;
  readonly before: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}
export interface RowMatches<Row> {
  readonly rows: readonly Row[];
  readonly foundCount: number;
}

const inProgress = `('INITIALIZED', 'QUEUED', 'FETCHING', 'PARSING', 'INDEXING')`;

/** Counts of items `i` by their state, under the names of the wire format. */
export const countColumns = `count(*) filter (where i."indexStatus" in ${inProgress})::int as "inProgress",
    count(*) filter (where i."indexStatus" = 'INDEXED')::int as completed,
    count(*) filter (where i."indexStatus" in ('FAILED', 'SKIPPED'))::int as failed,
    count(*) filter (where i."indexStatus" = 'CANCELLED')::int as cancelled`;

/** An item `i` as a file of its store. */
export const fileColumns = `i."uniqueId" as id, i.id as "itemId", i."createdAt", i."dataSourceId", coalesce(i.filename, i.name) as filename, coalesce(i."sizeBytes", 0)::int as "sizeBytes",
  case when i."indexStatus" = 'INDEXED' then 'completed' when i."indexStatus" in ('FAILED', 'SKIPPED') then 'failed'
    when i."indexStatus" = 'CANCELLED' then 'cancelled' else 'in_progress' end as status,
  i."errorCode", i."errorMessage", coalesce(i.metadata->'attributes', '{}') as attributes`;

/** Notes that a store was used, which sets the day of its expiry anew. */
export const usedSql = `update vector_stores set "lastActiveAt" = now(), "expiresAt" = now() + "expiresAfterDays" * interval '1 day' where "dataSourceId" = $1`;

/** Stops the indexing of items `i`: whoever holds a lease loses it. One that was indexed before keeps its passages. */
export const cancelItemsSql = `update knowledge_items i set "updatedAt" = now(), "leaseOwner" = null, "leaseUntil" = null, "isRunWanted" = false, "needsCleaning" = true,
    "lastGeneration" = "lastGeneration" + 1, "indexStatus" = case when "liveGeneration" is null then 'CANCELLED' else 'INDEXED' end
  where i."indexStatus" in ${inProgress}`;

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
  await addUploadRun(tx, { id: first.runId, dataSourceId, trigger: 'ADDED', isForced: false }, itemIdsOf(files), true);
}

export function itemIdsOf(files: readonly NewStoreFile[]): readonly string[] {
  return files.map(({ itemId }) => itemId);
}

/** Where a page of ids begins and ends, its order and its length. Ids sort by the time they were made. */
export function pageCondition(column: string, { after, before, limit, order }: IdPage, given: Parameters): string {
  const [further, nearer] = order === 'asc' ? ['>', '<'] : ['<', '>'];
  return `${after === undefined ? 'true' : `${column} ${further} ${given.add(after)}`}
    and ${before === undefined ? 'true' : `${column} ${nearer} ${given.add(before)}`}
    order by ${column} ${readOrder({ after, before, limit, order })} limit ${given.add(limit)}`;
}

/** Whether a page is read from its end. */
export function isReadBackwards({ after, before }: Pick<IdPage, 'after' | 'before'>): boolean {
  return before !== undefined && after === undefined;
}

function readOrder(page: IdPage): 'asc' | 'desc' {
  if (!isReadBackwards(page)) return page.order;
  return page.order === 'asc' ? 'desc' : 'asc';
}

/** Files are in the order in which they were attached. */
export function filePageCondition(storeId: string, { after, before, ...page }: IdPage, given: Parameters): string {
  const [further, nearer] = page.order === 'asc' ? ['>', '<'] : ['<', '>'];
  const placeOf = (fileId: string) =>
    `(select a.id from knowledge_items a where a."dataSourceId" = ${given.add(storeId)} and a."uniqueId" = ${given.add(fileId)})`;
  return `${after === undefined ? 'true' : `f."itemId" ${further} ${placeOf(after)}`}
    and ${before === undefined ? 'true' : `f."itemId" ${nearer} ${placeOf(before)}`}
    order by f."itemId" ${readOrder({ after, before, ...page })} limit ${given.add(page.limit)}`;
}
