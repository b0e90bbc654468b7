import { isLinkedRunFile } from '../../engine/runs/calls/run-files.ts';
import type { Deps } from '../deps.ts';

/** Deletes blobs without a row; missing ones are ignored. */
export async function removeBlobs(deps: Deps, keys: readonly string[]): Promise<void> {
  for (const key of keys) await deps.storage.blobs.delete(key);
}

/** Deletes a chat with its messages and files, also one that is half deleted. */
export async function removeChat(deps: Deps, id: string): Promise<void> {
  await deps.storage.conversations.chats.delete(id);
  await removeBlobs(deps, await deps.storage.conversations.chatFiles.deleteAll(id));
}

const sweepEveryMs = 3_600_000;
/** A younger blob may still be waiting for its row. */
const rowWithinMs = 3_600_000;

/**
 * Deletes blobs whose row was never written, because their process died in between. The only process of a database sweeps
 * everything from before its start at once; among several, another process may still write the row.
 */
export function registerOrphanSweep(deps: Deps): void {
  const { jobs, storage, now } = deps;
  let startedAt = storage.db.isOfOneProcess ? now() : undefined;
  jobs.lead('blobs.sweep', sweepEveryMs, async (signal) => {
    const before = startedAt ?? new Date(now().getTime() - rowWithinMs);
    startedAt = undefined;
    await sweepOrphans(deps, before, signal);
  });
}

/** Deletes blobs from before a moment that no row names, and files of stateless runs whose links have expired. */
export async function sweepOrphans({ storage, now }: Deps, before: Date, signal: AbortSignal): Promise<void> {
  for await (const keys of storage.blobs.listOlder(before)) {
    signal.throwIfAborted();
    for (const key of await storage.operations.orphanBlobs.among(keys)) {
      if (!isLinkedRunFile(key, now())) await storage.blobs.delete(key);
    }
  }
}
