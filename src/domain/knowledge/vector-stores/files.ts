import type { z } from 'zod';
import { DomainError } from '../../../entities/ground/errors.ts';
import { idAs, isId } from '../../../entities/ground/ids.ts';
import { emptyPage, type ListRequest, type Page, type PageRequest } from '../../../entities/ground/page.ts';
import type { StoreFileStatus, VectorStoreFile } from '../../../entities/knowledge/vector-store.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { newStoreFileBody, storeFileChangesBody } from '../../../wire/vector-stores/bodies.ts';
import type { Deps } from '../../deps.ts';
import { visibleDataSources } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { makeCopies, queueCopies, queueIndexing, removeCopies } from './copies.ts';
import { createRemoval } from './detach.ts';
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
  vectorStoreId: string,
  input: z.output<typeof newStoreFileBody>,
): Promise<VectorStoreFile> {
  const store = await editableStore(deps, caller, vectorStoreId);
  const faults = new Faults();
  const attributes = readAttributes(input.attributes, faults);
  requireOwnChunks(input.chunkingStrategy, faults);
  faults.throwIfAny();
  requireUnexpired(deps, store);
  const { vectorStores } = deps.storage.knowledge;
  const storeId = store.id;
  const existingFile = await vectorStores.findFile(storeId, input.fileId);
  if (existingFile !== undefined) {
    await deps.audit.change(caller, async () => {
      if (input.attributes !== undefined) await vectorStores.setAttributes(existingFile.itemId, attributes);
      await vectorStores.beginAnew([existingFile.itemId], () => deps.newId('sourceRun'), queueIndexing(deps, caller));
    });
    return getStoreFile(deps, caller, { id: input.fileId, vectorStoreId: storeId });
  }
  const [copy] = await makeCopies(deps, caller, [{ fileId: input.fileId, param: 'fileId', attributes }]);
  if (copy === undefined) throw new Error('a file that was found has a copy');
  const undo = () => removeCopies(deps, [copy]);
  const filesMax = deps.settings.VECTOR_STORE_FILES_MAX;
  const add = async () => {
    if (await vectorStores.addFile(storeId, copy, filesMax, queueCopies(deps, caller, [copy]))) return true;
    if ((await vectorStores.findFile(storeId, input.fileId)) === undefined) throw tooManyFiles(deps);
    return false;
  };
  const isAdded = await deps.audit.change(caller, add).catch(async (error: unknown) => {
    await undo();
    throw error;
  });
  // Another call has added it meanwhile.
  if (!isAdded) await undo();
  return getStoreFile(deps, caller, { id: input.fileId, vectorStoreId: storeId });
}

/** Names a file of a store: by its own id, or by the id of the file it was made of, with its store. */
export interface StoreFilePlace {
  readonly id: string;
  readonly vectorStoreId?: Optional<string>;
}

/** @throws DomainError NOT_FOUND for the store and the file. */
export async function getStoreFile(deps: Deps, caller: Caller, { id, vectorStoreId }: StoreFilePlace): Promise<VectorStoreFile> {
  const file =
    typeof vectorStoreId === 'string'
      ? await deps.storage.knowledge.vectorStores.findFile((await getVectorStore(deps, caller, vectorStoreId)).id, id)
      : (await getStoreFiles(deps, caller, [id]))[0];
  if (file === undefined) throw new DomainError('NOT_FOUND', 'This vector store has no such file', { param: 'fileId' });
  return file;
}

/** The files of stores among `ids`, their own, that the caller may read, in any order. */
export async function getStoreFiles(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly VectorStoreFile[]> {
  const itemIds = ids.filter((id) => isId('vectorStoreFile', id)).map((id) => idAs('knowledgeItem', id));
  const files =
    itemIds.length === 0 ? [] : await deps.storage.knowledge.vectorStorePages.findFiles(itemIds, visibleDataSources(caller));
  for (const id of new Set(files.map(({ dataSourceId }) => dataSourceId))) deps.audit.read(caller, 'dataSource', [{ id }]);
  return files;
}

/** By the ids at the ends of a page. @throws DomainError NOT_FOUND; INVALID_VALUE naming `first`, `after` or `before`. */
export async function listStoreFiles(
  deps: Deps,
  caller: Caller,
  vectorStoreId: string,
  { filter, ...input }: ListRequest & { readonly filter?: Optional<StoreFileStatus> },
) {
  const page = readPageInput(input);
  const store = await getVectorStore(deps, caller, vectorStoreId);
  return pageFrom(await deps.storage.knowledge.vectorStores.listFiles(store.id, filter ?? undefined, page), page);
}

/** Which files of a store or a batch, and in which order. */
export interface StoreFileListQuery {
  readonly status?: Optional<StoreFileStatus>;
  readonly order?: Optional<'asc' | 'desc'>;
}

/** @throws DomainError NOT_FOUND. */
export async function pageStoreFiles(
  deps: Deps,
  caller: Caller,
  vectorStoreId: string,
  query: StoreFileListQuery,
  page: PageRequest,
): Promise<Page<VectorStoreFile>> {
  const store = await getVectorStore(deps, caller, vectorStoreId);
  const [files = emptyPage(page)] = await pageFilesOfStores(deps, [store.id], query, page);
  return files;
}

/** A page of the files of each store, in the order of the stores. Access is checked where the stores are found. */
export async function pageFilesOfStores(
  deps: Deps,
  storeIds: readonly string[],
  { status, order }: StoreFileListQuery,
  page: PageRequest,
): Promise<readonly Page<VectorStoreFile>[]> {
  const query = { status: status ?? undefined, order: order ?? ('desc' as const) };
  const pages = await deps.storage.knowledge.vectorStorePages.filePagesOf(storeIds, query, page);
  return storeIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/** Replaces the attributes of a file; null takes all away. @throws DomainError NOT_FOUND, FORBIDDEN, the faults of the input. */
export async function updateStoreFile(
  deps: Deps,
  caller: Caller,
  place: StoreFilePlace,
  input: z.output<typeof storeFileChangesBody>,
): Promise<VectorStoreFile> {
  const { itemId } = await editableFile(deps, caller, place);
  const faults = new Faults();
  if (input.attributes === undefined) faults.add('attributes', 'attributes is required', 'MISSING_REQUIRED_PARAMETER');
  const attributes = readAttributes(input.attributes, faults);
  faults.throwIfAny();
  await deps.audit.change(caller, () => deps.storage.knowledge.vectorStores.setAttributes(itemId, attributes));
  return getStoreFile(deps, caller, place);
}

/**
 * Takes a file out of a store: searches do not find it any more; the file itself stays.
 *
 * @returns the id as it was given.
 * @throws DomainError NOT_FOUND, FORBIDDEN.
 */
export async function detachFile(deps: Deps, caller: Caller, place: StoreFilePlace): Promise<string> {
  const { dataSourceId: storeId, fileId } = await editableFile(deps, caller, place);
  await deps.audit.change(caller, () =>
    deps.storage.knowledge.vectorStores.detach({ storeId, fileId }, createRemoval(deps, caller)),
  );
  return place.id;
}

/** @throws DomainError NOT_FOUND, FORBIDDEN. */
async function editableFile(deps: Deps, caller: Caller, place: StoreFilePlace): Promise<VectorStoreFile> {
  // A store that the caller names is looked for first: the error names it.
  if (typeof place.vectorStoreId === 'string') await editableStore(deps, caller, place.vectorStoreId);
  const file = await getStoreFile(deps, caller, place);
  if (typeof place.vectorStoreId !== 'string') await editableStore(deps, caller, file.dataSourceId);
  return file;
}

/** A store cannot take more files. */
export function tooManyFiles({ settings }: Deps): DomainError {
  return new DomainError('CONFLICT', `A vector store has at most ${settings.VECTOR_STORE_FILES_MAX} files`);
}
