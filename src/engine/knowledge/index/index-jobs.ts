import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import type { OwnedId } from '../../../storage/knowledge/indexing/indexing.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import type { PermissionReaders } from '../connectors/registry.ts';
import { queueEmbedding, registerVectorJobs, type VectorJobsContext } from '../embeddings/vector-jobs.ts';
import { itemJobs, queuePermissions, sourceJobs } from '../queue.ts';
import { registerPermissionJobs } from '../sync/permission-jobs.ts';
import { syncSource } from '../sync/sync-source.ts';
import { indexItems } from './index-group.ts';
import { type IndexContext, type IndexOutcome, indexItem } from './index-item.ts';

export interface IndexJobsContext extends Omit<IndexContext, 'owner'>, Pick<VectorJobsContext, 'embeddings'> {
  readonly jobs: Jobs;
  readonly permissionReaders: PermissionReaders;
}

const hourMs = 3_600_000;
const dueEveryMs = 60_000;
/** Index entries of the last documents wait at most so long for their places. */
const settleEveryMs = 2_000;

/**
 * Registers the jobs of sources and items. Each commits with the row that it works on, and pg-boss repeats those that fail or whose process died, so a
 * job is never missing. The rows count attempts, and end in a state with a reason. The lease of an item or run names its job, so that the next attempt
 * goes on at once.
 */
export function registerIndexJobs(context: IndexJobsContext): void {
  const { jobs, settings, storage, newId } = context;
  const { indexing, syncing } = storage.knowledge;
  const leaseMs = settings.INDEX_LEASE_MS;
  const endRun = (dataSourceId: string) => syncing.closeEnded(dataSourceId, sourceJobs(jobs, 'REFRESH'));

  const settle = async (outcomes: readonly (IndexOutcome & { readonly itemId: string })[], owner: ShareOwner) => {
    // Another job holds the item: look again when its lease is over, in case its process died.
    const heldItems = outcomes.filter(({ kind }) => kind === 'held').map(({ itemId }) => ({ ...owner, id: itemId }));
    await itemJobs(jobs, 'knowledge.index-item', leaseMs)(undefined, heldItems);
    for (const dataSourceId of new Set(outcomes.map((outcome) => outcome.dataSourceId))) {
      await queueEmbedding(context, { ...owner, id: dataSourceId });
      await endRun(dataSourceId);
    }
  };

  jobs.work('knowledge.index-item', { concurrency: settings.INDEX_CONCURRENCY }, async ({ itemId }, signal, { id, owner }) => {
    const outcome = await indexItem({ ...context, owner: id }, itemId, signal);
    if (outcome !== undefined) await settle([{ ...outcome, itemId }], owner);
  });
  jobs.work('knowledge.index-items', { concurrency: 1 }, async ({ itemIds }, signal, { id, owner }) =>
    settle(await indexItems({ ...context, owner: id }, itemIds, signal), owner),
  );
  jobs.work(
    'knowledge.sync-source',
    { concurrency: settings.CONNECTOR_CONCURRENCY },
    async ({ dataSourceId, trigger }, signal, { id, owner }) => {
      if (trigger === 'SCHEDULE') {
        // A source whose content was given: it is not listed, but read once more.
        await indexing.requeueSource(dataSourceId, false, { id: newId('sourceRun'), trigger }, itemJobs(jobs));
      }
      const outcome = await syncSource({ ...context, owner: id }, dataSourceId, trigger, signal);
      if (outcome.kind === 'held') await sourceJobs(jobs, trigger, leaseMs)(undefined, [{ ...owner, id: dataSourceId }]);
      await queuePermissions(jobs, await storage.knowledge.permissionReadings.findWithNewItems(dataSourceId));
    },
  );
  const deleteBlob = (key: string) => storage.blobs.delete(key);
  jobs.work('knowledge.delete-source', { concurrency: 1 }, ({ dataSourceId }) => indexing.deleteSource(dataSourceId, deleteBlob));
  jobs.work('knowledge.delete-item', { concurrency: 1 }, async ({ itemId }) => {
    const dataSourceId = await indexing.deleteItem(itemId, deleteBlob);
    if (dataSourceId !== undefined) await endRun(dataSourceId);
  });
  registerVectorJobs(context);
  registerPermissionJobs(context);

  jobs.every('knowledge.settle', settleEveryMs, () => storage.knowledge.chunks.settleIndex(true));
  jobs.lead('knowledge.vacuum', hourMs, () => storage.knowledge.chunks.tidy());
  jobs.lead('knowledge.due', dueEveryMs, async () => {
    const due: readonly OwnedId[] = [...(await indexing.findDue()), ...(await syncing.findDue())];
    await sourceJobs(jobs, 'SCHEDULE')(undefined, due);
  });
}
