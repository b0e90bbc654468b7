import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DomainError } from '../../entities/errors.ts';
import type { Settings } from '../../settings.ts';
import { ExtractError, type Extractor } from './extract/extract.ts';
import type { DocumentBytes } from './extract/read-document.ts';

/** Sets the bytes aside in a file, as the reader process wants them, and takes the text out. */
export async function readGivenFile(
  extractor: Extractor,
  settings: Settings,
  { bytes, filename, mimeType }: DocumentBytes,
  param: string,
  signal: AbortSignal,
): Promise<string> {
  if (bytes.byteLength > settings.CHAT_FILE_MAX_BYTES) {
    throw new DomainError('INVALID_VALUE', `${param} must hold at most ${settings.CHAT_FILE_MAX_BYTES} bytes`, { param });
  }
  const folder = await mkdtemp(join(tmpdir(), 'parley-file-'));
  try {
    const path = join(folder, 'file');
    await writeFile(path, bytes);
    const limits = {
      timeoutMs: settings.EXTRACT_TIMEOUT_MS,
      memoryMaxBytes: settings.EXTRACT_MEMORY_MAX_BYTES,
      textMaxChars: settings.EXTRACT_TEXT_MAX_CHARS,
    };
    return (await extractor.extract({ path, filename, mimeType }, limits, signal)).text;
  } catch (error) {
    if (error instanceof ExtractError) throw new DomainError('INVALID_VALUE', `${param}: ${error.message}`, { param });
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
