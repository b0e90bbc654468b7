import { unreadableKind } from '../../extract/readable.ts';
import type { ListedItem } from '../connector.ts';

/** Why a file is listed and not read, by what its service says about it; undefined when it is to be read. */
export function unfitReason(
  file: { readonly filename: string; readonly mimeType: string; readonly sizeBytes: number | null },
  bytesMax: number,
): ListedItem['skipped'] {
  const kind = unreadableKind(file.filename, file.mimeType);
  if (kind !== undefined) return { code: 'UNSUPPORTED', message: `The file is ${kind}: it holds no text that could be read.` };
  const { sizeBytes } = file;
  if (sizeBytes === null || sizeBytes <= bytesMax) return undefined;
  return { code: 'TOO_LARGE', message: `The file has ${sizeBytes} bytes; the limit is ${bytesMax} (UPLOAD_MAX_BYTES).` };
}
