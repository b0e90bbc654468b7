import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DomainError } from '../../entities/ground/errors.ts';
import type { FairQueue } from '../../lib/flow/fair-queue.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import type { Settings } from '../../settings.ts';
import type { DocumentBytes, ExtractedDocument } from './extract/document.ts';
import { ExtractError, type Extractor } from './extract/extract.ts';

/** The extractor for files of prompts, with its places. */
export interface AttachmentReader {
  readonly extractor: Extractor;
  readonly places: FairQueue;
  readonly settings: Settings;
}

/** Waits for a place of the owner, writes the bytes to a file for the reader process, and extracts the document. */
export async function readAttachmentText(
  { extractor, places, settings }: AttachmentReader,
  owner: ShareOwner,
  { bytes, filename, mimeType }: DocumentBytes,
  param: string,
  signal: AbortSignal,
): Promise<ExtractedDocument> {
  if (bytes.byteLength > settings.CHAT_FILE_MAX_BYTES) {
    throw new DomainError('INVALID_VALUE', `${param} must hold at most ${settings.CHAT_FILE_MAX_BYTES} bytes`, { param });
  }
  await places.take(owner, signal);
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), 'parley-file-'));
    const path = join(folder, 'file');
    await writeFile(path, bytes);
    const limits = {
      timeoutMs: settings.EXTRACT_TIMEOUT_MS,
      memoryMaxBytes: settings.EXTRACT_MEMORY_MAX_BYTES,
      textMaxChars: settings.EXTRACT_TEXT_MAX_CHARS,
    };
    return await extractor.extract({ path, filename, mimeType }, limits, signal);
  } catch (error) {
    if (error instanceof ExtractError)
      throw new DomainError(error.isRetryable ? 'OVERLOADED' : 'INVALID_VALUE', `${param}: ${error.message}`, { param });
    throw error;
  } finally {
    places.give(owner);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}
