import type { Deps } from './deps.ts';

/** Removes blobs that no row names; missing keys are no error. */
export async function removeBlobs(deps: Deps, keys: readonly string[]): Promise<void> {
  for (const key of keys) await deps.storage.blobs.delete(key);
}

const sweepEveryMs = 3_600_000;
/** Younger bytes may still get their row. */
const rowWithinMs = 3_600_000;

/**
 * Deletes bytes whose row was never written, because the process died in between. Where this process is the only one, everything from before
 * its start is swept at once; elsewhere another process may still write the row.
 */
export function registerOrphanSweep({ jobs, storage, now }: Deps): void {
  let startedAt = storage.db.kind === 'embedded' ? now() : undefined;
  jobs.every('blobs.sweep', sweepEveryMs, async (signal) => {
    const before = startedAt ?? new Date(now().getTime() - rowWithinMs);
    startedAt = undefined;
    for await (const keys of storage.blobs.listOlder(before)) {
      signal.throwIfAborted();
      for (const key of await storage.orphanBlobs.among(keys)) await storage.blobs.delete(key);
    }
  });
}
