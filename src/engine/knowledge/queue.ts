import type { RunTrigger } from '../../entities/knowledge/source-run.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import { inParts } from '../../lib/in-parts.ts';
import type { OwnedId } from '../../storage/knowledge/indexing/indexing.ts';
import type { NewItemContent } from '../../storage/knowledge/indexing/lease.ts';
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

/** Content of an item that is indexed together with others: of a few passages at most. */
const smallBytesMax = 16 * 1024;
/** Items of one job: less than a second of work. */
const groupItems = 64;

/** Queues the jobs of items that are new, whose content is stored: small ones together, which costs a fraction of what each would cost alone. */
export async function queueNewItems(
  jobs: Jobs,
  owner: ShareOwner,
  items: readonly NewItemContent[],
  tx: EnqueueOptions['tx'],
): Promise<void> {
  const isSmall = ({ sizeBytes }: NewItemContent) => sizeBytes !== null && sizeBytes <= smallBytesMax;
  const smallIds = items.filter(isSmall).map(({ id }) => id);
  const largeIds = items.filter((item) => !isSmall(item)).map(({ id }) => id);
  const groups = [...inParts(smallIds, groupItems)];
  const aloneIds = [...groups.filter(({ length }) => length === 1).flat(), ...largeIds];
  const payloads = groups.filter(({ length }) => length > 1).map((itemIds) => ({ payload: { itemIds }, owner, key: undefined }));
  await jobs.enqueueAll('knowledge.index-items', payloads, { tx });
  await itemJobs(jobs)(
    tx,
    aloneIds.map((id) => ({ ...owner, id })),
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
