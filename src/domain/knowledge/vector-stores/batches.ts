import type { z } from 'zod';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import { emptyPage, type ListRequest, type Page, type PageRequest } from '../../../entities/ground/page.ts';
import type { StoreFileBatch, StoreFileStatus, VectorStoreFile } from '../../../entities/knowledge/vector-store.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { fileBatchBody } from '../../../wire/vector-stores/bodies.ts';
import type { Deps } from '../../deps.ts';
import { visibleDataSources } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { makeCopies, queueCopies, queueIndexing, removeCopies, type WantedFile } from './copies.ts';
import { type StoreFileListQuery, tooManyFiles } from './files.ts';
import { type Optional, pageFrom, readAttributes, readPageInput, requireOwnChunks } from './input.ts';
import { editableStore, getVectorStore, requireUnexpired } from './stores.ts';

export type FileBatchInput = z.output<typeof fileBatchBody>;

/** As many as the common format allows. */
const batchFilesMax = 2_000;

/** A wanted file, and whether the request gave attributes for it. */
interface BatchFile extends WantedFile {
  readonly hasAttributes: boolean;
}

/**
 * Attaches copies of files of the caller to a store as one batch, and queues their indexing. A file that is attached already stays as it is,
 * with the attributes that were given, and is part of the batch; one that failed or was cancelled is indexed anew.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN, the faults of the input; CONFLICT when the store has expired or would have too many files;
 * REQUEST_TOO_LARGE. Nothing is attached then.
 *
 * Cost: the copies, then one transaction.
 */
export async function createFileBatch(
  deps: Deps,
  caller: Caller,
  vectorStoreId: string,
  input: FileBatchInput,
): Promise<StoreFileBatch> {
  const store = await editableStore(deps, caller, vectorStoreId);
  const storeId = store.id;
  const batchFiles = readFiles(input);
  requireUnexpired(deps, store);
  const { vectorStores, vectorStoreBatches } = deps.storage.knowledge;
  const existingByFile = new Map(
    (
      await vectorStores.filesByIds(
        storeId,
        batchFiles.map(({ fileId }) => fileId),
      )
    ).map((file) => [file.fileId, file.itemId]),
  );
  const copies = await makeCopies(
    deps,
    caller,
    batchFiles.filter(({ fileId }) => !existingByFile.has(fileId)),
  );
  const id = deps.newId('vectorStoreFileBatch');
  const batch = { id, createdAt: deps.now(), dataSourceId: storeId };
  const filesMax = deps.settings.VECTOR_STORE_FILES_MAX;
  const add = async () => {
    const addedBatch = await vectorStoreBatches.add(
      batch,
      copies,
      [...existingByFile.values()],
      filesMax,
      queueCopies(deps, caller, copies),
    );
    if (addedBatch.kind === 'full') throw tooManyFiles(deps);
    if (addedBatch.kind === 'missing')
      throw new DomainError('NOT_FOUND', 'There is no such vector store', { param: 'vectorStoreId' });
    for (const { fileId, attributes, hasAttributes } of batchFiles) {
      const itemId = existingByFile.get(fileId);
      if (itemId !== undefined && hasAttributes) await vectorStores.setAttributes(itemId, attributes);
    }
    await vectorStores.beginAnew([...existingByFile.values()], () => deps.newId('sourceRun'), queueIndexing(deps, caller));
    return { id, unneeded: addedBatch.unneeded };
  };
  const { unneeded: surplusFiles } = await deps.audit.change(caller, add).catch(async (error: unknown) => {
    await removeCopies(deps, copies);
    throw error;
  });
  await removeCopies(deps, surplusFiles);
  return getFileBatch(deps, caller, { id, vectorStoreId: storeId });
}

/** Names a batch, and the store that it must be of. */
export interface FileBatchPlace {
  readonly id: string;
  readonly vectorStoreId?: Optional<string>;
}

/** @throws DomainError NOT_FOUND for the store and the batch. */
export async function getFileBatch(deps: Deps, caller: Caller, { id, vectorStoreId }: FileBatchPlace): Promise<StoreFileBatch> {
  const store = typeof vectorStoreId === 'string' ? await getVectorStore(deps, caller, vectorStoreId) : undefined;
  const [fileBatch] = isId('vectorStoreFileBatch', id) ? await getFileBatches(deps, caller, [id]) : [];
  if (fileBatch === undefined || (store !== undefined && store.id !== fileBatch.dataSourceId))
    throw new DomainError('NOT_FOUND', 'This vector store has no such batch of files', { param: 'batchId' });
  return fileBatch;
}

/** The batches among `ids` whose stores the caller may read, in any order. */
export async function getFileBatches(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly StoreFileBatch[]> {
  const batches = await deps.storage.knowledge.vectorStorePages.findBatches(ids, visibleDataSources(caller));
  for (const id of new Set(batches.map(({ dataSourceId }) => dataSourceId))) deps.audit.read(caller, 'dataSource', [{ id }]);
  return batches;
}

/** A page of the batches of each store, in the order of the stores, newest first. Access is checked where the stores are found. */
export async function pageBatchesOfStores(
  deps: Deps,
  storeIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<StoreFileBatch>[]> {
  const pages = await deps.storage.knowledge.vectorStorePages.batchPagesOf(storeIds, page);
  return storeIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/**
 * The files of a batch that are still in the store, by the ids at the ends of a page.
 *
 * @throws DomainError NOT_FOUND; INVALID_VALUE naming `first`, `after` or `before`.
 */
export async function listBatchFiles(
  deps: Deps,
  caller: Caller,
  place: FileBatchPlace,
  { filter, ...input }: ListRequest & { readonly filter?: Optional<StoreFileStatus> },
) {
  const page = readPageInput(input);
  const { id, dataSourceId } = await getFileBatch(deps, caller, place);
  return pageFrom(await deps.storage.knowledge.vectorStoreBatches.listFiles(dataSourceId, id, filter ?? undefined, page), page);
}

/** A page of the files of each batch that are still in its store, in the order of the batches. Access is checked where the batches are found. */
export async function pageFilesOfBatches(
  deps: Deps,
  batchIds: readonly string[],
  { status, order }: StoreFileListQuery,
  page: PageRequest,
): Promise<readonly Page<VectorStoreFile>[]> {
  const query = { status: status ?? undefined, order: order ?? ('desc' as const) };
  const pages = await deps.storage.knowledge.vectorStorePages.filePagesOfBatches(batchIds, query, page);
  return batchIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/** Stops the indexing of a batch. Files that are indexed stay; a batch that is over is returned as it is. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function cancelFileBatch(deps: Deps, caller: Caller, place: FileBatchPlace): Promise<StoreFileBatch> {
  if (typeof place.vectorStoreId === 'string') await editableStore(deps, caller, place.vectorStoreId);
  const batch = await getFileBatch(deps, caller, place);
  if (typeof place.vectorStoreId !== 'string') await editableStore(deps, caller, batch.dataSourceId);
  if (batch.inProgress === 0) return batch;
  await deps.audit.change(caller, () => deps.storage.knowledge.vectorStoreBatches.cancel(batch.dataSourceId, batch.id));
  return getFileBatch(deps, caller, place);
}

function readFiles({ fileIds, files, attributes, chunkingStrategy }: FileBatchInput): readonly BatchFile[] {
  const faults = new Faults();
  const idInputs = fileIds ?? [];
  const fileInputs = files ?? [];
  const [member, count] = fileInputs.length > 0 ? ['files', fileInputs] : ['fileIds', idInputs];
  if (idInputs.length > 0 && fileInputs.length > 0) faults.add('files', 'files and fileIds exclude each other: give one of them');
  if (count.length === 0) faults.add(member, 'fileIds or files must name at least one file', 'MISSING_REQUIRED_PARAMETER');
  faults.requireCount(member, count, batchFilesMax);
  const ofAll = readAttributes(attributes, faults);
  requireOwnChunks(chunkingStrategy, faults);
  const hasForAll = (attributes ?? null) !== null;
  const batchFiles =
    fileInputs.length > 0
      ? fileInputs.slice(0, batchFilesMax).map((file, index): BatchFile => {
          const at = `files[${index}]`;
          requireOwnChunks(file.chunkingStrategy, faults, `${at}.chunkingStrategy`);
          const own = readAttributes(file.attributes, faults, `${at}.attributes`);
          return {
            fileId: file.fileId,
            param: `${at}.fileId`,
            attributes: own,
            hasAttributes: (file.attributes ?? null) !== null,
          };
        })
      : idInputs
          .slice(0, batchFilesMax)
          .map(
            (fileId, index): BatchFile => ({ fileId, param: `fileIds[${index}]`, attributes: ofAll, hasAttributes: hasForAll }),
          );
  faults.throwIfAny();
  return [...new Map(batchFiles.map((file) => [file.fileId, file])).values()];
}
