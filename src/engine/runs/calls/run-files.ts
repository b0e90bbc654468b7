import type { ChatFile } from '../../../entities/conversations/chats/file.ts';
import type { OutputFile } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { type IdKind, timeOfId } from '../../../entities/ground/ids.ts';
import { detectImageType, inlineImageTypes } from '../../../lib/image-type.ts';
import type { Settings } from '../../../settings.ts';
import type { Storage } from '../../../storage/storage.ts';
import { fileLinkLifeMs, signedFileAddress } from '../../files/file-links.ts';
import { freeFilename, safeFilename } from '../../files/filename.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { NewRunFile, RunFile, RunFiles } from '../../tools/run-files.ts';

export interface RunFilesDeps {
  readonly settings: Pick<Settings, 'CHAT_FILE_MAX_BYTES' | 'CHAT_FILES_MAX'>;
  readonly storage: Pick<Storage, 'conversations' | 'blobs' | 'links'>;
  publicUrl(): string;
  now(): Date;
  newId(kind: IdKind): string;
}

/** Largest file that a stateless run answers as a data URL. */
const dataUrlBytesMax = 1_000_000;
/** Most files, and bytes of them, that one stateless run makes. */
const statelessFilesMax = 50;
const statelessBytesMax = 50_000_000;

/** The files of a run: those of its chat, or for a stateless run those that its own calls made, and those of the chat that it goes on from. */
export function openRunFiles(
  deps: RunFilesDeps,
  { chatId = null, readsFilesOf, charge }: Pick<RunPlan, 'chatId' | 'readsFilesOf' | 'charge'>,
): RunFiles {
  if (chatId !== null) return new ChatFiles(deps, charge.orgId, chatId);
  const earlier = readsFilesOf === undefined ? undefined : new ChatFiles(deps, charge.orgId, readsFilesOf);
  return new StatelessFiles(deps, charge.orgId, earlier);
}

class ChatFiles implements RunFiles {
  readonly #deps: RunFilesDeps;
  readonly #orgId: string;
  readonly #chatId: string;

  constructor(deps: RunFilesDeps, orgId: string, chatId: string) {
    this.#deps = deps;
    this.#orgId = orgId;
    this.#chatId = chatId;
  }

  async list(): Promise<readonly RunFile[]> {
    const files = await this.#deps.storage.conversations.chatFiles.listOf([this.#chatId]);
    const takenNames = new Set<string>();
    return files.flatMap(({ id, filename, mimeType, sizeBytes, status, metadata, source }) => {
      if (status !== 'UPLOADED') return [];
      const name = freeFilename(filename, takenNames);
      takenNames.add(name);
      const madeBy = source === 'SYSTEM' && typeof metadata.call === 'string' ? metadata.call : null;
      return [{ id, filename: name, mimeType, sizeBytes, madeBy }];
    });
  }

  async read({ id }: Pick<RunFile, 'id'>, bytesMax: number, signal: AbortSignal): Promise<Buffer> {
    const file = await this.#deps.storage.conversations.chatFiles.find(this.#chatId, id);
    if (file === undefined || file.blobKey === null) throw new DomainError('NOT_FOUND', 'There is no such file in this chat');
    requireSize(file.sizeBytes, bytesMax);
    const bytes = await this.#deps.storage.blobs.read(file.blobKey);
    signal.throwIfAborted();
    return bytes;
  }

  async save({ filename, mimeType, bytes }: NewRunFile, key: string): Promise<OutputFile> {
    const { settings, storage, newId, now } = this.#deps;
    requireSize(bytes.length, settings.CHAT_FILE_MAX_BYTES);
    const safeName = safeFilename(filename);
    const files = await storage.conversations.chatFiles.listOf([this.#chatId]);
    const before = files.find(({ metadata }) => metadata.call === key && metadata.name === safeName);
    if (before !== undefined) return this.#outputOf(before);
    const name = freeFilename(safeName, new Set(files.map((file) => file.filename)));
    const blobKey = `${this.#orgId}/chat-files/${newId('upload')}`;
    await storage.blobs.put(blobKey, bytes, settings.CHAT_FILE_MAX_BYTES);
    const row = {
      ...({ id: newId('chatFile'), createdAt: now(), chatId: this.#chatId, source: 'SYSTEM', filename: name } as const),
      ...({ sizeBytes: bytes.length, mimeType, metadata: { call: key, name: safeName }, status: 'UPLOADED', blobKey } as const),
    };
    const isStored = await storage.conversations.chatFiles.create(row, settings.CHAT_FILES_MAX).catch(async (error: unknown) => {
      await storage.blobs.delete(blobKey);
      throw error;
    });
    if (isStored) return this.#outputOf(row);
    await storage.blobs.delete(blobKey);
    throw new DomainError('CONFLICT', `A chat has at most ${settings.CHAT_FILES_MAX} files: delete one first`);
  }

  async replace({ id, filename, mimeType, madeBy }: RunFile, bytes: Buffer, key: string): Promise<OutputFile> {
    const { settings, storage, newId } = this.#deps;
    requireSize(bytes.length, settings.CHAT_FILE_MAX_BYTES);
    if (madeBy === null) return this.save({ filename, mimeType, bytes }, key);
    const file = await storage.conversations.chatFiles.find(this.#chatId, id);
    if (file === undefined) throw new DomainError('NOT_FOUND', 'There is no such file in this chat');
    const blobKey = `${this.#orgId}/chat-files/${newId('upload')}`;
    await storage.blobs.put(blobKey, bytes, settings.CHAT_FILE_MAX_BYTES);
    const content = { blobKey, sizeBytes: bytes.length, metadata: { ...file.metadata, call: key } };
    const replacement = await storage.conversations.chatFiles.replace(this.#chatId, id, content).catch(async (error: unknown) => {
      await storage.blobs.delete(blobKey);
      throw error;
    });
    if (replacement === false) {
      await storage.blobs.delete(blobKey);
      throw new DomainError('NOT_FOUND', 'There is no such file in this chat');
    }
    if (replacement.unused !== undefined) await storage.blobs.delete(replacement.unused);
    return this.#outputOf({ ...file, ...content });
  }

  #outputOf({ id, chatId, filename, mimeType, sizeBytes }: Omit<ChatFile, 'deletedAt'>): OutputFile {
    return { fileId: id, filename, mimeType, sizeBytes, url: signedFileAddress(this.#deps, { chatId, fileId: id }) };
  }
}

class StatelessFiles implements RunFiles {
  readonly #deps: RunFilesDeps;
  readonly #orgId: string;
  readonly #earlier: RunFiles | undefined;
  readonly #files = new Map<string, NewRunFile & { readonly madeBy: string }>();

  constructor(deps: RunFilesDeps, orgId: string, earlier: RunFiles | undefined) {
    this.#deps = deps;
    this.#orgId = orgId;
    this.#earlier = earlier;
  }

  async list(signal: AbortSignal): Promise<readonly RunFile[]> {
    const earlier = (await this.#earlier?.list(signal)) ?? [];
    const own = Array.from(this.#files, ([id, { filename, mimeType, bytes, madeBy }]) => ({
      ...{ id, filename, mimeType, sizeBytes: bytes.length, madeBy },
    }));
    // Earlier files are like those of a person: a change makes a new file of the run.
    return [...earlier.map((file) => ({ ...file, madeBy: null })), ...own];
  }

  async read(fileReference: Pick<RunFile, 'id'>, bytesMax: number, signal: AbortSignal): Promise<Buffer> {
    const file = this.#files.get(fileReference.id);
    if (file === undefined && this.#earlier !== undefined) return this.#earlier.read(fileReference, bytesMax, signal);
    if (file === undefined) throw new DomainError('NOT_FOUND', 'There is no such file in this run');
    requireSize(file.bytes.length, bytesMax);
    return file.bytes;
  }

  async save({ filename: originalName, mimeType, bytes }: NewRunFile, key: string, signal: AbortSignal): Promise<OutputFile> {
    const takenNames = new Set((await this.list(signal)).map(({ filename }) => filename));
    return this.#keep({ filename: freeFilename(safeFilename(originalName), takenNames), mimeType, bytes }, key);
  }

  async replace({ filename, mimeType, madeBy }: RunFile, bytes: Buffer, key: string, signal: AbortSignal): Promise<OutputFile> {
    if (madeBy === null) return this.save({ filename, mimeType, bytes }, key, signal);
    return this.#keep({ filename, mimeType, bytes }, key);
  }

  async #keep({ filename, mimeType, bytes }: NewRunFile, madeBy: string): Promise<OutputFile> {
    const { settings, storage, newId } = this.#deps;
    const sizeBytes = bytes.length;
    requireSize(sizeBytes, settings.CHAT_FILE_MAX_BYTES);
    const others = [...this.#files.values()].filter((file) => file.filename !== filename);
    const totalBytes = others.reduce((sum, file) => sum + file.bytes.length, sizeBytes);
    if (others.length >= statelessFilesMax || totalBytes > statelessBytesMax) {
      throw new DomainError('CONFLICT', `A run makes at most ${statelessFilesMax} files of ${statelessBytesMax} bytes together`);
    }
    this.#files.set(filename, { filename, mimeType, bytes, madeBy });
    const about = { fileId: null, filename, mimeType, sizeBytes };
    // A page of such an address would be part of what the client shows: only images, by their bytes, are in it.
    const isImage = inlineImageTypes.includes(mimeType) && detectImageType(bytes) === mimeType;
    if (isImage && sizeBytes <= dataUrlBytesMax) return { ...about, url: `data:${mimeType};base64,${bytes.toString('base64')}` };
    // No row names this blob, so the sweep of blobs deletes it once the link has expired.
    const blobKey = runFileKey(this.#orgId, newId('upload'));
    await storage.blobs.put(blobKey, bytes, settings.CHAT_FILE_MAX_BYTES);
    return { ...about, url: signedFileAddress(this.#deps, { blobKey, filename, sizeBytes, mimeType }) };
  }
}

const runFilesKind = 'run-files';

function runFileKey(orgId: string, id: string): string {
  return `${orgId}/${runFilesKind}/${id}`;
}

/** Whether a link may still open the blob of a stateless run's file. Links are signed after the blob is written, so it is kept for twice their life. */
export function isLinkedRunFile(blobKey: string, now: Date): boolean {
  const [, kind, id = ''] = blobKey.split('/');
  return kind === runFilesKind && now.getTime() < timeOfId(id).getTime() + 2 * fileLinkLifeMs;
}

function requireSize(sizeBytes: number, bytesMax: number): void {
  if (sizeBytes <= bytesMax) return;
  throw new DomainError('REQUEST_TOO_LARGE', `The file has ${sizeBytes} bytes; at most ${bytesMax} are taken`);
}
