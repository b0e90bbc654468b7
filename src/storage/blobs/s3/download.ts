import { Readable } from 'node:stream';
import { GetObjectCommand, type GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { type Bucket, toObjectPlace } from './client.ts';

const breaksMax = 3;

/** Opens the content of a key. A connection that breaks is replaced, and the rest is read from where it broke. @throws what the client throws. */
export async function download(bucket: Bucket, key: string, translate: (error: unknown) => unknown): Promise<Readable> {
  const { ETag, ContentLength, Body } = await bucket.client.send(new GetObjectCommand(toObjectPlace(bucket, key)));
  let body = readable(Body);
  const stream = Readable.from(chunks(), { objectMode: false });
  // Also when nobody has read anything.
  stream.once('close', () => body.destroy());
  return stream;

  async function* chunks(): AsyncIterable<Uint8Array> {
    let sentBytes = 0;
    for (let breaks = 0; ; ) {
      try {
        for await (const chunk of body as AsyncIterable<Uint8Array>) {
          sentBytes += chunk.length;
          yield chunk;
        }
        if (ContentLength !== undefined && sentBytes < ContentLength) throw new Error('the connection broke within the content');
        return;
      } catch (error) {
        breaks += 1;
        if (breaks > breaksMax || ContentLength === undefined) throw translate(error);
        body = await continued(sentBytes).catch((again: unknown) => {
          throw translate(again);
        });
      }
    }
  }

  /** Only of the very same content: it may have been replaced meanwhile. */
  async function continued(fromByte: number): Promise<Readable> {
    const from = { ...toObjectPlace(bucket, key), Range: `bytes=${fromByte}-` };
    const next = await bucket.client.send(new GetObjectCommand(ETag === undefined ? from : { ...from, IfMatch: ETag }));
    if (fromByte > 0 && next.ContentRange === undefined) {
      readable(next.Body).destroy();
      throw new Error('the store does not continue a download');
    }
    return readable(next.Body);
  }
}

function readable(body: GetObjectCommandOutput['Body']): Readable {
  if (!(body instanceof Readable)) throw new Error('the store gave no content');
  return body;
}
