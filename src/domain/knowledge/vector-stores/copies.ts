import { itemJobs, queueNewItems } from '../../../engine/knowledge/queue.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { FileAttributes } from '../../../entities/knowledge/vector-store.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { NewStoreFile } from '../../../storage/knowledge/vector-stores/rows.ts';
import type { AlsoQueue } from '../../../storage/knowledge/vector-stores/stores.ts';
import type { Deps } from '../../deps.ts';
import { findFiles } from '../../ground/attachments/own-files.ts';
import { removeBlobs } from '../../ground/blobs.ts';
import { Faults } from '../../ground/faults.ts';

/** A file of the caller that a store is to have. */
export interface WantedFile {
  readonly fileId: string;
  /** The member that names it. */
  readonly param: string;
  readonly attributes: FileAttributes;
}

/** The bytes that one request copies, in files of the largest size. */
const copiedFilesMax = 20;
const copiesAtOnce = 8;

/**
 * Copies the bytes of files: what is in a store does not depend on the file that it was made of.
 *
 * @returns the files in order, still without rows: delete their blobs when those cannot be written.
 * @throws DomainError INVALID_VALUE naming each file that is none of the caller's; REQUEST_TOO_LARGE for more bytes than one request copies.
 */
export async function makeCopies(
  deps: Deps,
  caller: Caller,
  fileRequests: readonly WantedFile[],
): Promise<readonly NewStoreFile[]> {
  const { storage, settings } = deps;
  const filesById = new Map(
    (
      await findFiles(
        deps,
        caller,
        fileRequests.map(({ fileId }) => fileId),
      )
    ).map((file) => [file.id, file]),
  );
  const faults = new Faults();
  for (const { fileId, param } of fileRequests) if (!filesById.has(fileId)) faults.add(param, `${param} names no file of yours`);
  faults.throwIfAny();
  const bytesMax = copiedFilesMax * settings.UPLOAD_MAX_BYTES;
  if ([...filesById.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > bytesMax) {
    throw new DomainError('REQUEST_TOO_LARGE', `The files of one request must have at most ${bytesMax} bytes together`);
  }
  // Files of a store are listed by these ids, so they follow the order of the request.
  const itemIds = fileRequests.map(() => deps.newId('knowledgeItem')).sort();
  const copyPlans = fileRequests.flatMap(({ fileId, attributes }, index) => {
    const [file, itemId] = [filesById.get(fileId), itemIds[index]];
    if (file === undefined || itemId === undefined) return [];
    return [{ file, itemId, attributes, contentBlobKey: `${file.orgId}/knowledge/${itemId}` }];
  });
  try {
    const copies: NewStoreFile[] = [];
    for (let from = 0; from < copyPlans.length; from += copiesAtOnce) {
      const copying = copyPlans.slice(from, from + copiesAtOnce).map(async ({ file, contentBlobKey, ...rest }) => {
        const content = await storage.blobs.get(file.blobKey);
        const { sizeBytes } = await storage.blobs.put(contentBlobKey, content, settings.UPLOAD_MAX_BYTES);
        const { id: fileId, orgId, filename, mimeType } = file;
        return {
          ...rest,
          fileId,
          createdAt: deps.now(),
          orgId,
          contentBlobKey,
          filename,
          mimeType,
          sizeBytes,
          runId: deps.newId('sourceRun'),
        };
      });
      // All of them have ended before any blob is removed.
      const copyResults = await Promise.allSettled(copying);
      for (const end of copyResults) {
        if (end.status === 'rejected') throw end.reason;
        copies.push(end.value);
      }
    }
    return copies;
  } catch (error) {
    await removeCopies(deps, copyPlans);
    throw error;
  }
}

/** Deletes the bytes of copies that get no row. */
export function removeCopies(deps: Deps, copies: readonly Pick<NewStoreFile, 'contentBlobKey'>[]): Promise<void> {
  return removeBlobs(
    deps,
    copies.map(({ contentBlobKey }) => contentBlobKey),
  );
}

/** Queues the indexing of those copies that get a row, in the transaction that writes it. */
export function queueCopies(deps: Deps, caller: Caller, copies: readonly NewStoreFile[]): AlsoQueue {
  return (tx, itemIds) => {
    const addedIds = new Set(itemIds);
    const added = copies.filter(({ itemId }) => addedIds.has(itemId));
    const items = added.map(({ itemId: id, sizeBytes }) => ({ id, sizeBytes }));
    return queueNewItems(deps.jobs, caller, items, tx);
  };
}

/** Queues the indexing of files that are indexed once more, in the transaction that decides it. */
export function queueIndexing(deps: Deps, caller: Caller): AlsoQueue {
  const { orgId, tenantId } = caller;
  return (tx, itemIds) =>
    itemJobs(deps.jobs)(
      tx,
      itemIds.map((id) => ({ id, orgId, tenantId })),
    );
}
