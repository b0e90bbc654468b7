import type { OwnedId } from '../../../storage/knowledge/indexing/indexing.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { queueEmbedding, registerVectorJobs, type VectorJobsContext } from '../meaning/vector-jobs.ts';
import { endRuns, queueSync, syncSource } from '../sync/sync-source.ts';
import { type IndexContext, type IndexOutcome, indexAttemptsMax, indexItem, indexStartsMax } from './index-item.ts';

export interface IndexJobsContext extends IndexContext, Pick<VectorJobsContext, 'meaning'> {
  readonly jobs: Jobs;
}

const hourMs = 3_600_000;
const sweepEveryMs = 5_000;
const reconcileEveryMs = 60_000;

/** Registers the jobs of indexing, and the repeated tasks that find expired leases, lost jobs, due refreshes and unfinished deletions. */
export function registerIndexJobs(context: IndexJobsContext): void {
  const { jobs, settings, storage } = context;
  const queue = (item: OwnedId, startAfterMs = 0) =>
    jobs.enqueue(
      'knowledge.index-item',
      { itemId: item.id },
      { owner: item, key: item.id, ...(startAfterMs === 0 ? {} : { startAfterMs }) },
    );

  const follow = async (item: OwnedId, outcome: IndexOutcome): Promise<void> => {
    if (outcome.kind === 'retry') await queue(item, outcome.afterMs);
    if (outcome.kind === 'again' && (await storage.indexing.requeueItem(item.id))) await queue(item);
  };

  jobs.work(
    'knowledge.index-item',
    { concurrency: settings.INDEX_CONCURRENCY, retriesMax: indexAttemptsMax, timeoutMs: 6 * hourMs },
    async ({ itemId }, signal, owner) => {
      const { dataSourceId, ...outcome } = await indexItem(context, itemId, signal);
      await follow({ ...owner, id: itemId }, outcome);
      if (dataSourceId === undefined) return;
      await queueEmbedding(context, { ...owner, id: dataSourceId });
      await endRuns(context, dataSourceId);
    },
  );
  jobs.work(
    'knowledge.refresh-source',
    { concurrency: 1, retriesMax: 5, timeoutMs: hourMs },
    async ({ dataSourceId, isForced }) => {
      const run = { id: context.newId('sourceRun'), trigger: 'SCHEDULE' } as const;
      for (const item of await storage.indexing.requeueSource(dataSourceId, isForced, run)) await queue(item);
    },
  );
  jobs.work(
    'knowledge.sync-source',
    { concurrency: settings.CONNECTOR_CONCURRENCY, retriesMax: 5, timeoutMs: 24 * hourMs },
    async ({ dataSourceId, trigger }, signal, owner) => {
      const outcome = await syncSource(context, dataSourceId, trigger, signal);
      if (outcome.kind === 'retry') await queueSync(context, { ...owner, id: dataSourceId }, trigger, outcome.afterMs);
    },
  );
  jobs.work('knowledge.delete-source', { concurrency: 1, retriesMax: 10, timeoutMs: 6 * hourMs }, ({ dataSourceId }) =>
    storage.indexing.deleteSource(dataSourceId, (key) => storage.blobs.delete(key)),
  );

  jobs.work('knowledge.delete-item', { concurrency: 1, retriesMax: 10, timeoutMs: hourMs }, ({ itemId }) =>
    storage.indexing.deleteItem(itemId, (key) => storage.blobs.delete(key)),
  );

  registerVectorJobs(context);

  let isFirstSweep = true;
  jobs.every('knowledge.sweep', sweepEveryMs, async () => {
    // Only one process uses the embedded database, so the leases of earlier processes have no holder.
    if (isFirstSweep && storage.db.kind === 'embedded') {
      await storage.indexing.expireOthers(context.owner);
      await storage.syncing.expireOthers(context.owner);
    }
    isFirstSweep = false;
    await endRuns(context);
    for (const source of await storage.syncing.findStale()) await queueSync(context, source, 'REFRESH');
    for (const item of await storage.indexing.sweepExpired(indexStartsMax)) await queue(item);
  });
  jobs.every('knowledge.vacuum', hourMs, () => storage.chunks.vacuum());
  jobs.every('knowledge.reconcile', reconcileEveryMs, (signal) => reconcile(context, queue, signal));
}

/** Queues every job that should exist and may be lost. A job that is queued already is not queued twice. */
async function reconcile(context: IndexJobsContext, queue: (item: OwnedId) => Promise<void>, signal: AbortSignal): Promise<void> {
  const { jobs, storage } = context;
  const { indexing } = storage;
  for (const item of await indexing.findStale(reconcileEveryMs)) await queue(item);
  for (const source of await indexing.findDeleting()) {
    await jobs.enqueue('knowledge.delete-source', { dataSourceId: source.id }, { owner: source, key: source.id });
  }
  for (const source of await indexing.findDue()) {
    const payload = { dataSourceId: source.id, isForced: false };
    await jobs.enqueue('knowledge.refresh-source', payload, { owner: source, key: source.id });
  }
  for (const source of await storage.syncing.findDue()) await queueSync(context, source, 'SCHEDULE');
  for (const item of await indexing.findDeletingItems()) {
    await jobs.enqueue('knowledge.delete-item', { itemId: item.id }, { owner: item, key: item.id });
  }
  for (const itemId of await indexing.findUnclean()) {
    if (signal.aborted) return;
    await indexing.clean(itemId);
  }
}
