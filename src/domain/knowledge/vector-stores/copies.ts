import type { Caller } from '../../../entities/accounts/caller.ts';
import type { FileAttributes } from '../../../entities/knowledge/vector-store.ts';
import type { AlsoQueue, NewStoreFile } from '../../../storage/knowledge/vector-stores.ts';
import { removeBlobs } from '../../blobs.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../faults.ts';
import { findFiles } from '../../files/files.ts';

/** A file of the caller that a store is to have. */
export interface WantedFile {
  readonly fileId: string;
  /** The member that names it. */
  readonly param: string;
  readonly attributes: FileAttributes;
}

/**
 * Copies the bytes of files: what is in a store does not depend on the file that it was made of.
 *
 * @returns the files in order, still without rows: delete their blobs when those cannot be written.
 * @throws DomainError INVALID_VALUE naming each file that is none of the caller's.
 */
export async function copiesOf(deps: Deps, caller: Caller, wanted: readonly WantedFile[]): Promise<readonly NewStoreFile[]> {
  const { storage, settings } = deps;
  const found = new Map(
    (
      await findFiles(
        deps,
        caller,
        wanted.map(({ fileId }) => fileId),
      )
    ).map((file) => [file.id, file]),
  );
  const faults = new Faults();
  for (const { fileId, param } of wanted) if (!found.has(fileId)) faults.add(param, `${param} names no file of yours`);
  faults.throwIfAny();
  const copies: NewStoreFile[] = [];
  try {
    for (const { fileId, attributes } of wanted) {
      const file = found.get(fileId);
      if (file === undefined) continue;
      const { orgId, filename, mimeType } = file;
      const itemId = deps.newId('knowledgeItem');
      const contentBlobKey = `${orgId}/knowledge/${itemId}`;
      const content = await storage.blobs.get(file.blobKey);
      const { sizeBytes } = await storage.blobs.put(contentBlobKey, content, settings.UPLOAD_MAX_BYTES);
      copies.push({ fileId, itemId, createdAt: deps.now(), orgId, contentBlobKey, filename, mimeType, sizeBytes, attributes });
    }
  } catch (error) {
    await removeBlobs(
      deps,
      copies.map(({ contentBlobKey }) => contentBlobKey),
    );
    throw error;
  }
  return copies;
}

/** Queues the indexing of files in the transaction that writes their rows. */
export function queueIndexing(deps: Deps, caller: Caller): AlsoQueue {
  return async (tx, itemIds) => {
    for (const itemId of itemIds) await deps.jobs.enqueue('knowledge.index-item', { itemId }, { owner: caller, key: itemId, tx });
  };
}
