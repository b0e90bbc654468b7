// Raw SQL: one statement checks the state of runs and items and changes it, by the time of the database.
import type { SourceRun, SourceRunStatus } from '../../../entities/knowledge/source-run.ts';
import { pageOf } from '../../../entities/page.ts';
import type { Database } from '../../database/database.ts';
import type { Signals } from '../../database/signals/signals.ts';
import { lockRow } from '../../database/sql/locks.ts';
import { leaseSql } from '../../leases.ts';
import type { OwnedId } from '../indexing/store.ts';
import { syncDueSql } from '../refresh-period.ts';
import { createHolderWrites, type HolderWrites } from './holder.ts';
import type { SyncStore } from './store.ts';
import { addUploadRun, uploadCountsSql } from './upload-runs.ts';

export type { SyncedItem, SyncLease, SyncStore } from './store.ts';

const busy = `('INITIALIZED', 'QUEUED', 'FETCHING', 'PARSING', 'INDEXING')`;

/** The run `r` of a source whose items are all indexed or failed. */
const endedRun = `r."dataSourceId" = $1 and r.status = 'INDEXING' and not exists (
  select 1 from knowledge_items i where i."dataSourceId" = r."dataSourceId" and i."queuedRunId" = r.id and i."indexStatus" in ${busy})`;

const ofGivenSource = `exists (select 1 from data_sources s where s.id = r."dataSourceId" and s.type in ('API', 'FILE_UPLOAD'))`;

export function createSyncStore(db: Database, signals: Signals): SyncStore {
  const announce = (dataSourceId: string) => signals.publish('data-source-changed', dataSourceId);
  return { ...createHolderWrites(db, announce), ...createSyncRuns(db, announce) };
}

/** What happens to runs that no process holds, and what people do with them. */
function createSyncRuns(db: Database, announce: (dataSourceId: string) => void): Omit<SyncStore, keyof HolderWrites> {
  const { prisma } = db;

  return {
    async want(dataSourceId, isForced, also) {
      await db.transaction(async (tx) => {
        const rows = await tx.query<OwnedId>(
          `update data_sources s set "isSyncForced" = "isSyncForced" or $2, "isSyncWanted" = "isSyncWanted" or exists (
             select 1 from source_runs r where r."dataSourceId" = $1 and r.status in ('LISTING', 'INDEXING'))
           from organizations o where o.id = s."orgId" and s.id = $1 returning s.id, s."orgId", o."tenantId"`,
          [dataSourceId, isForced],
        );
        await also(tx, rows);
      });
    },
    async closeEnded(dataSourceId, also) {
      const [ended] = await db.query(`select 1 from source_runs r where ${endedRun}`, [dataSourceId]);
      if (ended === undefined) return;
      await db.transaction(async (tx) => {
        const rows = await tx.query<OwnedId & { readonly isWanted: boolean }>(
          `with listed as (
             update source_runs r set status = 'COMPLETED', "endedAt" = now(), "failedCount" = (
               select count(*) from knowledge_items i where i."dataSourceId" = r."dataSourceId" and i."queuedRunId" = r.id and i."indexStatus" = 'FAILED')
             where ${endedRun} and not ${ofGivenSource} returning r."dataSourceId"
           ), given as (
             update source_runs r set status = case when counts.failed > 0 and counts.failed = counts.listed then 'FAILED' else 'COMPLETED' end,
               "endedAt" = now(), "listedCount" = counts.listed, "addedCount" = counts.added, "changedCount" = counts.changed,
               "unchangedCount" = counts.unchanged, "skippedCount" = counts.skipped, "removedCount" = counts.removed,
               "failedCount" = counts.failed, "errorCode" = counts.code, "errorMessage" = counts.message
             from source_runs open cross join lateral (${uploadCountsSql}) as counts
             where r.id = open.id and ${endedRun} and ${ofGivenSource} returning r."dataSourceId"
           ), ended as (
             select "dataSourceId" from listed union select "dataSourceId" from given
           )
           update data_sources s set "lastSyncedAt" = now() from ended, organizations o
           where s.id = ended."dataSourceId" and o.id = s."orgId"
           returning s.id, s."orgId", o."tenantId", s."isSyncWanted" and s."deletingAt" is null as "isWanted"`,
          [dataSourceId],
        );
        await also(
          tx,
          rows.filter(({ isWanted }) => isWanted),
        );
      });
      announce(dataSourceId);
    },
    async findDue() {
      return db.query<OwnedId>(
        `select s.id, s."orgId", o."tenantId" from data_sources s join organizations o on o.id = s."orgId"
         where s."deletingAt" is null and ${syncDueSql} limit 500`,
      );
    },
    async cancel(dataSourceId) {
      const wasBusy = await db.transaction(async (tx) => {
        await lockRow(tx, 'data_sources', dataSourceId);
        const { count: runs } = await tx.prisma.sourceRun.updateMany({
          where: { dataSourceId, status: { in: ['LISTING', 'INDEXING'] } },
          data: {
            status: 'CANCELLED',
            endedAt: new Date(),
            currentItem: null,
            leaseOwner: null,
            leaseUntil: null,
            fence: { increment: 1 },
          },
        });
        // What answers already goes on answering. A process that indexes an item loses its lease.
        const items = await tx.execute(
          `update knowledge_items set "updatedAt" = now(), ${leaseSql.ended('item')}, "isRunWanted" = false, "isForced" = false,
             attempt = 0, "indexPercentage" = 100, "needsCleaning" = true,
             "lastGeneration" = "lastGeneration" + case when "indexStatus" in ('FETCHING', 'PARSING', 'INDEXING') then 1 else 0 end,
             "indexStatus" = case when "liveGeneration" is null then 'CANCELLED' else 'INDEXED' end
           where "dataSourceId" = $1 and "indexStatus" in ${busy}`,
          [dataSourceId],
        );
        const data = { isSyncWanted: false, isSyncForced: false, lastSyncedAt: new Date() };
        await tx.prisma.dataSource.updateMany({ where: { id: dataSourceId }, data });
        return runs + items > 0;
      });
      announce(dataSourceId);
      return wasBusy;
    },
    async retryFailed(dataSourceId, runId, also) {
      await db.transaction(async (tx) => {
        const retried = await tx.query<OwnedId>(
          `update knowledge_items i set "updatedAt" = now(), "indexStatus" = 'QUEUED', "indexPercentage" = 0, attempt = 0, "isForced" = true
         from organizations o where o.id = i."orgId" and i."dataSourceId" = $1 and i."indexStatus" in ('FAILED', 'CANCELLED')
         returning i.id, i."orgId", o."tenantId"`,
          [dataSourceId],
        );
        const itemIds = retried.map(({ id }) => id);
        const run = { dataSourceId, trigger: 'REFRESH', isForced: true } as const;
        if (runId !== undefined) await addUploadRun(tx, { ...run, id: runId }, itemIds);
        await also(tx, retried);
      });
      announce(dataSourceId);
    },
    async reconnected({ id: connectionId, orgId, ownerUserId, installationId }, also) {
      const sources = await db.transaction(async (tx) => {
        const rows = await tx.query<OwnedId>(
          `update data_sources s set "updatedAt" = now(), "errorCode" = null, "errorMessage" = null from organizations o
           where o.id = s."orgId" and s."errorCode" = 'AUTH' and s."deletingAt" is null
             and (s.data->>'oauthTokenId' = $1 or (s.data->>'repoHostAppInstallationId' = $2 and s."orgId" = $3 and s."ownerUserId" = $4))
           returning s.id, s."orgId", o."tenantId"`,
          [connectionId, installationId === null ? null : String(installationId), orgId, ownerUserId],
        );
        await also(tx, rows);
        return rows;
      });
      for (const { id } of sources) announce(id);
    },
    async runs(dataSourceId, page) {
      const [time = '', id] = page.after?.map(String) ?? [];
      const startedAt = new Date(time);
      const after = id === undefined ? {} : { OR: [{ startedAt: { lt: startedAt } }, { startedAt, id: { lt: id } }] };
      const rows = await prisma.sourceRun.findMany({
        where: { dataSourceId, ...after },
        orderBy: [{ startedAt: 'desc' }, { id: 'desc' }],
        take: page.limit + 1,
        omit: { place: true, attempt: true, leaseOwner: true, leaseUntil: true, fence: true },
      });
      const runs = rows.map((row) => ({
        ...row,
        trigger: row.trigger as SourceRun['trigger'],
        status: row.status as SourceRunStatus,
      }));
      return pageOf(
        runs,
        page,
        (run) => [run.startedAt.toISOString(), run.id],
        () => prisma.sourceRun.count({ where: { dataSourceId } }),
      );
    },
  };
}
