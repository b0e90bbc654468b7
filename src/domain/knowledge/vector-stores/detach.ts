import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import type { AlsoQueue } from '../../../storage/knowledge/vector-stores/stores.ts';
import type { Deps } from '../../deps.ts';

const expireEveryMs = 10 * 60_000;
const expiredAtOnce = 100;

/** Queues the removal of files in the transaction that hides them. */
export function createRemoval(deps: Deps, owner: ShareOwner): AlsoQueue {
  return async (tx, itemIds) => {
    const jobs = itemIds.map((itemId) => ({ payload: { itemId }, owner, key: itemId }));
    await deps.jobs.enqueueAll('knowledge.delete-item', jobs, { tx });
  };
}

/** Takes a file out of every vector store of its organization. */
export async function detachFileEverywhere(deps: Deps, owner: ShareOwner, fileId: string): Promise<void> {
  await deps.storage.knowledge.vectorStores.detach({ orgId: owner.orgId, fileId }, createRemoval(deps, owner));
}

/** Registers the removal of files of stores that expired. */
export function registerVectorStoreExpiry(deps: Deps): void {
  deps.jobs.lead('vector-stores.expire', expireEveryMs, (signal) => expireVectorStores(deps, signal));
}

/** @param signal  ends it between two stores. */
export async function expireVectorStores(deps: Deps, signal: AbortSignal): Promise<void> {
  for (const store of await deps.storage.knowledge.vectorStores.expired(expiredAtOnce)) {
    if (signal.aborted) return;
    await deps.storage.knowledge.vectorStores.detach({ storeId: store.id }, createRemoval(deps, store));
  }
}
