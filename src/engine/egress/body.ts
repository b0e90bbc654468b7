import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { EgressError } from './error.ts';

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
/** Servers use one; a chain of them is how a small body becomes a huge one. */
const decodingsMax = 2;

/**
 * Reads a reply's body, decoded, into memory.
 *
 * @param encoding  the reply's Content-Encoding.
 * @param bytesMax  counted after decoding, so a compressed bomb stops where a plain body would.
 * @throws EgressError TOO_LARGE, BAD_ENCODING.
 */
export async function readBody(body: Readable, encoding: string | undefined, bytesMax: number): Promise<Buffer> {
  // A body that is given up emits an error later; without a listener that would end the process.
  body.on('error', () => {});
  const names = (encoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  const makers = names.toReversed().map((name) => decoders[name]);
  if (makers.length > decodingsMax || makers.includes(undefined)) {
    body.destroy();
    throw new EgressError('BAD_ENCODING', `the reply is encoded as "${names.join(', ')}", which is not read`);
  }
  let source = body;
  for (const make of makers) {
    if (make === undefined) continue;
    const decoder = make();
    const from = source;
    from.on('error', (error) => decoder.destroy(error));
    source = from.pipe(decoder);
  }
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > bytesMax) throw new EgressError('TOO_LARGE', `the reply is larger than ${bytesMax} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^(Z_|ERR_BROTLI|ERR__ERROR|BR)/.test(String(error.code))) {
      throw new EgressError('BAD_ENCODING', 'the reply is not encoded as it says');
    }
    throw error;
  } finally {
    body.destroy();
  }
  return Buffer.concat(chunks);
}
