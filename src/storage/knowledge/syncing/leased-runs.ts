import { type DataSourceType, isConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { SourceAccess } from '../../../entities/knowledge/permissions.ts';
import type { RunTrigger } from '../../../entities/knowledge/source-run.ts';
import { Prisma } from '../../generated/client.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { heldBy, LeaseLostError, takeLeased } from '../../ground/leases.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import type { AlsoInTransaction, OwnedId } from '../indexing/lease.ts';
import { hideItems } from '../items/states.ts';
import { isPeriodOver, openRuns } from '../sources/refresh-period.ts';
import { applyPage, goneMark } from './apply-page.ts';
import { triedEachRun } from './decide.ts';
import type { ExistingSyncItem, PageOutcome, RunEnd, SyncedPage, SyncLease } from './lease.ts';

/** A run as a job asks for it. */
export interface RunRequest {
  /** Of a new run. */
  readonly id: string;
  readonly owner: string;
  readonly leaseMs: number;
  readonly trigger: RunTrigger;
}

/** A run that was cut off this often is given up. */
const attemptsMax = 5;
const leaseEnded = { leaseOwner: null, leaseUntil: null, currentItem: null };

/** The runs that a process holds the lease of. */
export class LeasedRuns extends PublishingStore {
  /**
   * Begins a run, or goes on with one that was cut off.
   *
   * @returns `held` while another process lists the source. Undefined while the items of a run are indexed, and when there is nothing to do. In both
   * cases another run follows the present one, unless the trigger is the schedule.
   */
  async begin(dataSourceId: string, run: RunRequest): Promise<SyncLease | 'held' | undefined> {
    const lease = await this.db.transaction((tx) => takeRun(tx, dataSourceId, run));
    if (lease === undefined || lease === 'held') return lease;
    this.signals.publish('data-source-changed', dataSourceId);
    if (lease.attempt <= attemptsMax) return lease;
    await this.fail(lease, {
      code: 'INTERRUPTED',
      message: `Reading the source was cut off ${attemptsMax} times; refresh it to try again.`,
    });
    return undefined;
  }

  /** Stores the name of what is being read. @throws LeaseLostError */
  async show(lease: SyncLease, currentItem: string | null): Promise<void> {
    await writeRun(this.db, lease, { currentItem: currentItem?.slice(0, 500) ?? null });
    this.signals.publish('data-source-changed', lease.source.id);
  }

  async known(
    { id: runId, source }: Pick<SyncLease, 'id' | 'source'>,
    uniqueIds: readonly string[],
  ): Promise<readonly ExistingSyncItem[]> {
    const items = await this.db.prisma.knowledgeItem.findMany({
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
  }

  /** Stores a part of the listing. `also` gets the items to index. @throws LeaseLostError */
  async apply(lease: SyncLease, page: SyncedPage, also: AlsoInTransaction): Promise<PageOutcome> {
    const outcome = await this.db.transaction(async (tx) => {
      // A cancellation waits, and what it ends includes this page.
      await lockRow(tx, 'data_sources', lease.source.id);
      await noteProgress(tx, lease, page.place);
      return applyPage(tx, lease, page, also);
    });
    this.signals.publish('data-source-changed', lease.source.id);
    return outcome;
  }

  /**
   * Ends the listing. `remove` gets the items to remove; `index` those that earlier runs listed, that were not read, and that this run may not have
   * named. @throws LeaseLostError
   */
  async finish(
    lease: SyncLease,
    { isComplete, bound, state }: RunEnd,
    { remove, index }: { readonly remove: AlsoInTransaction; readonly index: AlsoInTransaction },
  ): Promise<void> {
    const dataSourceId = lease.source.id;
    await this.db.transaction(async (tx) => {
      await lockRow(tx, 'data_sources', dataSourceId);
      await writeRun(tx, lease, { isComplete, bound, place: Prisma.DbNull, ...leaseEnded });
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
    this.signals.publish('data-source-changed', dataSourceId);
  }

  /** Ends the run; what was indexed stays. @throws LeaseLostError */
  async fail(lease: SyncLease, { code, message }: { readonly code: string; readonly message: string }): Promise<void> {
    const dataSourceId = lease.source.id;
    await this.db.transaction(async (tx) => {
      await lockRow(tx, 'data_sources', dataSourceId);
      const now = new Date();
      const reason = { errorCode: code, errorMessage: message };
      await writeRun(tx, lease, { status: 'FAILED', endedAt: now, ...reason, ...leaseEnded });
      const data = { ...reason, lastSyncedAt: now, updatedAt: now };
      await tx.prisma.dataSource.update({ where: { id: dataSourceId }, data });
    });
    this.signals.publish('data-source-changed', dataSourceId);
  }

  /** Gives the lease back. `isCounted`: this attempt failed. `also` queues the job that goes on with the run. @throws LeaseLostError */
  async release(lease: SyncLease, isCounted: boolean, also?: AlsoInTransaction): Promise<void> {
    const { id, orgId, tenantId } = { ...lease, id: lease.source.id };
    await this.db.transaction(async (tx) => {
      await writeRun(tx, lease, { ...leaseEnded, ...(isCounted ? {} : { attempt: { decrement: 1 } }) });
      await also?.(tx, [{ id, orgId, tenantId }]);
    });
    this.signals.publish('data-source-changed', id);
  }
}

/** Takes the lease of the open run of a source, or of a new one. */
async function takeRun(
  tx: Transaction,
  dataSourceId: string,
  { id, owner, leaseMs, trigger }: RunRequest,
): Promise<SyncLease | 'held' | undefined> {
  await lockRow(tx, 'data_sources', dataSourceId);
  const sourceRow = await tx.prisma.dataSource.findUnique({
    where: { id: dataSourceId, deletingAt: null },
    select: sourceSelect,
  });
  const type = sourceRow?.type as DataSourceType;
  if (sourceRow === null || !isConnectedType(type)) return undefined;
  const { orgId, ownerUserId, isSyncForced, organization } = sourceRow;
  const isDue = sourceRow.errorCode !== 'AUTH' && isPeriodOver(sourceRow);
  const data = sourceRow.data as SyncLease['source']['data'];
  const source = {
    id: dataSourceId,
    ownerUserId,
    type,
    data,
    state: sourceRow.syncState,
    access: sourceRow.access as SourceAccess,
  };
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
  access: true,
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
