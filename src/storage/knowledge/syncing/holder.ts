// Raw SQL: leases. Each write checks in the same statement that its lease is still the newest, by the time of the database.
import type { DataSourceType } from '../../../entities/knowledge/data-source.ts';
import { isConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { Database, Transaction } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';
import { leaseSql, writeLeased } from '../../leases.ts';
import type { AlsoInTransaction, OwnedId } from '../indexing/store.ts';
import { syncDueSql } from '../refresh-period.ts';
import { decide, type StoredItem, triedEachRun } from './decide.ts';
import type { PageOutcome, SyncedItem, SyncedPage, SyncLease, SyncStore } from './store.ts';

/** The writes of a process that holds a run's lease. */
export type HolderWrites = Pick<SyncStore, 'begin' | 'show' | 'known' | 'apply' | 'finish' | 'fail' | 'release'>;

/** A run that was cut off this often is given up. */
const attemptsMax = 5;

/** @param announce  signals to readers of a source that it changed. */
export function createHolderWrites(db: Database, announce: (dataSourceId: string) => void): HolderWrites {
  const { prisma } = db;
  const ended = `${leaseSql.ended('sourceRun')}, "currentItem" = null`;

  const writes: HolderWrites = {
    async begin(dataSourceId, { id, owner, leaseMs, trigger }) {
      const lease = await db.transaction(async (tx) => {
        const [found] = await tx.query<SourceRow>(
          `select s.id, s."orgId", s."ownerUserId", s.type, s.data, s."syncState" as state, s."isSyncForced", o."tenantId",
             ${syncDueSql} as "isDue"
           from data_sources s join organizations o on o.id = s."orgId" where s.id = $1 and s."deletingAt" is null for update of s`,
          [dataSourceId],
        );
        if (found === undefined || !isConnectedType(found.type)) return undefined;
        const { isSyncForced, isDue, orgId, tenantId, type, ...source } = found;
        const status = { in: ['LISTING', 'INDEXING'] };
        const open = await tx.prisma.sourceRun.findFirst({ where: { dataSourceId, status }, select: { id: true, status: true } });
        const isScheduled = trigger === 'SCHEDULE';
        if (open === null) {
          // Another process may have queued the same refresh: one period makes one run.
          if (isScheduled && !isDue) return undefined;
          await tx.prisma.sourceRun.create({ data: { id, dataSourceId, trigger, isForced: isSyncForced } });
        }
        const [run] = await tx.query<RunRow>(
          `update source_runs set ${leaseSql.taken('sourceRun', '$2', '$3')}, attempt = attempt + 1
           where id = $1 and status = 'LISTING' and ${leaseSql.isFree('sourceRun', '$2')} returning id, fence, attempt, "isForced", place`,
          [open?.id ?? id, owner, leaseMs],
        );
        const isWanted = run === undefined && !isScheduled;
        if (open === null || isWanted) {
          await tx.execute('update data_sources set "isSyncWanted" = $2, "isSyncForced" = "isSyncForced" and $2 where id = $1', [
            dataSourceId,
            isWanted,
          ]);
        }
        if (run === undefined) return open?.status === 'LISTING' ? 'held' : undefined;
        return { ...run, owner, orgId, tenantId, place: run.place ?? undefined, source: { ...source, type } };
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
      await writeLeased(db, 'sourceRun', lease, `"currentItem" = $4`, [currentItem?.slice(0, 500) ?? null]);
      announce(lease.source.id);
    },
    async known({ id: runId, source }, uniqueIds) {
      const items = await prisma.knowledgeItem.findMany({
        where: { dataSourceId: source.id, uniqueId: { in: [...uniqueIds] }, indexStatus: { not: 'DELETING' } },
        select: { uniqueId: true, changeKey: true, metadata: true, liveGeneration: true, parentUniqueId: true, seenRunId: true },
      });
      return items.map(({ liveGeneration, metadata, seenRunId, ...item }) => ({
        ...item,
        metadata: metadata as Readonly<Record<string, unknown>>,
        isIndexed: liveGeneration !== null,
        isListed: seenRunId === runId,
      }));
    },
    async apply(lease, page, also) {
      const outcome = await db.transaction(async (tx) => {
        // Locks the run first: a cancellation waits, and what it ends includes this page.
        // A run that got further counts its attempts anew: only one that is cut off at the same place again and again is given up.
        const further = "attempt = case when $4::jsonb in (place, 'null') then attempt else 1 end";
        await writeLeased(tx, 'sourceRun', lease, `place = $4::jsonb, ${further}`, [JSON.stringify(page.place ?? null)]);
        return applyPage(tx, lease, page, also);
      });
      announce(lease.source.id);
      return outcome;
    },
    async finish(lease, { isComplete, bound, state }, { remove, index }) {
      const dataSourceId = lease.source.id;
      await db.transaction(async (tx) => {
        await writeLeased(tx, 'sourceRun', lease, `"isComplete" = $4, bound = $5, place = null, ${ended}`, [isComplete, bound]);
        const { removed, heldCount } = await removeMissing(tx, lease, isComplete);
        const { status, ...reason } = await endOf(tx, dataSourceId, bound);
        const now = new Date();
        await tx.prisma.sourceRun.update({
          where: { id: lease.id },
          data: {
            ...{ status, listedAt: now, removedCount: removed.length, heldCount },
            ...(status === 'FAILED' ? { endedAt: now, ...reason } : {}),
          },
        });
        await tx.prisma.dataSource.update({
          where: { id: dataSourceId },
          data: {
            ...reason,
            ...(state === undefined ? {} : { syncState: state as Prisma.InputJsonValue }),
            ...(status === 'FAILED' ? { lastSyncedAt: now } : {}),
          },
        });
        await remove(tx, removed);
        await index(tx, isComplete ? [] : await requeueUnread(tx, lease));
      });
      announce(dataSourceId);
    },
    async fail(lease, { code, message }) {
      const dataSourceId = lease.source.id;
      await db.transaction(async (tx) => {
        const failed = `status = 'FAILED', "endedAt" = now(), ${ended}, "errorCode" = $4, "errorMessage" = $5`;
        await writeLeased(tx, 'sourceRun', lease, failed, [code, message]);
        const reason = { errorCode: code, errorMessage: message };
        await tx.prisma.dataSource.update({ where: { id: dataSourceId }, data: { ...reason, lastSyncedAt: new Date() } });
      });
      announce(dataSourceId);
    },
    async release(lease, isCounted, also) {
      const { id, orgId, tenantId } = { ...lease, id: lease.source.id };
      const attempt = isCounted ? 'attempt' : 'attempt - 1';
      await db.transaction(async (tx) => {
        await writeLeased(tx, 'sourceRun', lease, `${ended}, attempt = ${attempt}`);
        await also?.(tx, [{ id, orgId, tenantId }]);
      });
      announce(id);
    },
  };
  return writes;
}

/** How a listing ends: a source that has no item has nothing to index, and its run is over. */
async function endOf(
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

interface SourceRow extends OwnedId {
  readonly ownerUserId: string;
  readonly type: DataSourceType;
  readonly data: Readonly<Record<string, unknown>>;
  readonly state: unknown;
  readonly isSyncForced: boolean;
  readonly isDue: boolean;
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

async function applyPage(
  tx: Transaction,
  lease: SyncLease,
  { items, goneIds, unchangedIds, unchangedParents }: SyncedPage,
  also: AlsoInTransaction,
): Promise<PageOutcome> {
  const { id: runId, source, orgId, tenantId, isForced } = lease;
  // The last of two with one id wins: services repeat an item that changed while they listed it.
  const listed = [...new Map(items.map((item) => [item.uniqueId, item])).values()].sort((a, b) =>
    a.uniqueId < b.uniqueId ? -1 : 1,
  );
  const rows = await tx.query<StoredRow>(
    `select id, "uniqueId", "indexStatus", "changeKey", "listedKey", "liveGeneration", "isRetryable", "errorCode", "contentBlobKey" from knowledge_items
     where "dataSourceId" = $1 and "uniqueId" = any($2::text[]) and "indexStatus" <> 'DELETING' order by "uniqueId" for update`,
    [source.id, listed.map(({ uniqueId }) => uniqueId)],
  );
  const stored = new Map(rows.map((row) => [row.uniqueId, row]));
  const counts = { added: 0, changed: 0, unchanged: 0, skipped: 0, failed: 0 };
  const unusedBlobKeys: string[] = [];
  let listedCount = listed.length;
  const queued: OwnedId[] = [];
  const added: object[] = [];
  const updated: object[] = [];
  for (const item of listed) {
    const known = stored.get(item.uniqueId);
    const decision = decide(known, item, isForced);
    counts[decision === 'again' ? 'changed' : decision] += 1;
    const isUnread = item.unread !== null;
    const status = item.unread?.status ?? 'QUEUED';
    if (known === undefined) {
      added.push({ ...rowOf(item), id: item.newId, indexStatus: status, isQueued: !isUnread });
      if (!isUnread) queued.push({ id: item.newId, orgId, tenantId });
      continue;
    }
    const isSubagentRecord = decision === 'unchanged' || decision === 'again';
    updated.push({ ...rowOf(item), id: known.id, decision, status: isSubagentRecord ? null : status });
    // The job of an item that is left out removes its passages.
    if (decision === 'changed' || isUnread) queued.push({ id: known.id, orgId, tenantId });
    // What a changed item had is never read again: content that did not come with the listing is fetched. A process that reads it now finds it gone,
    // and reads the item once more.
    const unused = decision === 'unchanged' ? item.contentBlobKey : known.contentBlobKey;
    if (unused !== null) unusedBlobKeys.push(unused);
  }
  if (added.length > 0) await tx.execute(insertSql, [JSON.stringify(added), orgId, source.id, source.type, runId]);
  if (updated.length > 0) await tx.execute(updateSql, [JSON.stringify(updated), runId, isForced]);
  const alive = { dataSourceId: source.id, indexStatus: { not: 'DELETING' } };
  if (unchangedIds.length + unchangedParents.length > 0) {
    const unchangedCount = await tx.execute(
      `update knowledge_items set "seenRunId" = $2, "missedRuns" = 0, "lastCheckedAt" = now()
       where "dataSourceId" = $1 and "indexStatus" <> 'DELETING'
         and ("uniqueId" = any($3::text[]) or ("parentUniqueId" = any($4::text[]) and "missedRuns" = 0))`,
      [source.id, runId, unchangedIds, unchangedParents],
    );
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
  await also(tx, queued);
  return { unusedBlobKeys };
}

/** What stands in `seenRunId` of an item that the service itself calls deleted. */
function goneMark(runId: string): string {
  return `gone ${runId}`;
}

function rowOf(item: SyncedItem): object {
  const { newId: _newId, unread, ...row } = item;
  return { ...row, errorCode: unread?.code ?? null, errorMessage: unread?.message ?? null };
}

const given = `jsonb_to_recordset($1::jsonb) as g(id text, "uniqueId" text, "parentUniqueId" text, name text, "contentUrl" text, "listedKey" text,
  filename text, "mimeType" text, "sizeBytes" bigint, metadata jsonb, "contentBlobKey" text, "errorCode" text, "errorMessage" text`;

const insertSql = `insert into knowledge_items (id, "orgId", "dataSourceId", type, "updatedAt", "uniqueId", "parentUniqueId", name, "contentUrl",
    "listedKey", filename, "mimeType", "sizeBytes", metadata, "contentBlobKey", "isContentStoredExternally", "errorCode", "errorMessage",
    "indexStatus", "seenRunId", "queuedRunId", "lastCheckedAt", "indexPercentage")
  select g.id, $2, $3, $4, now(), g."uniqueId", g."parentUniqueId", g.name, g."contentUrl",
    g."listedKey", g.filename, g."mimeType", g."sizeBytes", g.metadata, g."contentBlobKey", g."contentBlobKey" is null, g."errorCode", g."errorMessage",
    g."indexStatus", $5, case when g."indexStatus" <> 'SKIPPED' then $5 end, now(), case when g."isQueued" then 0 else 100 end
  from ${given}, "indexStatus" text, "isQueued" boolean)`;

const isUnread = `(g.decision in ('skipped', 'failed'))`;

/** An item that is left out, or that its service does not give any more, answers no more: its passages are removed with its generation. */
const updateSql = `update knowledge_items i set "updatedAt" = now(), name = g.name, "parentUniqueId" = g."parentUniqueId", "contentUrl" = g."contentUrl",
    filename = g.filename, "mimeType" = case when g.decision = 'unchanged' then i."mimeType" else g."mimeType" end, "sizeBytes" = g."sizeBytes",
    metadata = i.metadata - 'skippedReason' || g.metadata, "seenRunId" = $2, "missedRuns" = 0, "lastCheckedAt" = now(),
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
  from ${given}, decision text, status text)
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
  const missing = isComplete ? 'i."seenRunId" is distinct from $2' : 'i."seenRunId" = $2';
  const values = [source.id, isComplete ? runId : goneMark(runId)];
  const kept = `i."dataSourceId" = $1 and i."indexStatus" <> 'DELETING'`;
  const [count = { total: 0, missing: 0 }] = await tx.query<{ total: number; missing: number }>(
    `select count(*)::int as total, count(*) filter (where ${missing})::int as missing from knowledge_items i where ${kept}`,
    values,
  );
  if (count.missing === 0) return { removed: [], heldCount: 0 };
  const isMost = count.missing * 2 > count.total;
  const removed = await tx.query<{ id: string }>(
    `update knowledge_items i set "updatedAt" = now(), "indexStatus" = 'DELETING', "liveGeneration" = null, "uniqueId" = i.id, "leaseOwner" = null,
       "leaseUntil" = null, "lastGeneration" = "lastGeneration" + 1
     where ${kept} and ${missing} and (not $3 or i."missedRuns" > 0) returning i.id`,
    [...values, isMost],
  );
  const heldCount = await tx.execute(
    `update knowledge_items i set "missedRuns" = "missedRuns" + 1 where ${kept} and ${missing}`,
    values,
  );
  return { removed: removed.map(({ id }) => ({ id, orgId, tenantId })), heldCount };
}

/**
 * Queues the items that an earlier run listed and that were not read: after a failure of the moment or of rights, or a cancellation. A listing of changes names them
 * only when they change again.
 */
async function requeueUnread(tx: Transaction, { id: runId, source, orgId, tenantId }: SyncLease): Promise<readonly OwnedId[]> {
  const rows = await tx.query<{ id: string }>(
    `update knowledge_items i set "updatedAt" = now(), "indexStatus" = 'QUEUED', "indexPercentage" = 0, attempt = 0, "queuedRunId" = $2
     where i."dataSourceId" = $1 and i."seenRunId" is distinct from $2 and i."missedRuns" = 0
       and (i."indexStatus" = 'CANCELLED' or (i."indexStatus" = 'FAILED' and (i."isRetryable" or i."errorCode" = any($3::text[])))
         or (i."indexStatus" = 'INDEXED' and i."listedKey" is not null and i."changeKey" is distinct from i."listedKey"))
     returning i.id`,
    [source.id, runId, triedEachRun],
  );
  return rows.map(({ id }) => ({ id, orgId, tenantId }));
}
