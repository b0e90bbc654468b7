// Raw SQL: leases. One statement changes the items of a page by values of their own, and ends the leases of those that are left out.
import type { DataSourceType } from '../../../entities/knowledge/data-source.ts';
import { isConnectedType } from '../../../entities/knowledge/data-source.ts';
import { Prisma } from '../../generated/client.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { heldBy, LeaseLostError, takeLeased } from '../../ground/leases.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import type { AlsoInTransaction, OwnedId } from '../indexing/store.ts';
import { hideItems } from '../items/states.ts';
import { isPeriodOver, openRuns } from '../sources/refresh-period.ts';
import { decide, type StoredItem, triedEachRun } from './decide.ts';
import type { PageOutcome, SyncedItem, SyncedPage, SyncLease, SyncStore } from './store.ts';

/** The writes of a process that holds a run's lease. */
export type HolderWrites = Pick<SyncStore, 'begin' | 'show' | 'known' | 'apply' | 'finish' | 'fail' | 'release'>;

/** A run that was cut off this often is given up. */
const attemptsMax = 5;

/** @param announce  signals to readers of a source that it changed. */
export function createHolderWrites(db: Database, announce: (dataSourceId: string) => void): HolderWrites {
  const { prisma } = db;
  const endColumns = { leaseOwner: null, leaseUntil: null, currentItem: null };

  const writes: HolderWrites = {
    async begin(dataSourceId, { id, owner, leaseMs, trigger }) {
      const lease = await db.transaction(async (tx) => {
        await lockRow(tx, 'data_sources', dataSourceId);
        const sourceRow = await tx.prisma.dataSource.findUnique({
          where: { id: dataSourceId, deletingAt: null },
          select: sourceSelect,
        });
        const type = sourceRow?.type as DataSourceType;
        if (sourceRow === null || !isConnectedType(type)) return undefined;
        const { id: sourceId, orgId, ownerUserId, isSyncForced, organization } = sourceRow;
        const isDue = sourceRow.errorCode !== 'AUTH' && isPeriodOver(sourceRow);
        const data = sourceRow.data as SyncLease['source']['data'];
        const source = { id: sourceId, ownerUserId, type, data, state: sourceRow.syncState };
        const status = { in: openRuns };
        const open = await tx.prisma.sourceRun.findFirst({ where: { dataSourceId, status }, select: { id: true, status: true } });
        const isScheduled = trigger === 'SCHEDULE';
        if (open === null) {
          // Another process may have queued the same refresh: one period makes one run.
          if (isScheduled && !isDue) return undefined;
          await tx.prisma.sourceRun.create({ data: { id, dataSourceId, trigger, isForced: isSyncForced } });
        }
        const run = await takeLeased<RunRow>(
          tx,
          'sourceRun',
          { id: open?.id ?? id, owner, leaseMs },
          {
            set: 'attempt = attempt + 1',
            where: `status = 'LISTING'`,
            returning: 'id, attempt, "isForced", place',
          },
        );
        const isWanted = run === undefined && !isScheduled;
        if (open === null || isWanted) {
          const wish = { isSyncWanted: isWanted, ...(isWanted ? {} : { isSyncForced: false }) };
          await tx.prisma.dataSource.updateMany({ where: { id: dataSourceId }, data: wish });
        }
        if (run === undefined) return open?.status === 'LISTING' ? 'held' : undefined;
        return { ...run, owner, orgId, tenantId: organization.tenantId, place: run.place ?? undefined, source };
      });
      if (lease === undefined || lease === 'held') return lease;
      announce(dataSourceId);
      if (lease.attempt <= attemptsMax) return lease;
      await writes.fail(lease, {
        code: 'INTERRUPTED',
        message: `Reading the source was cut off ${attemptsMax} times; refresh it to try again.`,
      });
      return undefined;
    },
    async show(lease, currentItem) {
      await writeRun(db, lease, { currentItem: currentItem?.slice(0, 500) ?? null });
      announce(lease.source.id);
    },
    async known({ id: runId, source }, uniqueIds) {
      const items = await prisma.knowledgeItem.findMany({
        where: { dataSourceId: source.id, uniqueId: { in: [...uniqueIds] }, indexStatus: { not: 'DELETING' } },
        select: {
          uniqueId: true,
          changeKey: true,
          metadata: true,
          notes: true,
          liveGeneration: true,
          parentUniqueId: true,
          seenRunId: true,
        },
      });
      return items.map(({ liveGeneration, metadata, notes, seenRunId, ...item }) => ({
        ...item,
        metadata: metadata as Readonly<Record<string, unknown>>,
        notes: notes as Readonly<Record<string, unknown>>,
        isIndexed: liveGeneration !== null,
        isListed: seenRunId === runId,
      }));
    },
    async apply(lease, page, also) {
      const outcome = await db.transaction(async (tx) => {
        // A cancellation waits, and what it ends includes this page.
        await lockRow(tx, 'data_sources', lease.source.id);
        await noteProgress(tx, lease, page.place);
        return applyPage(tx, lease, page, also);
      });
      announce(lease.source.id);
      return outcome;
    },
    async finish(lease, { isComplete, bound, state }, { remove, index }) {
      const dataSourceId = lease.source.id;
      await db.transaction(async (tx) => {
        await lockRow(tx, 'data_sources', dataSourceId);
        await writeRun(tx, lease, { isComplete, bound, place: Prisma.DbNull, ...endColumns });
        const { removed: removedItems, heldCount } = await removeMissing(tx, lease, isComplete);
        const { status, ...reason } = await findEnd(tx, dataSourceId, bound);
        const now = new Date();
        await tx.prisma.sourceRun.update({
          where: { id: lease.id },
          data: {
            ...{ status, listedAt: now, removedCount: removedItems.length, heldCount },
            ...(status === 'FAILED' ? { endedAt: now, ...reason } : {}),
          },
        });
        await tx.prisma.dataSource.update({
          where: { id: dataSourceId },
          data: {
            ...reason,
            updatedAt: now,
            ...(state === undefined ? {} : { syncState: state as Prisma.InputJsonValue }),
            ...(status === 'FAILED' ? { lastSyncedAt: now } : {}),
          },
        });
        await remove(tx, removedItems);
        await index(tx, await requeueUnread(tx, lease));
      });
      announce(dataSourceId);
    },
    async fail(lease, { code, message }) {
      const dataSourceId = lease.source.id;
      await db.transaction(async (tx) => {
        await lockRow(tx, 'data_sources', dataSourceId);
        const now = new Date();
        const reason = { errorCode: code, errorMessage: message };
        await writeRun(tx, lease, { status: 'FAILED', endedAt: now, ...reason, ...endColumns });
        const data = { ...reason, lastSyncedAt: now, updatedAt: now };
        await tx.prisma.dataSource.update({ where: { id: dataSourceId }, data });
      });
      announce(dataSourceId);
    },
    async release(lease, isCounted, also) {
      const { id, orgId, tenantId } = { ...lease, id: lease.source.id };
      await db.transaction(async (tx) => {
        await writeRun(tx, lease, { ...endColumns, ...(isCounted ? {} : { attempt: { decrement: 1 } }) });
        await also?.(tx, [{ id, orgId, tenantId }]);
      });
      announce(id);
    },
  };
  return writes;
}

/** How a listing ends: a source that has no item has nothing to index, and its run is over. */
async function findEnd(
  tx: Transaction,
  dataSourceId: string,
  bound: string | null,
): Promise<{ readonly status: 'INDEXING' | 'FAILED'; readonly errorCode: string | null; readonly errorMessage: string | null }> {
  if (bound !== null) {
    const errorMessage = `The source was read up to its limit ${bound}; what lies behind it is not indexed.`;
    return { status: 'INDEXING', errorCode: 'BOUND_REACHED', errorMessage };
  }
  const where = { dataSourceId, indexStatus: { not: 'DELETING' } };
  const item = await tx.prisma.knowledgeItem.findFirst({ where, select: { id: true } });
  if (item !== null) return { status: 'INDEXING', errorCode: null, errorMessage: null };
  const errorMessage = 'The service lists no document for this source: it is empty, or the connected account sees nothing of it.';
  return { status: 'FAILED', errorCode: 'NOTHING_LEFT', errorMessage };
}

const sourceSelect = {
  id: true,
  createdAt: true,
  orgId: true,
  ownerUserId: true,
  type: true,
  data: true,
  syncState: true,
  isSyncForced: true,
  refreshPeriod: true,
  lastSyncedAt: true,
  errorCode: true,
  organization: { select: { tenantId: true } },
} as const satisfies Prisma.DataSourceSelect;

/** Writes to a run on condition that the lease is still the newest. @throws LeaseLostError */
async function writeRun(
  { prisma }: Pick<Database, 'prisma'>,
  lease: SyncLease,
  data: Prisma.SourceRunUpdateManyMutationInput,
): Promise<void> {
  const { count } = await prisma.sourceRun.updateMany({ where: heldBy(lease), data });
  if (count === 0) throw new LeaseLostError(`the lease of ${lease.id} is lost`);
}

/** A run that got further counts its attempts anew: only one that is cut off at the same place again and again is given up. @throws LeaseLostError */
async function noteProgress(tx: Transaction, lease: SyncLease, progress: unknown): Promise<void> {
  if (progress === undefined || progress === null) return writeRun(tx, lease, { place: Prisma.DbNull });
  const place = progress as Prisma.InputJsonValue;
  const isFurther = { OR: [{ place: { equals: Prisma.DbNull } }, { place: { not: place } }] };
  const { count } = await tx.prisma.sourceRun.updateMany({
    where: { ...heldBy(lease), ...isFurther },
    data: { place, attempt: 1 },
  });
  if (count === 0) await writeRun(tx, lease, { place });
}

interface RunRow {
  readonly id: string;
  readonly fence: number;
  readonly attempt: number;
  readonly isForced: boolean;
  readonly place: unknown;
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

async function applyPage(
  tx: Transaction,
  lease: SyncLease,
  { items, goneIds, unchangedIds, unchangedParents }: SyncedPage,
  also: AlsoInTransaction,
): Promise<PageOutcome> {
  const { id: runId, source, orgId, tenantId, isForced } = lease;
  // The last of two with one id wins: services repeat an item that changed while they listed it.
  const listedItems = [...new Map(items.map((item) => [item.uniqueId, item])).values()].sort((a, b) =>
    a.uniqueId < b.uniqueId ? -1 : 1,
  );
  const lastCheckedAt = new Date();
  const seenColumns = { seenRunId: runId, missedRuns: 0, lastCheckedAt };
  const alive = { dataSourceId: source.id, indexStatus: { not: 'DELETING' } };
  // Locks them, too: no process takes one of them until the page is stored.
  const rows = await tx.prisma.knowledgeItem.updateManyAndReturn({
    where: { ...alive, uniqueId: { in: listedItems.map(({ uniqueId }) => uniqueId) } },
    data: seenColumns,
    select: storedSelect,
  });
  const storedRows = new Map(rows.map((row) => [row.uniqueId, row as StoredRow]));
  const counts = { added: 0, changed: 0, unchanged: 0, skipped: 0, failed: 0 };
  const unusedBlobKeys: string[] = [];
  let listedCount = listedItems.length;
  const queuedItems: OwnedId[] = [];
  const addedItems: Prisma.KnowledgeItemCreateManyInput[] = [];
  const updatedRows: object[] = [];
  for (const item of listedItems) {
    const storedRow = storedRows.get(item.uniqueId);
    const decision = decide(storedRow, item, isForced);
    counts[decision === 'again' ? 'changed' : decision] += 1;
    const isUnread = item.unread !== null;
    const status = item.unread?.status ?? 'QUEUED';
    if (storedRow === undefined) {
      addedItems.push({
        ...toRow(item),
        ...seenColumns,
        id: item.newId,
        createdAt: lastCheckedAt,
        updatedAt: lastCheckedAt,
        orgId,
        dataSourceId: source.id,
        type: source.type,
        metadata: item.metadata as Prisma.InputJsonObject,
        notes: item.notes as Prisma.InputJsonObject,
        isContentStoredExternally: item.contentBlobKey === null,
        indexStatus: status,
        queuedRunId: status === 'SKIPPED' ? null : runId,
        indexPercentage: isUnread ? 100 : 0,
      });
      if (!isUnread) queuedItems.push({ id: item.newId, orgId, tenantId });
      continue;
    }
    const isSubagentRecord = decision === 'unchanged' || decision === 'again';
    updatedRows.push({ ...toRow(item), id: storedRow.id, decision, status: isSubagentRecord ? null : status });
    // The job of an item that is left out removes its passages.
    if (decision === 'changed' || isUnread) queuedItems.push({ id: storedRow.id, orgId, tenantId });
    // What a changed item had is never read again: content that did not come with the listing is fetched. A process that reads it now finds it gone,
    // and reads the item once more.
    const unusedBlobKey = decision === 'unchanged' ? item.contentBlobKey : storedRow.contentBlobKey;
    if (unusedBlobKey !== null) unusedBlobKeys.push(unusedBlobKey);
  }
  if (addedItems.length > 0) await tx.prisma.knowledgeItem.createMany({ data: addedItems });
  if (updatedRows.length > 0) await tx.execute(updateSql, [JSON.stringify(updatedRows), runId, isForced]);
  if (unchangedIds.length + unchangedParents.length > 0) {
    const isUnchanged = [
      { uniqueId: { in: [...unchangedIds] } },
      { parentUniqueId: { in: [...unchangedParents] }, missedRuns: 0 },
    ];
    const { count: unchangedCount } = await tx.prisma.knowledgeItem.updateMany({
      where: { ...alive, OR: isUnchanged },
      data: seenColumns,
    });
    counts.unchanged += unchangedCount;
    listedCount += unchangedCount;
  }
  if (goneIds.length > 0) {
    const where = { ...alive, uniqueId: { in: [...goneIds] } };
    await tx.prisma.knowledgeItem.updateMany({ where, data: { seenRunId: goneMark(runId) } });
  }
  await tx.prisma.sourceRun.update({
    where: { id: runId },
    data: {
      listedCount: { increment: listedCount },
      addedCount: { increment: counts.added },
      changedCount: { increment: counts.changed },
      unchangedCount: { increment: counts.unchanged },
      skippedCount: { increment: counts.skipped },
    },
  });
  await also(tx, queuedItems);
  return { unusedBlobKeys };
}

/** What stands in `seenRunId` of an item that the service itself calls deleted. */
function goneMark(runId: string): string {
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

/**
 * Removes the items that are gone: those that a complete listing did not name, and those that the service calls deleted. More than half at once only
 * when the run before missed them too: a service that hides things for an hour must not empty a source.
 */
async function removeMissing(
  tx: Transaction,
  { id: runId, source, orgId, tenantId }: SyncLease,
  isComplete: boolean,
): Promise<{ readonly removed: readonly OwnedId[]; readonly heldCount: number }> {
  const { knowledgeItem } = tx.prisma;
  const isMissing = isComplete ? { OR: [{ seenRunId: null }, { seenRunId: { not: runId } }] } : { seenRunId: goneMark(runId) };
  const alive = { dataSourceId: source.id, indexStatus: { not: 'DELETING' } };
  const missing = { ...alive, ...isMissing };
  const missingCount = await knowledgeItem.count({ where: missing });
  if (missingCount === 0) return { removed: [], heldCount: 0 };
  const isMost = missingCount * 2 > (await knowledgeItem.count({ where: alive }));
  const missingItems = await knowledgeItem.findMany({
    where: { ...missing, ...(isMost ? { missedRuns: { gt: 0 } } : {}) },
    select: { id: true },
  });
  const removedItems = await hideItems(
    tx,
    missingItems.map(({ id }) => id),
  );
  const { count: heldCount } = await knowledgeItem.updateMany({ where: missing, data: { missedRuns: { increment: 1 } } });
  return { removed: removedItems.map(({ id }) => ({ id, orgId, tenantId })), heldCount };
}

/**
 * Queues the items that an earlier run queued and that were not read: after a failure of the moment or of rights, or a cancellation. A listing of
 * changes names them only when they change again, and one that finds a folder or a repository unchanged does not name what it holds.
 */
async function requeueUnread(tx: Transaction, { id: runId, source, orgId, tenantId }: SyncLease): Promise<readonly OwnedId[]> {
  const { knowledgeItem } = tx.prisma;
  const isUnread: Prisma.KnowledgeItemWhereInput[] = [
    { indexStatus: 'CANCELLED' },
    { indexStatus: 'FAILED', OR: [{ isRetryable: true }, { errorCode: { in: [...triedEachRun] } }] },
    {
      indexStatus: 'INDEXED',
      listedKey: { not: null },
      OR: [{ changeKey: null }, { NOT: { changeKey: { equals: knowledgeItem.fields.listedKey } } }],
    },
  ];
  const rows = await knowledgeItem.updateManyAndReturn({
    where: {
      dataSourceId: source.id,
      missedRuns: 0,
      // What this run queued has had its turn.
      AND: [{ OR: [{ queuedRunId: null }, { queuedRunId: { not: runId } }] }, { OR: isUnread }],
    },
    data: { updatedAt: new Date(), indexStatus: 'QUEUED', indexPercentage: 0, attempt: 0, queuedRunId: runId },
    select: { id: true },
  });
  return rows.map(({ id }) => ({ id, orgId, tenantId }));
}
