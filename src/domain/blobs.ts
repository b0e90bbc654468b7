import type { Deps } from './deps.ts';

/** Removes bytes that nothing names any more; keys that are gone already are no error. */
export async function removeBlobs(deps: Deps, keys: readonly string[]): Promise<void> {
  for (const key of keys) await deps.storage.blobs.delete(key);
}
