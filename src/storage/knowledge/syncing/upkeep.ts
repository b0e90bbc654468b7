// Raw SQL: one statement checks the state of runs and items and changes it, by the time of the database.
import type { SourceRun, SourceRunStatus } from '../../../entities/knowledge/source-run.ts';
import { pageOf } from '../../../entities/page.ts';
import type { Database } from '../../database/database.ts';
import type { OwnedId } from '../indexing/lease.ts';
import { syncDueSql } from '../refresh-period.ts';
import type { SyncStore } from './lease.ts';
import type { RunWrites } from './run-writes.ts';
import { addUploadRun, uploadCountsSql } from './upload-runs.ts';

const busy = `('INITIALIZED', 'QUEUED', 'FETCHING', 'PARSING', 'INDEXING')`;

/** Runs `r` whose items are all indexed or failed; of one source, or of all. */
const endedRun = `r.status = 'INDEXING' and ($1::text is null or r."dataSourceId" = $1) and not exists (
  select 1 from knowledge_items i where i."dataSourceId" = r."dataSourceId" and i."queuedRunId" = r.id and i."indexStatus" in ${busy})`;

const ofGivenSource = `exists (select 1 from data_sources s where s.id = r."dataSourceId" and s.type in ('API', 'FILE_UPLOAD'))`;

/** The upkeep of runs that no process holds, and what people do with them. */
export function createSyncUpkeep(db: Database, announce: (dataSourceId: string) => void): Omit<SyncStore, keyof RunWrites> {
  const { pool, prisma } = db;

  async function owned(sql: string, values: unknown[] = []): Promise<readonly OwnedId[]> {
    const { rows } = await pool.query<OwnedId>(
      `select s.id, s."orgId", o."tenantId" from data_sources s join organizations o on o.id = s."orgId" where s."deletingAt" is null and ${sql}`,
      values,
    );
    return rows;
  }

  return {
    async want(dataSourceId, isForced) {
      await pool.query(
        `update data_sources set "isSyncForced" = "isSyncForced" or $2, "isSyncWanted" = "isSyncWanted" or exists (
           select 1 from source_runs r where r."dataSourceId" = $1 and r.status in ('LISTING', 'INDEXING')) where id = $1`,
        [dataSourceId, isForced],
      );
    },
    async closeEnded(dataSourceId) {
      const { rows } = await pool.query<{ dataSourceId: string }>(
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
         ), synced as (
           update data_sources set "lastSyncedAt" = now() where id in (select "dataSourceId" from ended)
         )
         select "dataSourceId" from ended`,
        [dataSourceId ?? null],
      );
      const ended = rows.map((row) => row.dataSourceId);
      for (const id of ended) announce(id);
      if (ended.length === 0) return [];
      return owned('s.id = any($1::text[]) and s."isSyncWanted"', [ended]);
    },
    findStale: () =>
      owned(`exists (select 1 from source_runs r where r."dataSourceId" = s.id and r.status = 'LISTING' and r."leaseUntil" < now())
        or (s."isSyncWanted" and not exists (
          select 1 from source_runs r where r."dataSourceId" = s.id and r.status in ('LISTING', 'INDEXING'))) limit 500`),
    async expireOthers(owner) {
      await pool.query(`update source_runs set "leaseUntil" = 'epoch' where status = 'LISTING' and "leaseOwner" <> $1`, [owner]);
    },
    findDue: () => owned(`${syncDueSql} limit 500`),
    async cancel(dataSourceId) {
      const wasBusy = await db.transaction(async (tx) => {
        await tx.execute('select 1 from data_sources where id = $1 for update', [dataSourceId]);
        const runs = await tx.execute(
          `update source_runs set status = 'CANCELLED', "endedAt" = now(), "leaseOwner" = null, "leaseUntil" = null, "currentItem" = null,
             fence = fence + 1 where "dataSourceId" = $1 and status in ('LISTING', 'INDEXING')`,
          [dataSourceId],
        );
        // What answers already goes on answering. A process that indexes an item loses its lease.
        const items = await tx.execute(
          `update knowledge_items set "updatedAt" = now(), "leaseOwner" = null, "leaseUntil" = null, "isRunWanted" = false, "isForced" = false,
             attempt = 0, "indexPercentage" = 100, "needsCleaning" = true,
             "lastGeneration" = "lastGeneration" + case when "indexStatus" in ('FETCHING', 'PARSING', 'INDEXING') then 1 else 0 end,
             "indexStatus" = case when "liveGeneration" is null then 'CANCELLED' else 'INDEXED' end
           where "dataSourceId" = $1 and "indexStatus" in ${busy}`,
          [dataSourceId],
        );
        await tx.execute(
          `update data_sources set "updatedAt" = now(), "isSyncWanted" = false, "isSyncForced" = false, "lastSyncedAt" = now() where id = $1`,
          [dataSourceId],
        );
        return (runs ?? 0) + (items ?? 0) > 0;
      });
      announce(dataSourceId);
      return wasBusy;
    },
    async retryFailed(dataSourceId, runId) {
      const rows = await db.transaction(async (tx) => {
        const retried = await tx.query<OwnedId>(
          `update knowledge_items i set "updatedAt" = now(), "indexStatus" = 'QUEUED', "indexPercentage" = 0, attempt = 0, "isForced" = true
         from organizations o where o.id = i."orgId" and i."dataSourceId" = $1 and i."indexStatus" in ('FAILED', 'CANCELLED')
         returning i.id, i."orgId", o."tenantId"`,
          [dataSourceId],
        );
        const itemIds = retried.map(({ id }) => id);
        const run = { dataSourceId, trigger: 'REFRESH', isForced: true } as const;
        if (runId !== undefined) await addUploadRun(tx, { ...run, id: runId }, itemIds);
        return retried;
      });
      announce(dataSourceId);
      return rows;
    },
    async reconnected({ id: connectionId, orgId, ownerUserId, installationId }) {
      const { rows } = await pool.query<OwnedId>(
        `update data_sources s set "updatedAt" = now(), "errorCode" = null, "errorMessage" = null from organizations o
         where o.id = s."orgId" and s."errorCode" = 'AUTH' and s."deletingAt" is null
           and (s.data->>'oauthTokenId' = $1 or (s.data->>'repoHostAppInstallationId' = $2 and s."orgId" = $3 and s."ownerUserId" = $4))
         returning s.id, s."orgId", o."tenantId"`,
        [connectionId, installationId === null ? null : String(installationId), orgId, ownerUserId],
      );
      for (const { id } of rows) announce(id);
      return rows;
    },
    async runs(dataSourceId, page) {
      const [startedAt, id] = page.after ?? [];
      const after =
        page.after === undefined
          ? {}
          : {
              OR: [
                { startedAt: { lt: new Date(String(startedAt)) } },
                { startedAt: new Date(String(startedAt)), id: { lt: String(id) } },
              ],
            };
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
