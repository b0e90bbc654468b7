import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { UploadedFile } from '../../../entities/conversations/chats/uploaded-file.ts';
import type { FileUpload, FileUploadPart, UploadState, UploadStatus } from '../../../entities/conversations/files/upload.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId, timeOfId } from '../../../entities/ground/ids.ts';
import { emptyPage, type Page, type PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Deps } from '../../deps.ts';
import { findFiles } from '../../ground/attachments/own-files.ts';
import { removeBlobs } from '../../ground/blobs.ts';
import { Faults } from '../../ground/faults.ts';
import { findBytesMax, type Optional, readExpiry, readPurpose } from './input.ts';

export interface NewUploadInput {
  /** The size of the file. */
  readonly bytes: number;
  readonly filename: string;
  readonly mimeType: string;
  readonly purpose: string;
  readonly expiresAfter?: unknown;
}
export interface CompleteUploadInput {
  /** In the order of their bytes. Parts that are not named are left out. */
  readonly partIds: readonly string[];
  /** Of the whole file, in hex. */
  readonly md5?: Optional<string>;
}

const textLengthMax = 200;
const lifeMs = 3_600_000;
const partsMax = 1_000;
const expireEveryMs = 10 * 60_000;
const expiredAtOnce = 500;
/** How long an upload that is over can still be named. */
const rememberedMs = 86_400_000;
const expiryNames = { anchor: 'expiresAfter.anchor', seconds: 'expiresAfter.seconds' };

/**
 * Begins a file that comes in parts. It expires an hour later.
 *
 * @throws DomainError with every fault of the input; REQUEST_TOO_LARGE; CONFLICT when the user has the most pending uploads already.
 */
export async function createUpload(deps: Deps, caller: Caller, input: NewUploadInput): Promise<UploadState> {
  const faults = new Faults();
  const purpose = readPurpose(input.purpose, faults);
  const bytesMax = findBytesMax(deps, purpose);
  const { bytes: sizeBytes } = input;
  if (sizeBytes < 1) faults.add('bytes', `bytes must be from 1 to ${bytesMax}`);
  else if (sizeBytes > bytesMax) faults.add('bytes', `bytes must be from 1 to ${bytesMax}`, 'REQUEST_TOO_LARGE');
  const filename = plainName(input.filename);
  faults.requireName('filename', filename, textLengthMax);
  const mimeType = input.mimeType.toLowerCase().split(';')[0]?.trim() ?? '';
  if (!/^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(mimeType)) {
    faults.add('mimeType', 'mimeType must be a media type like text/plain');
  }
  const { anchor, seconds } = isObject(input.expiresAfter) ? input.expiresAfter : {};
  const fileExpirySeconds = readExpiry({ anchor, seconds, params: expiryNames }, faults) ?? null;
  faults.throwIfAny();
  const { orgId, userId } = caller;
  const createdAt = deps.now();
  const expiresAt = new Date(createdAt.getTime() + lifeMs);
  const upload: FileUpload = {
    ...{ id: deps.newId('fileUpload'), createdAt, orgId, userId, filename, mimeType, purpose, sizeBytes },
    ...{ status: 'pending', expiresAt, fileExpirySeconds, fileId: null },
  };
  const { UPLOADS_PENDING_MAX } = deps.settings;
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.fileUploads.create(upload, UPLOADS_PENDING_MAX))) {
      throw new DomainError(
        'CONFLICT',
        `A user may have at most ${UPLOADS_PENDING_MAX} pending uploads: complete or cancel one first`,
      );
    }
    return upload;
  });
  return toUploadState(deps, upload);
}

/** An upload of the caller; one that is over can be named for a day. @throws DomainError NOT_FOUND. */
export async function getUpload(deps: Deps, caller: Caller, id: string): Promise<UploadState> {
  const [uploadState] = isId('fileUpload', id) ? await getUploads(deps, caller, [id]) : [];
  if (uploadState === undefined) throw new DomainError('NOT_FOUND', 'There is no such upload', { param: 'uploadId' });
  return uploadState;
}

/** The uploads of the caller among `ids`, in any order. */
export async function getUploads(deps: Deps, { orgId, userId }: Caller, ids: readonly string[]): Promise<readonly UploadState[]> {
  return (await deps.storage.conversations.fileUploads.findMany(ids, { orgId, userId })).map((upload) =>
    toUploadState(deps, upload),
  );
}

/** The parts of uploads of the caller among `ids`, in any order. */
export function getUploadParts(
  deps: Deps,
  { orgId, userId }: Caller,
  ids: readonly string[],
): Promise<readonly FileUploadPart[]> {
  return deps.storage.conversations.fileUploads.findParts(ids, { orgId, userId });
}

/** A page of the parts of each upload, in the order of the uploads, in that in which they came. Access is checked where the uploads are found. */
export async function listPartsOfUploads(
  deps: Deps,
  uploadIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<FileUploadPart>[]> {
  const pages = await deps.storage.conversations.fileUploads.partPagesOf(uploadIds, page);
  return uploadIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/**
 * Adds bytes to an upload. Parts may come at the same time and in any order. A part may be sent again: all parts together may have twice the
 * bytes of the upload.
 *
 * @throws DomainError NOT_FOUND; CONFLICT for an upload that is not pending; INVALID_VALUE for an empty part; REQUEST_TOO_LARGE.
 */
export async function addUploadPart(deps: Deps, caller: Caller, id: string, data: UploadedFile): Promise<FileUploadPart> {
  const upload = await pendingUpload(deps, caller, id);
  const { storage } = deps;
  if (data.sizeBytes === 0) throw new DomainError('INVALID_VALUE', 'data must not be empty', { param: 'data' });
  if (data.sizeBytes > upload.sizeBytes) {
    throw new DomainError('REQUEST_TOO_LARGE', `data must be at most the ${upload.sizeBytes} bytes of the upload`, {
      param: 'data',
    });
  }
  const partId = deps.newId('uploadPart');
  const blobKey = `${upload.orgId}/uploads/${partId}`;
  const { sizeBytes } = await storage.blobs.put(blobKey, Readable.from(data.stream()), upload.sizeBytes);
  const part = { id: partId, createdAt: deps.now(), uploadId: id, sizeBytes, blobKey };
  try {
    return await deps.audit.change(caller, async () => {
      const partOutcome = await storage.conversations.fileUploads.addPart(part, { partsMax, bytesMax: 2 * upload.sizeBytes });
      if (partOutcome === 'added') return part;
      if (partOutcome === 'closed') throw notPending();
      const message = `An upload takes at most ${partsMax} parts and, with parts that are sent again, twice its bytes`;
      throw new DomainError('REQUEST_TOO_LARGE', message, { param: 'data' });
    });
  } catch (error) {
    await storage.blobs.delete(blobKey);
    throw error;
  }
}

/**
 * Makes the file of the named parts, in their order. The other parts are deleted.
 *
 * @throws DomainError NOT_FOUND; CONFLICT for an upload that is not pending, and when the user has the most files already; INVALID_VALUE naming
 * `partIds` or `md5`. The upload stays pending then, and can be completed with other parts. One that is completed already is answered as it is.
 */
export async function completeUpload(deps: Deps, caller: Caller, id: string, input: CompleteUploadInput): Promise<UploadState> {
  const { storage, settings } = deps;
  const before = await completedBefore(deps, caller, id);
  if (before !== undefined) return before;
  const upload = await pendingUpload(deps, caller, id);
  const partsById = new Map((await storage.conversations.fileUploads.parts(id)).map((part) => [part.id, part]));
  const parts = readParts(upload, partsById, input);
  const { orgId, userId, filename, mimeType, purpose, sizeBytes, fileExpirySeconds } = upload;
  const blobKey = `${orgId}/files/${deps.newId('upload')}`;
  const fileId = deps.newId('chatFile');
  // The id says where the file stood in the list once it is deleted.
  const createdAt = timeOfId(fileId);
  const expiresAt = fileExpirySeconds === null ? null : new Date(createdAt.getTime() + fileExpirySeconds * 1000);
  const file = { id: fileId, createdAt, orgId, userId, filename, sizeBytes, mimeType, purpose, blobKey, expiresAt };
  try {
    const md5 = createHash('md5');
    await storage.blobs.put(blobKey, Readable.from(streamBytes(deps, parts, md5), { objectMode: false }), sizeBytes);
    if (typeof input.md5 === 'string' && md5.digest('hex') !== input.md5.toLowerCase()) {
      throw new DomainError('INVALID_VALUE', 'md5 does not fit the parts in this order', { param: 'md5' });
    }
    await deps.audit.change(caller, async () => {
      const end = await storage.conversations.fileUploads.complete(id, file, settings.FILES_MAX);
      if (end === 'closed') throw notPending();
      if (end === 'full')
        throw new DomainError('CONFLICT', `A user may keep at most ${settings.FILES_MAX} files: delete one first`);
    });
  } catch (error) {
    await storage.blobs.delete(blobKey);
    const meanwhile = await completedBefore(deps, caller, id);
    if (meanwhile !== undefined) return meanwhile;
    // Whoever cancelled it meanwhile took its parts away.
    await pendingUpload(deps, caller, id);
    throw error;
  }
  await removeParts(deps, id);
  const completedUpload = { ...upload, status: 'completed' as const, fileId };
  return { ...toUploadState(deps, completedUpload), file: { ...file, chatId: null, dataSourceId: null } };
}

/** Ends an upload and deletes its parts. @throws DomainError NOT_FOUND; CONFLICT for one that is not pending. */
export async function cancelUpload(deps: Deps, caller: Caller, id: string): Promise<UploadState> {
  const upload = await pendingUpload(deps, caller, id);
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.fileUploads.cancel(id))) throw notPending();
  });
  await removeParts(deps, id);
  return toUploadState(deps, { ...upload, status: 'cancelled' });
}

/** Registers the deletion of the parts of uploads that expired. */
export function registerUploadExpiry(deps: Deps): void {
  deps.jobs.lead('uploads.expire', expireEveryMs, (signal) => expireUploads(deps, signal));
}

/** @param signal  ends it between two uploads. */
export async function expireUploads(deps: Deps, signal: AbortSignal): Promise<void> {
  const { fileUploads } = deps.storage.conversations;
  for (const id of await fileUploads.withUselessParts(expiredAtOnce)) {
    if (signal.aborted) return;
    await removeParts(deps, id);
  }
  await fileUploads.sweep(rememberedMs);
}

/** An upload that an earlier request completed, such as one whose reply was lost: with its file, while that exists. */
async function completedBefore(deps: Deps, caller: Caller, id: string): Promise<UploadState | undefined> {
  const upload = isId('fileUpload', id) ? await deps.storage.conversations.fileUploads.find(id, caller) : undefined;
  if (upload?.status !== 'completed' || upload.fileId === null) return undefined;
  const [file] = await findFiles(deps, caller, [upload.fileId]);
  return file === undefined ? undefined : { ...toUploadState(deps, upload), file };
}

async function pendingUpload(deps: Deps, { userId, orgId }: Caller, id: string): Promise<FileUpload> {
  const upload = isId('fileUpload', id) ? await deps.storage.conversations.fileUploads.find(id, { userId, orgId }) : undefined;
  if (upload === undefined) throw new DomainError('NOT_FOUND', 'There is no such upload', { param: 'uploadId' });
  const { status } = toUploadState(deps, upload);
  if (status !== 'pending') throw notPending(status);
  return upload;
}

function toUploadState(deps: Deps, upload: FileUpload): UploadState {
  const isExpired = upload.status === 'pending' && upload.expiresAt.getTime() <= deps.now().getTime();
  return { id: upload.id, upload, status: isExpired ? 'expired' : upload.status, file: null };
}

function notPending(status?: UploadStatus): DomainError {
  return new DomainError(
    'CONFLICT',
    `This upload is ${status === undefined ? 'not pending any more' : status}: begin another one`,
  );
}

function readParts(
  { sizeBytes }: FileUpload,
  partsById: ReadonlyMap<string, FileUploadPart>,
  { partIds, md5 }: CompleteUploadInput,
): readonly FileUploadPart[] {
  const faults = new Faults();
  if (partIds.length === 0) faults.add('partIds', 'partIds must name at least one part', 'EMPTY_ARRAY');
  faults.requireCount('partIds', partIds, partsMax);
  if (new Set(partIds).size < partIds.length) faults.add('partIds', 'partIds must name each part once');
  const parts = partIds.slice(0, partsMax).flatMap((id, index) => {
    const part = partsById.get(id);
    if (part === undefined) faults.add(`partIds[${index}]`, `partIds[${index}] names no part of this upload`);
    return part === undefined ? [] : [part];
  });
  if (typeof md5 === 'string' && !/^[0-9a-f]{32}$/i.test(md5)) faults.add('md5', 'md5 must have 32 hexadecimal digits');
  faults.throwIfAny();
  const total = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  if (total !== sizeBytes) {
    const message = `partIds must name parts of ${sizeBytes} bytes together, as the upload was begun: these have ${total}`;
    throw new DomainError('INVALID_VALUE', message, { param: 'partIds' });
  }
  return parts;
}

async function* streamBytes({ storage }: Deps, parts: readonly FileUploadPart[], md5: Hash): AsyncGenerator<Buffer> {
  for (const { blobKey } of parts) {
    for await (const chunk of await storage.blobs.get(blobKey)) {
      md5.update(chunk as Buffer);
      yield chunk as Buffer;
    }
  }
}

async function removeParts(deps: Deps, id: string): Promise<void> {
  await removeBlobs(deps, await deps.storage.conversations.fileUploads.removeParts(id));
}

/** The last segment of a path, without control characters. */
function plainName(name: string): string {
  return (name.toWellFormed().split(/[\\/]/).at(-1) ?? '')
    .replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .trim();
}
