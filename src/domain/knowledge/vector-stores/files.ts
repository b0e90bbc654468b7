import type { Caller } from '../../../entities/accounts/caller.ts';
import { DomainError } from '../../../entities/errors.ts';
import type { StoreFileStatus, VectorStoreFile } from '../../../entities/knowledge/vector-store.ts';
import type { ListRequest } from '../../../entities/page.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../faults.ts';
import { copiesOf, queueIndexing, removeCopies } from './copies.ts';
import { removalOf } from './detach.ts';
import { type Optional, pageFrom, readAttributes, readPageInput, requireOwnChunks } from './input.ts';
import { editableStore, getVectorStore, requireUnexpired } from './stores.ts';

/**
 * Attaches a copy of a file of the caller to a store, and queues its indexing. A file that is attached already is returned as it is, with
 * the attributes that were given; one that failed or was cancelled is indexed anew.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN, the faults of the input; CONFLICT when the store has the most files already or has expired.
 */
export async function attachFile(
  deps: Deps,
  caller: Caller,
  storeId: string,
  input: { readonly fileId: string; readonly attributes?: unknown; readonly chunkingStrategy?: unknown },
): Promise<VectorStoreFile> {
  const store = await editableStore(deps, caller, storeId);
  const faults = new Faults();
  const attributes = readAttributes(input.attributes, faults);
  requireOwnChunks(input.chunkingStrategy, faults);
  faults.throwIfAny();
  requireUnexpired(deps, store);
  const { vectorStores } = deps.storage;
  const known = await vectorStores.findFile(storeId, input.fileId);
  if (known !== undefined) {
    await deps.audit.change(caller, async () => {
      if (input.attributes !== undefined) await vectorStores.setAttributes(known.itemId, attributes);
      await vectorStores.beginAnew([known.itemId], () => deps.newId('sourceRun'), queueIndexing(deps, caller));
    });
    return getStoreFile(deps, caller, storeId, input.fileId);
  }
  const [copy] = await copiesOf(deps, caller, [{ fileId: input.fileId, param: 'fileId', attributes }]);
  if (copy === undefined) throw new Error('a file that was found has a copy');
  const undo = () => removeCopies(deps, [copy]);
  const filesMax = deps.settings.VECTOR_STORE_FILES_MAX;
  const add = async () => {
    if (await vectorStores.addFile(storeId, copy, filesMax, queueIndexing(deps, caller))) return true;
    if ((await vectorStores.findFile(storeId, input.fileId)) === undefined) throw tooManyFiles(deps);
    return false;
  };
  const isAdded = await deps.audit.change(caller, add).catch(async (error: unknown) => {
    await undo();
    throw error;
  });
  // Another call has added it meanwhile.
  if (!isAdded) await undo();
  return getStoreFile(deps, caller, storeId, input.fileId);
}

/** @throws DomainError NOT_FOUND for the store and the file. */
export async function getStoreFile(deps: Deps, caller: Caller, storeId: string, fileId: string): Promise<VectorStoreFile> {
  await getVectorStore(deps, caller, storeId);
  const file = await deps.storage.vectorStores.findFile(storeId, fileId);
  if (file === undefined) throw new DomainError('NOT_FOUND', 'This vector store has no such file', { param: 'fileId' });
  return file;
}

/** @throws DomainError NOT_FOUND; INVALID_VALUE naming `first`. */
export async function listStoreFiles(
  deps: Deps,
  caller: Caller,
  storeId: string,
  { filter, ...input }: ListRequest & { readonly filter?: Optional<StoreFileStatus> },
) {
  const page = readPageInput(input);
  await getVectorStore(deps, caller, storeId);
  return pageFrom(await deps.storage.vectorStores.listFiles(storeId, filter ?? undefined, page), page);
}

/** Replaces the attributes of a file; null takes all away. @throws DomainError NOT_FOUND, FORBIDDEN, the faults of the input. */
export async function updateStoreFile(
  deps: Deps,
  caller: Caller,
  storeId: string,
  fileId: string,
  input: { readonly attributes?: unknown },
): Promise<VectorStoreFile> {
  await editableStore(deps, caller, storeId);
  const { itemId } = await getStoreFile(deps, caller, storeId, fileId);
  const faults = new Faults();
  if (input.attributes === undefined) faults.add('attributes', 'attributes is required', 'MISSING_REQUIRED_PARAMETER');
  const attributes = readAttributes(input.attributes, faults);
  faults.throwIfAny();
  await deps.audit.change(caller, () => deps.storage.vectorStores.setAttributes(itemId, attributes));
  return getStoreFile(deps, caller, storeId, fileId);
}

/** Takes a file out of a store: searches do not find it any more; the file itself stays. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function detachFile(deps: Deps, caller: Caller, storeId: string, fileId: string): Promise<string> {
  await editableStore(deps, caller, storeId);
  await getStoreFile(deps, caller, storeId, fileId);
  await deps.audit.change(caller, () => deps.storage.vectorStores.detach({ storeId, fileId }, removalOf(deps, caller)));
  return fileId;
}

/** A store cannot take more files. */
export function tooManyFiles({ settings }: Deps): DomainError {
  return new DomainError('CONFLICT', `A vector store has at most ${settings.VECTOR_STORE_FILES_MAX} files`);
}
