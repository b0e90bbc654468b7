import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { checkSize, toChunks } from '../content.ts';
import { type Bucket, toObjectPlace } from './client.ts';

/** Content up to this size is one request, larger content is sent in parts of it. One upload holds one part in memory. */
export const partBytes = 8 * 1024 * 1024;

/** The content itself broke off, such as by a client that left: no fault of the store. */
export class ContentFailure extends Error {
  override readonly name = 'ContentFailure';
}

/** Sends content under a key. The store shows it when all of it is there, and not before; what breaks off is taken back. @throws ContentFailure */
export async function upload(bucket: Bucket, key: string, content: Readable | Uint8Array, sizeBytesMax: number) {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let failure: ContentFailure | undefined;
  const object = toObjectPlace(bucket, key);
  const params = { ...object, Body: Readable.from(counted(), { objectMode: false }), ContentType: 'application/octet-stream' };
  try {
    await new Upload({ client: bucket.client, params, queueSize: 1, partSize: partBytes }).done();
  } catch (error) {
    // What cannot be taken back now, the sweep takes away.
    if (failure !== undefined) throw failure;
    // The reply to the first try of the last request may have been lost; a second one finds no upload any more.
    const isEnded = error instanceof Error && error.name === 'NoSuchUpload';
    if (!isEnded || !(await isThere())) throw error;
  }
  return { sizeBytes, sha256: hash.digest('hex') };

  async function* counted(): AsyncIterable<Uint8Array> {
    try {
      for await (const chunk of toChunks(content)) {
        sizeBytes += chunk.length;
        checkSize(sizeBytes, sizeBytesMax);
        hash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      failure = new ContentFailure('the content broke off', { cause: error });
      throw failure;
    }
  }

  /** Whether the store has the content of this upload: parts show in its tag. */
  async function isThere(): Promise<boolean> {
    const { ContentLength, ETag = '' } = await bucket.client.send(new HeadObjectCommand(object));
    return ContentLength === sizeBytes && ETag.includes(`-${Math.ceil(sizeBytes / partBytes)}`);
  }
}
