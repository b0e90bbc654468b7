import { open } from 'node:fs/promises';
import { SourceError } from '../error.ts';

/** Writes blocks to a file that is made or emptied. @throws SourceError TOO_LARGE after more than `bytesMax` bytes. */
export async function writeBounded(content: AsyncIterable<Uint8Array>, path: string, bytesMax: number): Promise<number> {
  const file = await open(path, 'w', 0o600);
  let bytes = 0;
  try {
    for await (const block of content) {
      bytes += block.length;
      if (bytes > bytesMax) throw new SourceError('TOO_LARGE', tooLargeMessage(bytesMax));
      await file.writeFile(block);
    }
  } finally {
    await file.close();
  }
  return bytes;
}

export function tooLargeMessage(bytesMax: number): string {
  return `The document has more than ${bytesMax} bytes, which is the limit.`;
}
