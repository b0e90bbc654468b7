import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import type { S3Address } from '../address.ts';
import type { Blobs } from '../blobs.ts';
import { checkKey, isKey } from '../content.ts';
import { type Bucket, openBucket, type S3Settings, toObjectPlace } from './client.ts';
import { download } from './download.ts';
import { isMissing, isUnknownOperation, refusal, translated } from './errors.ts';
import { ContentFailure, upload } from './upload.ts';

const deletesAtOnce = 16;
/** Stores tell times in whole seconds. */
const clockToleranceMs = 2_000;

export interface S3Blobs extends Blobs {
  /** Writes, reads and deletes a blob of its own. @throws StartRefusal */
  probe(): Promise<void>;
}

/**
 * Blobs in a bucket of an S3-compatible store, which several instances share.
 *
 * @param onFailure  gets what the store or the way to it did wrong; callers only learn that it cannot be reached.
 * @throws StartRefusal when the bucket cannot be listed.
 */
export async function openS3Blobs(
  address: S3Address,
  settings: S3Settings,
  onFailure: (error: Error) => void = () => undefined,
): Promise<S3Blobs> {
  const bucket = openBucket(address, settings);
  const translate = (error: unknown) => translated(error, onFailure);
  const translateErrors = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      // Errors of the content itself, such as a client that left, stay what they are.
      throw error instanceof ContentFailure ? error.cause : translate(error);
    });
  const blobs: S3Blobs = {
    put: async (key, content, sizeBytesMax) => translateErrors(upload(bucket, checkKey(key), content, sizeBytesMax)),
    get: async (key) => translateErrors(download(bucket, checkKey(key), translate)),
    read: async (key) => buffer(await blobs.get(key)),
    delete: async (key) => translateErrors(remove(bucket, checkKey(key))),
    async *listOlder(before) {
      const { client } = bucket;
      // The client notes by how much the clock of the store differs from ours, from five minutes on.
      const isOld = (at: Date | undefined) =>
        at !== undefined && at.getTime() < before.getTime() + client.config.systemClockOffset - clockToleranceMs;
      await abandonUploads(bucket, isOld, onFailure);
      for await (const entries of objects(bucket, '')) {
        const keys = entries.filter(({ key, at }) => isKey(key) && isOld(at)).map(({ key }) => key);
        if (keys.length > 0) yield keys;
      }
    },
    deleteOrganization: async (orgId) => translateErrors(removeBelow(bucket, `${checkKey(orgId)}/`)),
    async holdsOrganizations() {
      for await (const entries of objects(bucket, 'org_')) return entries.length > 0;
      return false;
    },
    async probe() {
      const key = `parley-probe/${randomUUID()}`;
      try {
        await upload(bucket, key, Buffer.from('probe'), 5);
        await buffer(await download(bucket, key, (error) => error));
        await remove(bucket, key);
      } catch (error) {
        throw refusal(address.bucket, error);
      }
    },
    close: async () => bucket.client.destroy(),
  };

  try {
    await blobs.holdsOrganizations();
  } catch (error) {
    bucket.client.destroy();
    throw refusal(address.bucket, error);
  }
  return blobs;
}

async function remove(bucket: Bucket, key: string): Promise<void> {
  try {
    await bucket.client.send(new DeleteObjectCommand(toObjectPlace(bucket, key)));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function removeBelow(bucket: Bucket, prefix: string): Promise<void> {
  for await (const entries of objects(bucket, prefix)) {
    for (let index = 0; index < entries.length; index += deletesAtOnce) {
      await Promise.all(entries.slice(index, index + deletesAtOnce).map(({ key }) => remove(bucket, key)));
    }
  }
}

interface Entry {
  readonly key: string;
  readonly at: Date | undefined;
}

/** Keys that begin with a prefix (without the bucket's own), a page at a time. */
async function* objects({ client, name, prefix: ownPrefix }: Bucket, prefix: string): AsyncIterable<readonly Entry[]> {
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: name, Prefix: ownPrefix + prefix })) {
    yield Contents.map(({ Key = '', LastModified }) => ({ key: Key.slice(ownPrefix.length), at: LastModified }));
  }
}

/** Takes away the parts of uploads whose process died. Not every store lists them: then its own rules do that. */
async function abandonUploads(
  { client, name, prefix }: Bucket,
  isOld: (at: Date | undefined) => boolean,
  onFailure: (error: Error) => void,
): Promise<void> {
  let place: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } | undefined = {};
  try {
    while (place !== undefined) {
      const page: ListMultipartUploadsCommandOutput = await client.send(
        new ListMultipartUploadsCommand({ Bucket: name, Prefix: prefix, ...place }),
      );
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (isOld(Initiated)) await client.send(new AbortMultipartUploadCommand({ Bucket: name, Key, UploadId }));
      }
      const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page;
      const isMore = IsTruncated === true && NextKeyMarker !== undefined && NextUploadIdMarker !== undefined;
      place = isMore ? { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker } : undefined;
    }
  } catch (error) {
    if (!isUnknownOperation(error)) onFailure(error instanceof Error ? error : new Error(String(error)));
  }
}
