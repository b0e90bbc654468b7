import type { S3Client } from './client.ts';
import { partsOf, textOf } from './xml.ts';

export interface Entry {
  readonly key: string;
  readonly at: Date;
}

export interface Page<T> {
  readonly entries: readonly T[];
  /** By how much the clock of the store is ahead of ours. */
  readonly aheadMs: number;
}

/** The most that S3 gives. */
const pageMax = 1_000;

/** Keys that begin with a prefix (without the bucket's own), some at a time. */
export async function* objects(client: S3Client, ownPrefix: string, prefix: string): AsyncIterable<Page<Entry>> {
  let token: string | undefined;
  do {
    const query = { 'list-type': '2', prefix: ownPrefix + prefix, 'max-keys': String(pageMax) };
    const reply = await client.send({
      method: 'GET',
      query: token === undefined ? query : { ...query, 'continuation-token': token },
    });
    const xml = await reply.body.text();
    yield {
      entries: partsOf(xml, 'Contents').map((part) => entryOf(part, 'LastModified', ownPrefix)),
      aheadMs: aheadOf(reply.headers.date),
    };
    token = textOf(xml, 'IsTruncated') === 'true' ? textOf(xml, 'NextContinuationToken') : undefined;
  } while (token !== undefined);
}

export interface OpenUpload extends Entry {
  readonly id: string;
}

/** Uploads in parts that were begun and not ended. */
export async function* openUploads(client: S3Client, ownPrefix: string): AsyncIterable<Page<OpenUpload>> {
  let marker: Readonly<Record<string, string>> | undefined = {};
  while (marker !== undefined) {
    const reply = await client.send({ method: 'GET', query: { uploads: '', prefix: ownPrefix, ...marker } });
    const xml = await reply.body.text();
    const entries = partsOf(xml, 'Upload').map((part) => ({
      ...entryOf(part, 'Initiated', ownPrefix),
      id: textOf(part, 'UploadId') ?? '',
    }));
    yield { entries, aheadMs: aheadOf(reply.headers.date) };
    const [key, id] = [textOf(xml, 'NextKeyMarker'), textOf(xml, 'NextUploadIdMarker')];
    const isMore = textOf(xml, 'IsTruncated') === 'true' && key !== undefined && id !== undefined;
    marker = isMore ? { 'key-marker': key, 'upload-id-marker': id } : undefined;
  }
}

function entryOf(xml: string, time: string, ownPrefix: string): Entry {
  return { key: (textOf(xml, 'Key') ?? '').slice(ownPrefix.length), at: new Date(textOf(xml, time) ?? '') };
}

function aheadOf(date: string | string[] | undefined): number {
  const storeMs = Date.parse(String(date));
  return Number.isNaN(storeMs) ? 0 : storeMs - Date.now();
}
