import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { checkSize, chunksOf } from '../content.ts';
import type { S3Client } from './client.ts';
import { S3Error } from './errors.ts';
import { textOf } from './xml.ts';

/** Content up to this size is one request, larger content is sent in parts of it. Stores take parts from 5 MiB on. One upload holds one part. */
export const partBytes = 8 * 1024 * 1024;

/** The content itself broke off, such as by a client that left: no fault of the store. */
export class ContentFailure extends Error {
  override readonly name = 'ContentFailure';
}

const octets = { 'content-type': 'application/octet-stream' };

/** Sends content under a key. The store shows it when all of it is there, and not before; what breaks off is taken back. @throws ContentFailure */
export async function upload(client: S3Client, key: string, content: Readable | Uint8Array, sizeBytesMax: number) {
  const hash = createHash('sha256');
  const waiting = new Waiting();
  let sizeBytes = 0;
  let parts: Parts | undefined;
  try {
    for await (const chunk of watched(content)) {
      sizeBytes += chunk.length;
      checkSize(sizeBytes, sizeBytesMax);
      hash.update(chunk);
      waiting.add(chunk);
      while (waiting.sizeBytes > partBytes) {
        parts ??= await Parts.begin(client, key);
        await parts.send(waiting.take(partBytes));
      }
    }
    const rest = waiting.take(waiting.sizeBytes);
    if (parts === undefined)
      await client.send({ method: 'PUT', key, headers: octets, body: rest }).then(({ body }) => body.dump());
    else {
      await parts.send(rest);
      await parts.complete(sizeBytes);
    }
    return { sizeBytes, sha256: hash.digest('hex') };
  } catch (error) {
    // The sweep takes away what cannot be taken back now.
    await parts?.abort().catch(() => undefined);
    throw error;
  }
}

async function* watched(content: Readable | Uint8Array): AsyncIterable<Uint8Array> {
  try {
    yield* chunksOf(content);
  } catch (error) {
    throw new ContentFailure('the content broke off', { cause: error });
  }
}

/** Bytes that were read and not sent. */
class Waiting {
  #chunks: Uint8Array[] = [];
  sizeBytes = 0;

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.sizeBytes += chunk.length;
  }

  /** The first so many bytes. */
  take(bytes: number): Uint8Array {
    const all = this.#chunks.length === 1 ? (this.#chunks[0] ?? new Uint8Array()) : Buffer.concat(this.#chunks);
    this.#chunks = all.length > bytes ? [all.subarray(bytes)] : [];
    this.sizeBytes = all.length - Math.min(bytes, all.length);
    return all.subarray(0, bytes);
  }
}

/** An upload in parts. */
class Parts {
  readonly #client: S3Client;
  readonly #key: string;
  readonly #id: string;
  readonly #tags: string[] = [];

  constructor(client: S3Client, key: string, id: string) {
    this.#client = client;
    this.#key = key;
    this.#id = id;
  }

  static async begin(client: S3Client, key: string): Promise<Parts> {
    const id = textOf(await client.text({ method: 'POST', key, query: { uploads: '' } }), 'UploadId');
    if (id === undefined) throw new S3Error(200, 'NoUploadId', `POST of ${key}`);
    return new Parts(client, key, id);
  }

  async send(body: Uint8Array): Promise<void> {
    const query = { partNumber: String(this.#tags.length + 1), uploadId: this.#id };
    const reply = await this.#client.send({ method: 'PUT', key: this.#key, query, body });
    await reply.body.dump();
    this.#tags.push(String(reply.headers.etag ?? ''));
  }

  async complete(sizeBytes: number): Promise<void> {
    const rows = this.#tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag.replaceAll('"', '&quot;')}</ETag></Part>`,
    );
    const body = Buffer.from(`<CompleteMultipartUpload>${rows.join('')}</CompleteMultipartUpload>`);
    const query = { uploadId: this.#id };
    const headers = { 'content-type': 'application/xml' };
    try {
      const reply = await this.#client.text({ method: 'POST', key: this.#key, query, headers, body });
      // The store begins its answer before it knows how it ends.
      if (reply.includes('<Error>')) throw new S3Error(500, textOf(reply, 'Code') ?? '', `POST of ${this.#key}`);
    } catch (error) {
      // The reply to the first try may have been lost, and a second one finds no upload any more.
      if (!(error instanceof S3Error) || error.code !== 'NoSuchUpload' || !(await this.#isThere(sizeBytes))) throw error;
    }
  }

  async abort(): Promise<void> {
    const reply = await this.#client.send({ method: 'DELETE', key: this.#key, query: { uploadId: this.#id } });
    await reply.body.dump();
  }

  async #isThere(sizeBytes: number): Promise<boolean> {
    const { headers, body } = await this.#client.send({ method: 'HEAD', key: this.#key });
    await body.dump();
    return headers['content-length'] === String(sizeBytes) && String(headers.etag).includes(`-${this.#tags.length}`);
  }
}
