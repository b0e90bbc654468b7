import type { RunTrigger } from '../../entities/knowledge/source-run.ts';
import type { OwnedId } from '../../storage/knowledge/indexing/indexing.ts';
import type { EnqueueOptions } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';

/** Queues jobs of items or sources, in a transaction where one is given. */
type Queueing = (tx: EnqueueOptions['tx'], rows: readonly OwnedId[]) => Promise<void>;

/** Queues the jobs of items, in the transaction that decides it. @param startAfterMs  how long they wait. */
export function itemJobs(
  jobs: Jobs,
  name: 'knowledge.index-item' | 'knowledge.delete-item' = 'knowledge.index-item',
  startAfterMs = 0,
): Queueing {
  return (tx, items) =>
    jobs.enqueueAll(
      name,
      items.map((item) => ({ payload: { itemId: item.id }, owner: item, key: item.id })),
      { startAfterMs, tx },
    );
}

/** Queues the job of each source, of which one waits at most. */
export function sourceJobs(jobs: Jobs, trigger: RunTrigger, startAfterMs = 0): Queueing {
  return (tx, sources) =>
    jobs.enqueueAll(
      'knowledge.sync-source',
      sources.map((source) => ({ payload: { dataSourceId: source.id, trigger }, owner: source, key: source.id })),
      { startAfterMs, tx },
    );
}

/** Queues the reading of permissions of each source, of which one waits at most. */
export async function queuePermissions(jobs: Jobs, sources: readonly OwnedId[], startAfterMs = 0): Promise<void> {
  const rows = sources.map((source) => ({ payload: { dataSourceId: source.id }, owner: source, key: source.id }));
  await jobs.enqueueAll('knowledge.sync-permissions', rows, { startAfterMs });
}
