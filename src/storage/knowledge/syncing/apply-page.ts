// Raw SQL: leases. One statement changes the items of a page by values of their own, and ends the leases of those that are left out.
import type { Prisma } from '../../generated/client.ts';
import type { Transaction } from '../../ground/database.ts';
import type { AlsoInTransaction, OwnedId } from '../indexing/lease.ts';
import { decide, type ItemDecision, type StoredItem } from './decide.ts';
import type { PageOutcome, SyncedItem, SyncedPage, SyncLease } from './lease.ts';

/** Stores a part of a listing, and what it means for each document. `also` gets the items to index. */
export async function applyPage(
  tx: Transaction,
  lease: SyncLease,
  page: SyncedPage,
  also: AlsoInTransaction,
): Promise<PageOutcome> {
  const { id: runId, source, isForced } = lease;
  // The last of two with one id wins: services repeat an item that changed while they listed it.
  const listedItems = [...new Map(page.items.map((item) => [item.uniqueId, item])).values()].sort((a, b) =>
    a.uniqueId < b.uniqueId ? -1 : 1,
  );
  const seenColumns: SeenColumns = { seenRunId: runId, missedRuns: 0, lastCheckedAt: new Date() };
  // Locks them, too: no process takes one of them until the page is stored.
  const rows = await tx.prisma.knowledgeItem.updateManyAndReturn({
    where: { ...livingItems(source.id), uniqueId: { in: listedItems.map(({ uniqueId }) => uniqueId) } },
    data: seenColumns,
    select: storedSelect,
  });
  const storedRows = new Map(rows.map((row) => [row.uniqueId, row as StoredRow]));
  const plan = planPage(lease, listedItems, storedRows, seenColumns);
  if (plan.additions.length > 0) await tx.prisma.knowledgeItem.createMany({ data: plan.additions });
  if (plan.updates.length > 0) await tx.execute(updateSql, [JSON.stringify(plan.updates), runId, isForced]);
  const unchangedCount = await noteUnlisted(tx, lease, page, seenColumns);
  const { added, changed, unchanged, skipped } = plan.counts;
  await tx.prisma.sourceRun.update({
    where: { id: runId },
    data: {
      listedCount: { increment: listedItems.length + unchangedCount },
      addedCount: { increment: added },
      changedCount: { increment: changed },
      unchangedCount: { increment: unchanged + unchangedCount },
      skippedCount: { increment: skipped },
    },
  });
  await also(tx, plan.queue);
  return { unusedBlobKeys: plan.unusedBlobKeys };
}

function livingItems(dataSourceId: string) {
  return { dataSourceId, indexStatus: { not: 'DELETING' } };
}

/** What stands in an item that the run came by. */
interface SeenColumns {
  readonly seenRunId: string;
  readonly missedRuns: 0;
  readonly lastCheckedAt: Date;
}

/** What a page of a listing comes to, before it is written. */
interface PagePlan {
  readonly counts: Record<Exclude<ItemDecision, 'again'>, number>;
  readonly additions: Prisma.KnowledgeItemCreateManyInput[];
  readonly updates: object[];
  readonly queue: OwnedId[];
  readonly unusedBlobKeys: string[];
}

function planPage(
  lease: SyncLease,
  listedItems: readonly SyncedItem[],
  storedRows: ReadonlyMap<string, StoredRow>,
  seenColumns: SeenColumns,
): PagePlan {
  const counts = { added: 0, changed: 0, unchanged: 0, skipped: 0, failed: 0 };
  const plan: PagePlan = { counts, additions: [], updates: [], queue: [], unusedBlobKeys: [] };
  const { orgId, tenantId, isForced } = lease;
  for (const item of listedItems) {
    const storedRow = storedRows.get(item.uniqueId);
    const decision = decide(storedRow, item, isForced);
    counts[decision === 'again' ? 'changed' : decision] += 1;
    const isUnread = item.unread !== null;
    if (storedRow === undefined) {
      plan.additions.push(toNewRow(lease, item, seenColumns));
      if (!isUnread) plan.queue.push({ id: item.newId, orgId, tenantId });
      continue;
    }
    const isStatusKept = decision === 'unchanged' || decision === 'again';
    const status = isStatusKept ? null : (item.unread?.status ?? 'QUEUED');
    plan.updates.push({ ...toRow(item), id: storedRow.id, decision, status });
    // The job of an item that is left out removes its passages.
    if (decision === 'changed' || isUnread) plan.queue.push({ id: storedRow.id, orgId, tenantId });
    // What a changed item had is never read again: content that did not come with the listing is fetched. A process that reads it now finds it gone,
    // and reads the item once more.
    const unusedBlobKey = decision === 'unchanged' ? item.contentBlobKey : storedRow.contentBlobKey;
    if (unusedBlobKey !== null) plan.unusedBlobKeys.push(unusedBlobKey);
  }
  return plan;
}

function toNewRow(
  { id: runId, source, orgId }: SyncLease,
  item: SyncedItem,
  seenColumns: SeenColumns,
): Prisma.KnowledgeItemCreateManyInput {
  const status = item.unread?.status ?? 'QUEUED';
  return {
    ...toRow(item),
    ...seenColumns,
    id: item.newId,
    createdAt: seenColumns.lastCheckedAt,
    updatedAt: seenColumns.lastCheckedAt,
    orgId,
    dataSourceId: source.id,
    type: source.type,
    metadata: item.metadata as Prisma.InputJsonObject,
    notes: item.notes as Prisma.InputJsonObject,
    isContentStoredExternally: item.contentBlobKey === null,
    indexStatus: status,
    queuedRunId: status === 'SKIPPED' ? null : runId,
    indexPercentage: item.unread === null ? 0 : 100,
  };
}

/** Notes the items that a page does not list: those that are as they were, and those that are gone. @returns how many are as they were. */
async function noteUnlisted(
  tx: Transaction,
  { id: runId, source }: SyncLease,
  { goneIds, unchangedIds, unchangedParents }: SyncedPage,
  seenColumns: SeenColumns,
): Promise<number> {
  const { knowledgeItem } = tx.prisma;
  let unchangedCount = 0;
  if (unchangedIds.length + unchangedParents.length > 0) {
    const isUnchanged = [
      { uniqueId: { in: [...unchangedIds] } },
      { parentUniqueId: { in: [...unchangedParents] }, missedRuns: 0 },
    ];
    const where = { ...livingItems(source.id), OR: isUnchanged };
    unchangedCount = (await knowledgeItem.updateMany({ where, data: seenColumns })).count;
  }
  if (goneIds.length > 0) {
    const where = { ...livingItems(source.id), uniqueId: { in: [...goneIds] } };
    await knowledgeItem.updateMany({ where, data: { seenRunId: goneMark(runId) } });
  }
  return unchangedCount;
}

interface StoredRow extends StoredItem {
  readonly id: string;
  readonly uniqueId: string;
  readonly contentBlobKey: string | null;
}

const storedSelect = {
  id: true,
  uniqueId: true,
  indexStatus: true,
  changeKey: true,
  listedKey: true,
  liveGeneration: true,
  isRetryable: true,
  errorCode: true,
  contentBlobKey: true,
} as const satisfies Record<keyof StoredRow, true>;

/** What stands in `seenRunId` of an item that the service itself calls deleted. */
export function goneMark(runId: string): string {
  return `gone ${runId}`;
}

function toRow(item: SyncedItem) {
  const { newId: _newId, unread, ...row } = item;
  return { ...row, errorCode: unread?.code ?? null, errorMessage: unread?.message ?? null };
}

const givenRowsSql = `jsonb_to_recordset($1::jsonb) as g(id text, "uniqueId" text, "parentUniqueId" text, name text, "contentUrl" text, "listedKey" text,
  filename text, "mimeType" text, "sizeBytes" bigint, metadata jsonb, notes jsonb, "contentBlobKey" text, "errorCode" text, "errorMessage" text`;

const isUnread = `(g.decision in ('skipped', 'failed'))`;

/** An item that is left out, or that its service does not give any more, answers no more: its passages are removed with its generation. */
const updateSql = `update knowledge_items i set "updatedAt" = now(), name = g.name, "parentUniqueId" = g."parentUniqueId", "contentUrl" = g."contentUrl",
    filename = g.filename, "mimeType" = case when g.decision = 'unchanged' then i."mimeType" else g."mimeType" end, "sizeBytes" = g."sizeBytes",
    metadata = i.metadata - 'skippedReason' || g.metadata, notes = case when ${isUnread} then i.notes else g.notes end,
    "listedKey" = g."listedKey", "changeKey" = case when ${isUnread} then null else i."changeKey" end,
    "contentBlobKey" = case when g.decision = 'unchanged' then i."contentBlobKey" else g."contentBlobKey" end,
    "isContentStoredExternally" = case when g.decision = 'unchanged' then i."isContentStoredExternally" else g."contentBlobKey" is null end,
    "indexStatus" = coalesce(g.status, i."indexStatus"),
    "indexPercentage" = case g.status when 'QUEUED' then 0 when 'SKIPPED' then 100 when 'FAILED' then 100 else i."indexPercentage" end,
    "queuedRunId" = case when g.decision in ('changed', 'again', 'failed') then $2 else i."queuedRunId" end,
    attempt = case when g.status is null then i.attempt else 0 end,
    "isForced" = case when g.decision in ('changed', 'again') then i."isForced" or $3 else i."isForced" end,
    "isRunWanted" = i."isRunWanted" or g.decision = 'again',
    "errorCode" = case when ${isUnread} then g."errorCode" when g.decision = 'changed' then null else i."errorCode" end,
    "errorMessage" = case when ${isUnread} then g."errorMessage" when g.decision = 'changed' then null else i."errorMessage" end,
    "isRetryable" = i."isRetryable" and not ${isUnread},
    "leaseOwner" = case when ${isUnread} then null else i."leaseOwner" end,
    "leaseUntil" = case when ${isUnread} then null else i."leaseUntil" end,
    "lastGeneration" = i."lastGeneration" + case when ${isUnread} then 1 else 0 end,
    "liveGeneration" = case when ${isUnread} then null else i."liveGeneration" end,
    "needsCleaning" = i."needsCleaning" or (${isUnread} and i."liveGeneration" is not null)
  from ${givenRowsSql}, decision text, status text)
  where i.id = g.id`;
