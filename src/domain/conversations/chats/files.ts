import { Readable } from 'node:stream';
import { fileAddress, signedFileAddress } from '../../../engine/files/file-links.ts';
import type { ChatFile, ChatFileSource } from '../../../entities/conversations/chats/file.ts';
import type { UploadedFile } from '../../../entities/conversations/chats/uploaded-file.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Deps } from '../../deps.ts';
import { visibleChats } from '../../ground/access/access.ts';
import { fileView } from '../../ground/attachments/file-view.ts';
import { removeBlobs } from '../../ground/blobs.ts';
import { Faults } from '../../ground/faults.ts';
import { getChat, getOwnChat } from './chats.ts';

type Optional<T> = T | null | undefined;

/** A file whose content follows later. */
export interface ChatFileRecordInput {
  readonly filename: string;
  /** Bytes of the content. */
  readonly size: number;
  readonly mimeType: string;
  readonly metadata?: unknown;
}

const filenameLengthMax = 200;
const metadataBytesMax = 16_384;
/** A record without its content expires after this. */
export const recordLifeMs = 24 * 60 * 60 * 1_000;
/** A deleted file stays in lists that ask for deleted ones this long. */
const deletedListedMs = 30 * 24 * 60 * 60 * 1_000;
const expireEveryMs = 10 * 60 * 1_000;
const sweepEveryMs = 60 * 60 * 1_000;
const sweptAtOnce = 500;

/**
 * Stores a file for a chat of the caller.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN, INVALID_VALUE for an empty file, REQUEST_TOO_LARGE, CONFLICT when the chat has its most files already.
 */
export async function uploadChatFile(
  deps: Deps,
  caller: Caller,
  chatId: string,
  file: UploadedFile,
  source: ChatFileSource,
): Promise<ChatFile> {
  const chat = await getOwnChat(deps, caller, chatId);
  if (file.sizeBytes === 0) throw new DomainError('INVALID_VALUE', 'file must not be empty', { param: 'file' });
  const { blobKey, sizeBytes } = await keep(deps, chat.orgId, file);
  const { filename } = file;
  const mimeType = file.mimeType.slice(0, filenameLengthMax);
  const row = { chatId: chat.id, source, filename, sizeBytes, mimeType, metadata: {}, status: 'UPLOADED', blobKey } as const;
  return create(deps, caller, row).catch(async (error: unknown) => {
    await deps.storage.blobs.delete(blobKey);
    throw error;
  });
}

/**
 * Makes a record of a file for a chat of the caller; its content must follow within a day. Given a file instead of a record, stores it at once.
 *
 * @throws DomainError like `uploadChatFile`, and with every fault of the record.
 */
export async function createChatFileRecord(
  deps: Deps,
  caller: Caller,
  chatId: string,
  { input, file }: { readonly input?: Optional<ChatFileRecordInput>; readonly file?: Optional<UploadedFile> },
): Promise<ChatFile> {
  if (file !== undefined && file !== null) {
    if (input !== undefined && input !== null) {
      throw new DomainError('MUTUALLY_EXCLUSIVE_PARAMETERS', 'Give either a record or a file', { param: 'file' });
    }
    return uploadChatFile(deps, caller, chatId, file, 'USER');
  }
  if (input === undefined || input === null) {
    throw new DomainError('MISSING_REQUIRED_PARAMETER', 'filename, size and mimeType are required, or a file', {
      param: 'filename',
    });
  }
  const chat = await getOwnChat(deps, caller, chatId);
  const record = readRecord(deps, input);
  return create(deps, caller, { ...record, chatId: chat.id, source: 'USER', status: 'PENDING', blobKey: null });
}

/**
 * Stores the content of a record, once and with exactly the declared size.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN, INVALID_VALUE for another size, CONFLICT when it has its content already.
 */
export async function putChatFileContent(
  deps: Deps,
  caller: Caller,
  place: { readonly chatId: string; readonly fileId: string },
  content: UploadedFile,
): Promise<ChatFile> {
  const chat = await getOwnChat(deps, caller, place.chatId);
  const file = await findFile(deps, chat.id, place.fileId);
  if (file.status !== 'PENDING') throw hasContent();
  if (deps.now().getTime() - file.createdAt.getTime() > recordLifeMs) throw missingFile();
  if (content.sizeBytes !== file.sizeBytes) {
    throw new DomainError('INVALID_VALUE', `The content has ${content.sizeBytes} bytes, but the record says ${file.sizeBytes}`, {
      param: 'size',
    });
  }
  const { blobKey, sizeBytes } = await keep(deps, chat.orgId, content);
  await deps.audit
    .change(caller, async () => {
      if (!(await deps.storage.conversations.chatFiles.complete(file.id, { blobKey, mimeType: file.mimeType, sizeBytes })))
        throw hasContent();
    })
    .catch(async (error: unknown) => {
      await deps.storage.blobs.delete(blobKey);
      throw error;
    });
  return findFile(deps, chat.id, file.id);
}

/**
 * One page of the files of each chat, oldest first; of chats that the caller may read. Cost: one statement.
 *
 * @param includesDeleted  as in `listChatFiles`.
 */
export function pagesOfChatFiles(
  deps: Deps,
  chatIds: readonly string[],
  page: PageRequest,
  includesDeleted: boolean,
): Promise<readonly Page<ChatFile>[]> {
  return deps.storage.conversations.chatFiles.pagesOf(chatIds, page, includesDeleted ? deletedSince(deps) : undefined);
}

/** The files among `ids` that are not deleted, in chats that the caller may read, in any order. Cost: one statement. */
export async function getChatFiles(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly ChatFile[]> {
  const chatFiles = await deps.storage.conversations.chatFiles.findInChats(ids, visibleChats(caller));
  for (const { chatId, orgId, userId } of chatFiles) deps.audit.read(caller, 'chat', [{ id: chatId, orgId, userId }]);
  return chatFiles;
}

/**
 * All files of one chat, oldest first; of a chat that the caller may read.
 *
 * @param includesDeleted  also those that were deleted in the last 30 days; their bytes are gone.
 * @throws DomainError REPLY_TOO_LARGE.
 */
export function listChatFiles(deps: Deps, chatId: string, includesDeleted: boolean): Promise<readonly ChatFile[]> {
  return deps.storage.conversations.chatFiles.listOf([chatId], includesDeleted ? deletedSince(deps) : undefined);
}

function deletedSince({ now }: Deps): Date {
  return new Date(now().getTime() - deletedListedMs);
}

/** A file of a chat that the caller may read. @throws DomainError NOT_FOUND. */
export async function getChatFile(deps: Deps, caller: Caller, chatId: string, fileId: string): Promise<ChatFile> {
  const chat = await getChat(deps, caller, chatId);
  return findFile(deps, chat.id, fileId);
}

/** Opens the file's content. @throws DomainError NOT_FOUND, also for a record without content. */
export async function openChatFile(deps: Deps, caller: Caller, chatId: string, fileId: string) {
  const { blobKey, filename, sizeBytes, mimeType } = await getChatFile(deps, caller, chatId, fileId);
  if (blobKey === null) throw new DomainError('NOT_FOUND', 'This file has no content yet', { param: 'fileId' });
  return { filename, ...fileView(mimeType), sizeBytes, open: () => deps.storage.blobs.get(blobKey) };
}

/** Deletes a file of a chat of the caller with its bytes. Text that models got from it stays. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function deleteChatFile(deps: Deps, caller: Caller, chatId: string, fileId: string): Promise<ChatFile> {
  const chat = await getOwnChat(deps, caller, chatId);
  const file = await findFile(deps, chat.id, fileId);
  const blobKeys = await deps.audit.change(caller, async () => {
    const removed = await deps.storage.conversations.chatFiles.delete(chat.id, file.id);
    if (removed === undefined) throw missingFile();
    return removed;
  });
  await removeBlobs(deps, blobKeys);
  return { ...file, status: 'DELETED', blobKey: null, deletedAt: deps.now() };
}

/** The address of the content of a file that the caller may read: signed, so that it opens in a browser for an hour. Without content, there is nothing to sign. */
export function chatFileUrl(deps: Deps, { chatId, id: fileId, status }: ChatFile): string {
  const ticket = { chatId, fileId };
  return status === 'UPLOADED' ? signedFileAddress(deps, ticket) : fileAddress(deps, ticket);
}

/** Registers the deletion of records without content, and of files that an interrupted deletion left. */
export function registerChatFileSweep(deps: Deps): void {
  deps.jobs.lead('chat-files.expire', expireEveryMs, (signal) => expireRecords(deps, signal));
  deps.jobs.lead('chat-files.sweep', sweepEveryMs, (signal) => sweepLeftBehind(deps, signal));
  deps.jobs.lead('code-states.expire', sweepEveryMs, (signal) => expireCodeStates(deps, signal));
}

/** @param signal  ends it between two steps. */
export async function expireRecords(deps: Deps, signal: AbortSignal): Promise<void> {
  const { chatFiles } = deps.storage.conversations;
  const before = new Date(deps.now().getTime() - recordLifeMs);
  while (!signal.aborted && (await chatFiles.expire(before, sweptAtOnce)) === sweptAtOnce);
}

/** Deletes what programs left for a next program that did not come in time. */
export async function expireCodeStates(deps: Deps, signal: AbortSignal): Promise<void> {
  for (;;) {
    const keys = await deps.storage.conversations.codeStates.expire(deps.now(), sweptAtOnce);
    await removeBlobs(deps, keys);
    if (signal.aborted || keys.length < sweptAtOnce) return;
  }
}

/** Deletes the bytes of deleted chats whose process died before it deleted them. */
export async function sweepLeftBehind(deps: Deps, signal: AbortSignal): Promise<void> {
  const { chatFiles } = deps.storage.conversations;
  for (const chatId of await chatFiles.leftBehind(sweptAtOnce)) {
    if (signal.aborted) return;
    await removeBlobs(deps, await chatFiles.deleteAll(chatId));
  }
}

type NewFile = Omit<ChatFile, 'id' | 'createdAt' | 'deletedAt'>;

async function create(deps: Deps, caller: Caller, file: NewFile): Promise<ChatFile> {
  const row = { ...file, id: deps.newId('chatFile'), createdAt: deps.now() };
  const { CHAT_FILES_MAX } = deps.settings;
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.chatFiles.create(row, CHAT_FILES_MAX))) {
      throw new DomainError('CONFLICT', `A chat has at most ${CHAT_FILES_MAX} files: delete one first`, { param: 'chatId' });
    }
    return { ...row, deletedAt: null };
  });
}

/** Each attempt gets its own key: two uploads of the same content at once cannot overwrite each other. */
async function keep(deps: Deps, orgId: string, file: UploadedFile): Promise<{ blobKey: string; sizeBytes: number }> {
  const blobKey = `${orgId}/chat-files/${deps.newId('upload')}`;
  const { sizeBytes } = await deps.storage.blobs.put(blobKey, Readable.from(file.stream()), deps.settings.CHAT_FILE_MAX_BYTES);
  return { blobKey, sizeBytes };
}

async function findFile(deps: Deps, chatId: string, fileId: string): Promise<ChatFile> {
  const file = isId('chatFile', fileId) ? await deps.storage.conversations.chatFiles.find(chatId, fileId) : undefined;
  if (file === undefined) throw missingFile();
  return file;
}

function readRecord(
  { settings }: Deps,
  input: ChatFileRecordInput,
): Pick<ChatFile, 'filename' | 'sizeBytes' | 'mimeType' | 'metadata'> {
  const faults = new Faults();
  const filename = lastSegment(input.filename);
  faults.requireName('filename', filename, filenameLengthMax);
  const { CHAT_FILE_MAX_BYTES: bytesMax } = settings;
  const bounds = `size must be from 1 to ${bytesMax} bytes`;
  if (input.size < 1) faults.add('size', bounds);
  else if (input.size > bytesMax) faults.add('size', bounds, 'REQUEST_TOO_LARGE');
  const mimeType = input.mimeType.toLowerCase().split(';')[0]?.trim() ?? '';
  if (!/^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(mimeType)) {
    faults.add('mimeType', 'mimeType must be a media type like text/plain');
  }
  const metadata = input.metadata ?? {};
  if (!isObject(metadata)) faults.add('metadata', 'metadata must be an object or null', 'INVALID_TYPE');
  else if (Buffer.byteLength(JSON.stringify(metadata)) > metadataBytesMax) {
    faults.add('metadata', `metadata must have at most ${metadataBytesMax} bytes as JSON`);
  }
  faults.throwIfAny();
  return { filename, sizeBytes: input.size, mimeType, metadata: metadata as Readonly<Record<string, unknown>> };
}

/** The file name without path and control characters. */
function lastSegment(name: string): string {
  return (name.toWellFormed().split(/[\\/]/).at(-1) ?? '').replaceAll(/\p{Cc}/gu, '').trim();
}

function missingFile(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such file in this chat', { param: 'fileId' });
}

function hasContent(): DomainError {
  return new DomainError('CONFLICT', 'This file has its content already', { param: 'fileId' });
}
