import type { Storage } from '../../../storage/storage.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { connectedKinds } from '../connectors/registry.ts';
import { queuePermissions } from '../queue.ts';
import { type PermissionSyncContext, syncPermissions } from './sync-permissions.ts';

export interface PermissionJobsContext extends Omit<PermissionSyncContext, 'owner'> {
  readonly jobs: Jobs;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** How often services are asked that tell of changes. */
export const permissionFeedMs = minuteMs;

/**
 * Registers the reading of permissions: each minute one process looks which MIRRORED sources are due, by the feed of their service or after
 * PERMISSION_SYNC_MINUTES, and queues a job for each. A reading that was cut off is due at once, and goes on where it was.
 */
export function registerPermissionJobs(context: PermissionJobsContext): void {
  const { jobs, settings, storage, logger } = context;
  const { permissionReadings } = storage.knowledge;
  const feedTypes = connectedKinds.flatMap(({ type, permissions }) => (permissions?.hasChangeFeed === true ? [type] : []));
  const periods = { syncMs: settings.PERMISSION_SYNC_MINUTES * minuteMs, feedMs: permissionFeedMs, feedTypes };

  jobs.work(
    'knowledge.sync-permissions',
    { concurrency: settings.CONNECTOR_CONCURRENCY },
    async ({ dataSourceId }, signal, { id }) => {
      const outcome = await syncPermissions({ ...context, owner: id }, dataSourceId, signal);
      // The reading that goes on may have begun before a listing found these: they would stay closed for a period.
      if (outcome === 'held')
        await queuePermissions(jobs, await permissionReadings.findWithNewItems(dataSourceId), settings.INDEX_LEASE_MS);
    },
  );
  jobs.lead('knowledge.permissions-sweep', hourMs, (signal) => sweepPermissions(storage, signal));
  jobs.lead('knowledge.permissions-due', permissionFeedMs, async () => {
    await queuePermissions(jobs, await permissionReadings.findDue(periods));
    const warnedIds = await permissionReadings.warn(settings.PERMISSION_MAX_AGE_HOURS * hourMs);
    for (const dataSourceId of warnedIds) logger.warn({ dataSourceId }, 'permissions of a source were not read for long');
  });
}

/** Deletes what nothing names any more: rules, access lists and principals of documents that are gone or opened otherwise. */
export async function sweepPermissions(
  { knowledge: { permissions } }: Pick<Storage, 'knowledge'>,
  signal: AbortSignal,
): Promise<void> {
  for (let after = ''; ; ) {
    const orgIds = await permissions.organizations(after);
    for (const orgId of orgIds) while (!signal.aborted && (await permissions.sweep(orgId)) > 0);
    after = orgIds.at(-1) ?? '';
    if (after === '' || signal.aborted) return;
  }
}
