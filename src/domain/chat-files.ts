import type { Deps } from './deps.ts';

/** Removes bytes that no file names any more. */
export async function removeBlobs(deps: Deps, keys: readonly string[]): Promise<void> {
  for (const key of keys) await deps.storage.blobs.delete(key);
}
