import { Readable } from 'node:stream';
import { type S3Client, type S3Reply, withRetries } from './client.ts';

const breaksMax = 3;

/** Opens the content of a key. A connection that breaks is replaced, and the rest is read from where it broke. @throws S3Error */
export async function download(client: S3Client, key: string, translate: (error: unknown) => unknown): Promise<Readable> {
  let reply = await client.send({ method: 'GET', key });
  const stream = Readable.from(chunks(), { objectMode: false });
  // Also when nobody has read anything.
  stream.once('close', () => reply.body.destroy());
  return stream;

  async function* chunks(): AsyncIterable<Uint8Array> {
    const sizeBytes = Number(reply.headers['content-length']);
    const tag = String(reply.headers.etag ?? '');
    let sentBytes = 0;
    for (let breaks = 0; ; ) {
      try {
        for await (const chunk of reply.body as AsyncIterable<Uint8Array>) {
          sentBytes += chunk.length;
          yield chunk;
        }
        return;
      } catch (error) {
        breaks += 1;
        if (breaks > breaksMax || Number.isNaN(sizeBytes)) throw translate(error);
        reply = await continued(sentBytes, tag).catch((again: unknown) => {
          throw translate(again);
        });
      }
    }
  }

  /** Only of the very same content: it may have been replaced meanwhile. */
  function continued(fromByte: number, tag: string): Promise<S3Reply> {
    const headers = { range: `bytes=${fromByte}-`, ...(tag === '' ? {} : { 'if-match': tag }) };
    return withRetries(async () => {
      const next = await client.send({ method: 'GET', key, headers });
      if (next.statusCode === 206 || fromByte === 0) return next;
      next.body.destroy();
      throw new Error('the store does not continue a download');
    });
  }
}
