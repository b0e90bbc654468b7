import { connectedTypes, type DataSourceType, isConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import type { OwnedId } from '../indexing/store.ts';
import { cancelItems, openStates } from '../items/states.ts';
import { findDueSources, openRuns } from '../sources/refresh-period.ts';
import { createHolderWrites, type HolderWrites } from './holder.ts';
import type { SyncStore } from './store.ts';
import { addUploadRun, uploadRunEnd } from './upload-runs.ts';

export type { SyncedItem, SyncLease, SyncStore } from './store.ts';

export function createSyncStore(db: Database, signals: Signals): SyncStore {
  const announce = (dataSourceId: string) => signals.publish('data-source-changed', dataSourceId);
  return { ...createHolderWrites(db, announce), ...createSyncRuns(db, announce) };
}

/** What happens to runs that no process holds, and what people do with them. */
function createSyncRuns(db: Database, announce: (dataSourceId: string) => void): Omit<SyncStore, keyof HolderWrites> {
  return {
    async want(id, isForced, also) {
      await db.transaction(async (tx) => {
        const { dataSource } = tx.prisma;
        await lockRow(tx, 'data_sources', id);
        if (isForced) await dataSource.updateMany({ where: { id }, data: { isSyncForced: true } });
        const isRunning = { runs: { some: { status: { in: openRuns } } } };
        await dataSource.updateMany({ where: { id, ...isRunning }, data: { isSyncWanted: true } });
        await also(tx, await findOwners(tx, [id]));
      });
    },
    async closeEnded(dataSourceId, also) {
      if ((await findEndedRun(db, dataSourceId)) === undefined) return;
      await db.transaction(async (tx) => {
        const { sourceRun, knowledgeItem, dataSource } = tx.prisma;
        // Others that add items to the run wait here.
        await lockRow(tx, 'data_sources', dataSourceId);
        const run = await findEndedRun(tx, dataSourceId);
        if (run === undefined) return also(tx, []);
        const endedAt = new Date();
        const isListed = isConnectedType(run.dataSource.type as DataSourceType);
        const failureWhere = { dataSourceId, queuedRunId: run.id, indexStatus: 'FAILED' };
        const end = isListed
          ? { status: 'COMPLETED', failedCount: await knowledgeItem.count({ where: failureWhere }) }
          : await uploadRunEnd(tx, run);
        await sourceRun.update({ where: { id: run.id }, data: { ...end, endedAt } });
        await dataSource.update({ where: { id: dataSourceId }, data: { lastSyncedAt: endedAt } });
        const { isSyncWanted, deletingAt } = run.dataSource;
        await also(tx, isSyncWanted && deletingAt === null ? await findOwners(tx, [dataSourceId]) : []);
      });
      announce(dataSourceId);
    },
    findDue: () =>
      findDueSources(db, { type: { in: [...connectedTypes] }, OR: [{ errorCode: null }, { errorCode: { not: 'AUTH' } }] }),
    async cancel(dataSourceId) {
      const wasBusy = await db.transaction(async (tx) => {
        await lockRow(tx, 'data_sources', dataSourceId);
        const { count: runs } = await tx.prisma.sourceRun.updateMany({
          where: { dataSourceId, status: { in: openRuns } },
          data: {
            status: 'CANCELLED',
            endedAt: new Date(),
            currentItem: null,
            leaseOwner: null,
            leaseUntil: null,
            fence: { increment: 1 },
          },
        });
        const items = await cancelItems(tx, { dataSourceId });
        const now = new Date();
        const data = { isSyncWanted: false, isSyncForced: false, lastSyncedAt: now, updatedAt: now };
        await tx.prisma.dataSource.updateMany({ where: { id: dataSourceId }, data });
        return runs + items > 0;
      });
      announce(dataSourceId);
      return wasBusy;
    },
    async retryFailed(dataSourceId, runId, also) {
      await db.transaction(async (tx) => {
        await lockRow(tx, 'data_sources', dataSourceId);
        const items = await tx.prisma.knowledgeItem.updateManyAndReturn({
          where: { dataSourceId, indexStatus: { in: ['FAILED', 'CANCELLED'] } },
          data: { updatedAt: new Date(), indexStatus: 'QUEUED', indexPercentage: 0, attempt: 0, isForced: true },
          select: { id: true },
        });
        const itemIds = items.map(({ id }) => id);
        const run = { dataSourceId, trigger: 'REFRESH', isForced: true } as const;
        if (runId !== undefined) await addUploadRun(tx, { ...run, id: runId }, itemIds);
        const owners = await findOwners(tx, [dataSourceId]);
        await also(
          tx,
          owners.flatMap((owner) => itemIds.map((id) => ({ ...owner, id }))),
        );
      });
      announce(dataSourceId);
    },
    async reconnected({ id: connectionId, orgId, ownerUserId, installationId }, also) {
      const readsWith = [
        { data: { path: ['oauthTokenId'], equals: connectionId } },
        { data: { path: ['repoHostAppInstallationId'], equals: Number(installationId) }, orgId, ownerUserId },
      ];
      const sources = await db.transaction(async (tx) => {
        const rows = await tx.prisma.dataSource.updateManyAndReturn({
          where: { errorCode: 'AUTH', deletingAt: null, OR: installationId === null ? readsWith.slice(0, 1) : readsWith },
          data: { updatedAt: new Date(), errorCode: null, errorMessage: null },
          select: { id: true },
        });
        const ids = rows.map(({ id }) => id);
        await also(tx, await findOwners(tx, ids));
        return ids;
      });
      for (const id of sources) announce(id);
    },
  };
}

/** Sources with their organization and tenant. */
async function findOwners({ prisma }: Transaction, ids: readonly string[]): Promise<readonly OwnedId[]> {
  const sources = await prisma.dataSource.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, orgId: true, organization: { select: { tenantId: true } } },
  });
  return sources.map(({ id, orgId, organization: { tenantId } }) => ({ id, orgId, tenantId }));
}

/** The run of a source whose items are all indexed or failed. */
async function findEndedRun({ prisma }: Pick<Database, 'prisma'>, dataSourceId: string) {
  const run = await prisma.sourceRun.findFirst({
    where: { dataSourceId, status: 'INDEXING' },
    select: {
      id: true,
      dataSourceId: true,
      startedAt: true,
      dataSource: { select: { type: true, isSyncWanted: true, deletingAt: true } },
    },
  });
  if (run === null) return undefined;
  const where = { dataSourceId, queuedRunId: run.id, indexStatus: { in: [...openStates] } };
  const item = await prisma.knowledgeItem.findFirst({ where, select: { id: true } });
  return item === null ? run : undefined;
}
