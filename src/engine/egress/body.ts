import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { EgressError } from './error.ts';
import type { WireCount } from './wire-count.ts';

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
/** Servers use one; a chain of encodings makes a huge body of a small one. */
const decodingsMax = 2;
const blockBytes = 64 * 1024;

/**
 * Decodes a reply's body while it arrives, in blocks of 64 KiB, so that a body of one-byte chunks costs no more memory than another.
 *
 * @param encoding  the reply's Content-Encoding.
 * @param isPrompt  gives every chunk on at once.
 * @throws EgressError TOO_LARGE, BAD_ENCODING; and the errors of the body itself.
 */
export async function* decodedBlocks(
  body: Readable,
  encoding: string | undefined,
  count: WireCount,
  isPrompt = false,
): AsyncGenerator<Buffer, void, undefined> {
  const source = decode(body, encoding, count);
  let block = Buffer.allocUnsafe(blockBytes);
  let length = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      count.addBody(chunk.length);
      if (isPrompt) {
        yield chunk;
        continue;
      }
      for (let start = 0; start < chunk.length; ) {
        const byteCount = chunk.copy(block, length, start);
        start += byteCount;
        length += byteCount;
        if (length < blockBytes) continue;
        yield block;
        block = Buffer.allocUnsafe(blockBytes);
        length = 0;
      }
    }
  } catch (error) {
    const isEncodingFault =
      error instanceof Error && 'code' in error && /^(Z_|ERR_BROTLI|ERR__ERROR|BR)/.test(String(error.code));
    throw isEncodingFault ? new EgressError('BAD_ENCODING', 'the reply is not encoded as it says') : error;
  } finally {
    body.destroy();
  }
  if (length > 0) yield block.subarray(0, length);
}

function decode(body: Readable, encoding: string | undefined, count: WireCount): Readable {
  const names = (encoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  const makers = names.toReversed().flatMap((name) => decoders[name] ?? []);
  if (names.length > decodingsMax || makers.length < names.length) {
    body.destroy();
    throw new EgressError('BAD_ENCODING', `the reply is encoded as "${names.join(', ').slice(0, 100)}", which is not read`);
  }
  if (makers.length === 0) return body;
  count.beginDecoding();
  const chain = makers.map((make) => make());
  // An error of any part reaches the last one.
  pipeline([body, ...chain], () => {});
  return chain.at(-1) ?? body;
}
