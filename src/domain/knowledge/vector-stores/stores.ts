import type { z } from 'zod';
import { DomainError } from '../../../entities/ground/errors.ts';
import { idAs, isId } from '../../../entities/ground/ids.ts';
import type { ListRequest, Page } from '../../../entities/ground/page.ts';
import { statusOfStore, type VectorStore } from '../../../entities/knowledge/vector-store.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { OrderedPage } from '../../../storage/knowledge/vector-stores/store-pages.ts';
import type { newStoreBody, storeChangesBody } from '../../../wire/vector-stores/bodies.ts';
import type { Deps } from '../../deps.ts';
import { canEditDataSource, visibleDataSources } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { deleteDataSource } from '../sources.ts';
import { makeCopies, queueCopies, removeCopies } from './copies.ts';
import { pageFrom, readDays, readStoreMetadata, readStorePageInput, requireOwnChunks } from './input.ts';

export type CreateVectorStoreInput = z.output<typeof newStoreBody>;
/** Absent members are kept. */
export type UpdateVectorStoreInput = z.output<typeof storeChangesBody>;

const nameLengthMax = 200;
const descriptionLengthMax = 2_000;
const filesAtOnce = 100;
const dayMs = 86_400_000;

/**
 * Makes a data source for no agent that holds any number of files. Each file is copied and indexed.
 *
 * @throws DomainError with every fault of the input, also for a file that is none of the caller's.
 */
export async function createVectorStore(deps: Deps, caller: Caller, input: CreateVectorStoreInput): Promise<VectorStore> {
  const faults = new Faults();
  const name = (input.name ?? '').trim();
  const description = input.description ?? '';
  faults.requireLength('name', name, nameLengthMax);
  faults.requireLength('description', description, descriptionLengthMax);
  const metadata = readStoreMetadata(input.metadata, faults);
  const days = readDays(input.expiresAfter, faults);
  const fileIds = [...new Set(input.fileIds ?? [])];
  faults.requireCount('fileIds', fileIds, filesAtOnce);
  requireOwnChunks(input.chunkingStrategy, faults);
  faults.throwIfAny();
  const id = deps.newId('dataSource');
  const createdAt = deps.now();
  const files = await makeCopies(
    deps,
    caller,
    fileIds.map((fileId, index) => ({ fileId, param: `fileIds[${index}]`, attributes: {} })),
  );
  const expiresAt = days === null ? null : new Date(createdAt.getTime() + days * dayMs);
  const { orgId, userId: ownerUserId } = caller;
  const store = { id, createdAt, orgId, ownerUserId, name, description, metadata, expiresAfterDays: days, expiresAt };
  try {
    await deps.audit.change(caller, async () => {
      await deps.storage.knowledge.vectorStores.create(store, files, queueCopies(deps, caller, files));
      return { id };
    });
  } catch (error) {
    await removeCopies(deps, files);
    throw error;
  }
  return getVectorStore(deps, caller, id);
}

/** A store that the caller may read, by the rules of data sources. @throws DomainError NOT_FOUND, also for another data source. */
export async function getVectorStore(deps: Deps, caller: Caller, id: string): Promise<VectorStore> {
  const sourceId = toSourceId(id);
  const vectorStore =
    sourceId === undefined ? undefined : await deps.storage.knowledge.vectorStores.find(sourceId, visibleDataSources(caller));
  if (vectorStore === undefined) throw new DomainError('NOT_FOUND', 'There is no such vector store', { param: 'vectorStoreId' });
  deps.audit.read(caller, 'dataSource', [vectorStore]);
  return vectorStore;
}

/** The stores among `ids` that the caller may read, in any order. */
export async function getVectorStores(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly VectorStore[]> {
  const sourceIds = ids.flatMap((id) => toSourceId(id) ?? []);
  const storeRows = await deps.storage.knowledge.vectorStorePages.findMany(sourceIds, visibleDataSources(caller));
  deps.audit.read(caller, 'dataSource', storeRows);
  return storeRows;
}

/** A vector store is a data source: its id may be that of the source, or its own. @returns undefined for another id. */
export function toSourceId(id: string): string | undefined {
  return isId('dataSource', id) || isId('vectorStore', id) ? idAs('dataSource', id) : undefined;
}

/** The stores that the caller may read, by the ids at the ends of a page. @throws DomainError INVALID_VALUE naming `first`, `after` or `before`. */
export async function listVectorStores(deps: Deps, caller: Caller, input: ListRequest) {
  const page = readStorePageInput(input);
  const storePage = pageFrom(await deps.storage.knowledge.vectorStores.list(visibleDataSources(caller), page), page);
  deps.audit.read(caller, 'dataSource', storePage.items);
  return storePage;
}

/** The stores that the caller may read. */
export async function pageVectorStores(deps: Deps, caller: Caller, page: OrderedPage): Promise<Page<VectorStore>> {
  const storePage = await deps.storage.knowledge.vectorStorePages.list(visibleDataSources(caller), page);
  deps.audit.read(caller, 'dataSource', storePage.items);
  return storePage;
}

/** @throws DomainError NOT_FOUND; FORBIDDEN for everyone except its owner and administrators; the faults of the input. */
export async function updateVectorStore(
  deps: Deps,
  caller: Caller,
  id: string,
  { name, metadata, expiresAfter }: UpdateVectorStoreInput,
): Promise<VectorStore> {
  const store = await editableStore(deps, caller, id);
  const faults = new Faults();
  if (typeof name === 'string') faults.requireLength('name', name.trim(), nameLengthMax);
  const changes = {
    ...(typeof name === 'string' ? { name: name.trim() } : {}),
    ...(metadata === undefined ? {} : { metadata: readStoreMetadata(metadata, faults) }),
    ...(expiresAfter === undefined ? {} : { expiresAfterDays: readDays(expiresAfter, faults) }),
  };
  faults.throwIfAny();
  await deps.audit.change(caller, () => deps.storage.knowledge.vectorStores.update(store.id, changes));
  return getVectorStore(deps, caller, id);
}

/** Deletes the data source with its files; the files they were made of stay. @returns the id as it was given. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function deleteVectorStore(deps: Deps, caller: Caller, id: string): Promise<string> {
  const store = await editableStore(deps, caller, id);
  await deleteDataSource(deps, caller, store.id);
  return id;
}

/** @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function editableStore(deps: Deps, caller: Caller, id: string): Promise<VectorStore> {
  const store = await getVectorStore(deps, caller, id);
  if (!canEditDataSource(caller, store)) {
    throw new DomainError('FORBIDDEN', 'Only the owner of a vector store and administrators may change it');
  }
  return store;
}

/** @throws DomainError CONFLICT */
export function requireUnexpired(deps: Deps, store: VectorStore): void {
  if (statusOfStore(store, deps.now()) === 'expired') {
    throw new DomainError('CONFLICT', 'This vector store has expired: change its expiry, or make another one');
  }
}
