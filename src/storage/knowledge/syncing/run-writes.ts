// Raw SQL: leases. Each write checks in the same statement that its lease is still the newest, by the time of the database.
import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { Database, Sql, Transaction } from '../../database/database.ts';
import { LeaseLostError, type OwnedId } from '../indexing/lease.ts';
import { syncDueSql } from '../refresh-period.ts';
import { decide, type StoredItem, triedEachRun } from './decide.ts';
import type { AlsoInTransaction, PageOutcome, SyncedItem, SyncedPage, SyncLease, SyncStore } from './lease.ts';

export type RunWrites = Pick<SyncStore, 'begin' | 'renew' | 'known' | 'apply' | 'finish' | 'fail' | 'release'>;

/** A run that was cut off this often is given up. */
const attemptsMax = 5;

/** @param announce  signals to readers of a source that it changed. */
export function createRunWrites(db: Database, announce: (dataSourceId: string) => void): RunWrites {
  const { prisma } = db;

  async function leased(
    tx: Sql,
    { runId, owner, fence }: SyncLease,
    set: string,
    values: readonly unknown[] = [],
  ): Promise<void> {
    const rowCount = await tx.execute(
      `update source_runs set ${set} where id = $1 and "leaseOwner" = $2 and fence = $3 and status = 'LISTING'`,
      [runId, owner, fence, ...values],
    );
    if (rowCount !== 1) throw new LeaseLostError(`the lease of ${runId} is lost`);
  }
  const until = (placeholder: string) => `"leaseUntil" = now() + ${placeholder}::int * interval '1 millisecond'`;

  const writes: RunWrites = {
    async begin(dataSourceId, { id, owner, leaseMs, trigger }) {
      const lease = await db.transaction(async (tx) => {
        const rows = await tx.query<SourceRow>(
          `select s.id, s."orgId", s."ownerUserId", s.type, s.data, s."syncState" as state, s."isSyncForced", o."tenantId",
             ${syncDueSql} as "isDue"
           from data_sources s join organizations o on o.id = s."orgId" where s.id = $1 and s."deletingAt" is null for update of s`,
          [dataSourceId],
        );
        const [found] = rows;
        if (found === undefined) return undefined;
        const { isSyncForced, isDue, orgId, tenantId, ...source } = found;
        const runs = await tx.query<RunRow>(
          `select id, status, fence, attempt, "isForced", place, "leaseUntil" > now() as "isHeld" from source_runs
           where "dataSourceId" = $1 and status in ('LISTING', 'INDEXING')`,
          [dataSourceId],
        );
        const [run] = runs;
        // Another process may have queued the same refresh: one period makes one run.
        const isScheduled = trigger === 'SCHEDULE';
        if (run === undefined && isScheduled && !isDue) return undefined;
        if (run !== undefined && (run.status === 'INDEXING' || run.isHeld === true)) {
          if (isScheduled) return undefined;
          await tx.execute('update data_sources set "isSyncWanted" = true where id = $1', [dataSourceId]);
          return undefined;
        }
        const common = { owner, orgId, tenantId, source };
        if (run !== undefined) {
          await tx.execute(
            `update source_runs set "leaseOwner" = $2, ${until('$3')}, fence = fence + 1, attempt = attempt + 1 where id = $1`,
            [run.id, owner, leaseMs],
          );
          const { fence, attempt, isForced } = run;
          return { ...common, runId: run.id, fence: fence + 1, attempt: attempt + 1, isForced, place: run.place ?? undefined };
        }
        await tx.execute(
          `insert into source_runs (id, "dataSourceId", trigger, "isForced", "leaseOwner", "leaseUntil", fence, attempt)
           values ($1, $2, $3, $4, $5, now() + $6::int * interval '1 millisecond', 1, 1)`,
          [id, dataSourceId, trigger, isSyncForced, owner, leaseMs],
        );
        await tx.execute('update data_sources set "isSyncWanted" = false, "isSyncForced" = false where id = $1', [dataSourceId]);
        return { ...common, runId: id, fence: 1, attempt: 1, isForced: isSyncForced, place: undefined };
      });
      if (lease === undefined) return undefined;
      announce(dataSourceId);
      if (lease.attempt <= attemptsMax) return lease;
      await writes.fail(lease, {
        code: 'INTERRUPTED',
        message: `Reading the source was cut off ${attemptsMax} times; refresh it to try again.`,
      });
      return undefined;
    },
    async renew(lease, currentItem, leaseMs) {
      await leased(db, lease, `"currentItem" = $4, ${until('$5')}`, [currentItem?.slice(0, 500) ?? null, leaseMs]);
      announce(lease.source.id);
    },
    async known({ runId, source }, uniqueIds) {
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
    async apply(lease, page, leaseMs, also) {
      const outcome = await db.transaction(async (tx) => {
        // Locks the run first: a cancellation waits, and what it ends includes this page.
        // A run that got further counts its attempts anew: only one that is cut off at the same place again and again is given up.
        const further = "attempt = case when $4::jsonb in (place, 'null') then attempt else 1 end";
        await leased(tx, lease, `place = $4::jsonb, ${further}, ${until('$5')}`, [JSON.stringify(page.place ?? null), leaseMs]);
        return applyPage(tx, lease, page, also);
      });
      announce(lease.source.id);
      return outcome;
    },
    async finish(lease, { isComplete, bound, state }, { remove, index }) {
      const dataSourceId = lease.source.id;
      await db.transaction(async (tx) => {
        await leased(tx, lease, `"isComplete" = $4, bound = $5, place = null, "currentItem" = null`, [isComplete, bound]);
        const { removed, heldCount } = await removeMissing(tx, lease, isComplete);
        const end = await endOf(tx, dataSourceId, bound);
        await tx.execute(
          `update source_runs set status = $4, "listedAt" = now(), "leaseOwner" = null, "leaseUntil" = null, "removedCount" = $2, "heldCount" = $3,
             "endedAt" = case when $4 = 'FAILED' then now() end, "errorCode" = case when $4 = 'FAILED' then $5 end,
             "errorMessage" = case when $4 = 'FAILED' then $6 end where id = $1`,
          [lease.runId, removed.length, heldCount, end.status, end.code, end.message],
        );
        await tx.execute(
          `update data_sources set "updatedAt" = now(), "errorCode" = $2, "errorMessage" = $3,
             "syncState" = case when $4 then $5::jsonb else "syncState" end,
             "lastSyncedAt" = case when $6 = 'FAILED' then now() else "lastSyncedAt" end where id = $1`,
          [dataSourceId, end.code, end.message, state !== undefined, JSON.stringify(state ?? null), end.status],
        );
        await remove(tx, removed);
        await index(tx, isComplete ? [] : await requeueUnread(tx, lease));
      });
      announce(dataSourceId);
    },
    async fail(lease, { code, message }) {
      const dataSourceId = lease.source.id;
      await db.transaction(async (tx) => {
        await leased(
          tx,
          lease,
          `status = 'FAILED', "endedAt" = now(), "leaseOwner" = null, "leaseUntil" = null, "currentItem" = null, "errorCode" = $4, "errorMessage" = $5`,
          [code, message],
        );
        await tx.execute(
          `update data_sources set "updatedAt" = now(), "errorCode" = $2, "errorMessage" = $3, "lastSyncedAt" = now() where id = $1`,
          [dataSourceId, code, message],
        );
      });
      announce(dataSourceId);
    },
    async release(lease, isCounted) {
      const attempt = isCounted ? 'attempt' : 'attempt - 1';
      await leased(db, lease, `"leaseOwner" = null, "leaseUntil" = now(), "currentItem" = null, attempt = ${attempt}`);
      announce(lease.source.id);
    },
  };
  return writes;
}

/** How a listing ends: a source that has no item has nothing to index, and its run is over. */
async function endOf(
  tx: Transaction,
  dataSourceId: string,
  bound: string | null,
): Promise<{ readonly status: 'INDEXING' | 'FAILED'; readonly code: string | null; readonly message: string | null }> {
  if (bound !== null) {
    const message = `The source was read up to its limit ${bound}; what lies behind it is not indexed.`;
    return { status: 'INDEXING', code: 'BOUND_REACHED', message };
  }
  const rows = await tx.query(`select 1 from knowledge_items where "dataSourceId" = $1 and "indexStatus" <> 'DELETING' limit 1`, [
    dataSourceId,
  ]);
  if (rows.length > 0) return { status: 'INDEXING', code: null, message: null };
  const message = 'The service lists no document for this source: it is empty, or the connected account sees nothing of it.';
  return { status: 'FAILED', code: 'NOTHING_LEFT', message };
}

interface SourceRow extends OwnedId {
  readonly ownerUserId: string;
  readonly type: ConnectedType;
  readonly data: Readonly<Record<string, unknown>>;
  readonly state: unknown;
  readonly isSyncForced: boolean;
  readonly isDue: boolean;
}
interface RunRow {
  readonly id: string;
  readonly status: string;
  readonly fence: number;
  readonly attempt: number;
  readonly isForced: boolean;
  readonly place: unknown;
  readonly isHeld: boolean | null;
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
  const { runId, source, orgId, tenantId, isForced } = lease;
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
    if (decision === 'changed') queued.push({ id: known.id, orgId, tenantId });
    // What a changed item had is never read again: content that did not come with the listing is fetched. A process that reads it now finds it gone,
    // and reads the item once more.
    const unused = decision === 'unchanged' ? item.contentBlobKey : known.contentBlobKey;
    if (unused !== null) unusedBlobKeys.push(unused);
  }
  if (added.length > 0) await tx.execute(insertSql, [JSON.stringify(added), orgId, source.id, source.type, runId]);
  if (updated.length > 0) await tx.execute(updateSql, [JSON.stringify(updated), runId, isForced]);
  if (unchangedIds.length + unchangedParents.length > 0) {
    const rowCount = await tx.execute(
      `update knowledge_items set "seenRunId" = $2, "missedRuns" = 0, "lastCheckedAt" = now()
       where "dataSourceId" = $1 and "indexStatus" <> 'DELETING'
         and ("uniqueId" = any($3::text[]) or ("parentUniqueId" = any($4::text[]) and "missedRuns" = 0))`,
      [source.id, runId, unchangedIds, unchangedParents],
    );
    counts.unchanged += rowCount ?? 0;
    listedCount += rowCount ?? 0;
  }
  if (goneIds.length > 0) {
    await tx.execute(
      `update knowledge_items set "seenRunId" = $2 where "dataSourceId" = $1 and "uniqueId" = any($3::text[]) and "indexStatus" <> 'DELETING'`,
      [source.id, goneMark(runId), goneIds],
    );
  }
  await tx.execute(
    `update source_runs set "listedCount" = "listedCount" + $2, "addedCount" = "addedCount" + $3, "changedCount" = "changedCount" + $4,
       "unchangedCount" = "unchangedCount" + $5, "skippedCount" = "skippedCount" + $6 where id = $1`,
    [runId, listedCount, counts.added, counts.changed, counts.unchanged, counts.skipped],
  );
  await also(tx, queued);
  return { queued, unusedBlobKeys };
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
  { runId, source, orgId, tenantId }: SyncLease,
  isComplete: boolean,
): Promise<{ readonly removed: readonly OwnedId[]; readonly heldCount: number }> {
  const missing = isComplete ? 'i."seenRunId" is distinct from $2' : 'i."seenRunId" = $2';
  const values = [source.id, isComplete ? runId : goneMark(runId)];
  const kept = `i."dataSourceId" = $1 and i."indexStatus" <> 'DELETING'`;
  const rows = await tx.query<{ total: number; missing: number }>(
    `select count(*)::int as total, count(*) filter (where ${missing})::int as missing from knowledge_items i where ${kept}`,
    values,
  );
  const [count = { total: 0, missing: 0 }] = rows;
  if (count.missing === 0) return { removed: [], heldCount: 0 };
  const isMost = count.missing * 2 > count.total;
  const removed = await tx.query<{ id: string }>(
    `update knowledge_items i set "updatedAt" = now(), "indexStatus" = 'DELETING', "liveGeneration" = null, "uniqueId" = i.id, "leaseOwner" = null,
       "leaseUntil" = null, "lastGeneration" = "lastGeneration" + 1
     where ${kept} and ${missing} and (not $3 or i."missedRuns" > 0) returning i.id`,
    [...values, isMost],
  );
  const rowCount = await tx.execute(
    `update knowledge_items i set "missedRuns" = "missedRuns" + 1 where ${kept} and ${missing}`,
    values,
  );
  return { removed: removed.map(({ id }) => ({ id, orgId, tenantId })), heldCount: rowCount ?? 0 };
}

/**
 * Queues the items that an earlier run listed and that were not read: after a failure of the moment or of rights, or a cancellation. A listing of changes names them
 * only when they change again.
 */
async function requeueUnread(tx: Transaction, { runId, source, orgId, tenantId }: SyncLease): Promise<readonly OwnedId[]> {
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
