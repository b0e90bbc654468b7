import { Readable } from 'node:stream';
import type { UploadedFile } from '../../../entities/conversations/chats/uploaded-file.ts';
import type { StoredFile } from '../../../entities/conversations/files/file.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { timeOfId } from '../../../entities/ground/ids.ts';
import {
  type ListPage,
  type ListRequest,
  type Page,
  type PageRequest,
  readPageSize,
  toListPage,
} from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { requireScope } from '../../ground/access/policy.ts';
import { findFiles, isFileId, toFileOwner } from '../../ground/attachments/own-files.ts';
import { removeBlobs } from '../../ground/blobs.ts';
import { Faults } from '../../ground/faults.ts';
import { deleteDataSource } from '../../knowledge/sources.ts';
import { detachFileEverywhere } from '../../knowledge/vector-stores/detach.ts';
import { deleteChatFile } from '../chats/files.ts';
import { findBytesMax, type Optional, readExpiry, readPurpose } from './input.ts';

export interface NewFileInput {
  readonly file: UploadedFile;
  readonly purpose: string;
  readonly expiresAfterAnchor?: Optional<string>;
  readonly expiresAfterSeconds?: Optional<number>;
}

export interface FileListInput extends Omit<ListRequest, 'before'> {
  readonly purpose?: Optional<string>;
}

const textLengthMax = 200;
/** The names of arguments, and those of form fields. */
const expiryParams = { anchor: 'expiresAfterAnchor', seconds: 'expiresAfterSeconds' };
const expiryNames = { anchor: 'expires_after[anchor]', seconds: 'expires_after[seconds]' };
const expireEveryMs = 10 * 60_000;
const expiredAtOnce = 500;

/**
 * Keeps a file of the caller for responses (`input_file`) and vector stores.
 *
 * @throws DomainError INVALID_VALUE for an empty file, and with every fault of the other members; REQUEST_TOO_LARGE; CONFLICT when the user
 * has the most files already.
 */
export async function createFile(deps: Deps, caller: Caller, input: NewFileInput): Promise<StoredFile> {
  const { file } = input;
  const { FILES_MAX } = deps.settings;
  const faults = new Faults();
  const purpose = readPurpose(input.purpose, faults);
  const expiry = { anchor: input.expiresAfterAnchor, seconds: input.expiresAfterSeconds };
  const seconds = readExpiry({ ...expiry, params: expiryParams, shown: expiryNames }, faults);
  if (file.sizeBytes === 0) faults.add('file', 'file must not be empty');
  faults.throwIfAny();
  const { orgId, userId } = caller;
  const id = deps.newId('chatFile');
  // The id says where the file stood in the list once it is deleted.
  const createdAt = timeOfId(id);
  const blobKey = `${orgId}/files/${deps.newId('upload')}`;
  const { sizeBytes } = await deps.storage.blobs.put(blobKey, Readable.from(file.stream()), findBytesMax(deps, purpose));
  const expiresAt = seconds === undefined ? null : new Date(createdAt.getTime() + seconds * 1000);
  const mimeType = file.mimeType.slice(0, textLengthMax);
  const row = { id, createdAt, orgId, userId, filename: file.filename, sizeBytes, mimeType, purpose, blobKey, expiresAt };
  try {
    await deps.audit.change(caller, async () => {
      if (!(await deps.storage.conversations.files.create(row, FILES_MAX))) {
        throw new DomainError('CONFLICT', `A user may keep at most ${FILES_MAX} files: delete one first`);
      }
      return { id };
    });
  } catch (error) {
    await deps.storage.blobs.delete(blobKey);
    throw error;
  }
  return { ...row, chatId: null, dataSourceId: null };
}

/** A file of the caller: uploaded by itself, of a chat, or of a data source. @throws DomainError NOT_FOUND. */
export async function getFile(deps: Deps, caller: Caller, id: string): Promise<StoredFile> {
  const [file] = isFileId(id) ? await deps.storage.conversations.files.findMany([id], toFileOwner(caller)) : [];
  if (file === undefined) throw missingFile();
  return file;
}

/** A file of the caller that is in no chat and no data source: those are things of their own. @throws DomainError NOT_FOUND. */
export async function getKeptFile(deps: Deps, caller: Caller, id: string): Promise<StoredFile> {
  const file = await getFile(deps, caller, id);
  if (isKept(file)) return file;
  throw missingFile();
}

/** The files of the caller among `ids` that are in no chat and no data source, in any order. */
export async function getKeptFiles(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly StoredFile[]> {
  return (await findFiles(deps, caller, ids)).filter(isKept);
}

function isKept({ chatId, dataSourceId }: StoredFile): boolean {
  return chatId === null && dataSourceId === null;
}

/** The files of the caller that are in no chat and no data source. */
export function pageKeptFiles(
  deps: Deps,
  caller: Caller,
  { purpose, order }: Pick<FileListInput, 'purpose' | 'order'>,
  page: PageRequest,
): Promise<Page<StoredFile>> {
  return deps.storage.conversations.files.listKept(
    toFileOwner(caller),
    { purpose: purpose ?? undefined, order: order ?? 'desc' },
    page,
  );
}

/**
 * The caller's files. Reading goes on behind `after` also where that file was deleted meanwhile, as by a caller that deletes files while it reads the list
 * page by page.
 *
 * @throws DomainError INVALID_VALUE naming `first` or `after`.
 */
export async function listFiles(
  deps: Deps,
  caller: Caller,
  { purpose, after, first, order }: FileListInput,
): Promise<ListPage<StoredFile>> {
  const most = readPageSize({ first }, { usual: 100, most: 10_000 });
  const owner = toFileOwner(caller);
  if (typeof after === 'string' && !isFileId(after)) {
    throw new DomainError('INVALID_VALUE', 'after names no file of yours', { param: 'after' });
  }
  const query = { purpose: purpose ?? undefined, after: after ?? undefined, limit: most + 1, order: order ?? ('desc' as const) };
  const { rows, foundCount } = await deps.storage.conversations.files.list(owner, query);
  const items = rows.slice(0, most);
  return toListPage({ items, hasMore: foundCount > items.length }, { after });
}

/** Opens the content of a file of the caller. @throws DomainError NOT_FOUND. */
export async function openFile(deps: Deps, caller: Caller, id: string) {
  const { blobKey, filename, sizeBytes } = await getFile(deps, caller, id);
  return { filename, sizeBytes, open: () => deps.storage.blobs.get(blobKey) };
}

/**
 * Deletes a file of the caller with its bytes, and takes it out of all vector stores. One of a chat leaves its chat; one of a data source
 * is deleted with the source.
 *
 * @returns the id.
 * @throws DomainError NOT_FOUND; INSUFFICIENT_SCOPE for the file of a data source, without the scope to delete that.
 */
export async function deleteFile(deps: Deps, caller: Caller, id: string): Promise<string> {
  const file = await getFile(deps, caller, id);
  if (file.dataSourceId !== null) {
    requireScope(caller, 'Mutation.deleteDataSource');
    await deleteDataSource(deps, caller, file.dataSourceId);
  } else if (file.chatId !== null) await deleteChatFile(deps, caller, file.chatId, id);
  else await removeFile(deps, caller, file);
  await detachFileEverywhere(deps, caller, id);
  return id;
}

/** Registers the deletion of files that expired. */
export function registerFileExpiry(deps: Deps): void {
  deps.jobs.lead('files.expire', expireEveryMs, (signal) => expireFiles(deps, signal));
}

/** @param signal  ends it between two files. */
export async function expireFiles(deps: Deps, signal: AbortSignal): Promise<void> {
  for (const file of await deps.storage.conversations.files.expired(expiredAtOnce)) {
    if (signal.aborted) return;
    await removeFile(deps, undefined, file);
    await detachFileEverywhere(deps, file, file.id);
  }
}

/** @param caller  whose mutation it is; undefined for a file that expired. @throws DomainError NOT_FOUND when the file of a caller is gone meanwhile. */
async function removeFile(deps: Deps, caller: Caller | undefined, { id }: Pick<StoredFile, 'id'>): Promise<void> {
  const remove = () => deps.storage.conversations.files.delete(id);
  const removeOwn = async () => {
    const blobKey = await remove();
    if (blobKey === undefined) throw missingFile();
    return blobKey;
  };
  const blobKey = await (caller === undefined ? remove() : deps.audit.change(caller, removeOwn));
  if (blobKey !== undefined) await removeBlobs(deps, [blobKey]);
}

function missingFile(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such file', { param: 'fileId' });
}
