import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { S3Address } from '../address.ts';
import type { Blobs } from '../blobs.ts';
import { checkKey, isKey } from '../content.ts';
import { createS3Client, type S3Settings } from './client.ts';
import { download } from './download.ts';
import { isMissing, refusal, S3Error, translated } from './errors.ts';
import { objects, openUploads } from './listing.ts';
import { ContentFailure, upload } from './upload.ts';

const deletesAtOnce = 16;
/** Stores tell times in whole seconds. */
const clockGrainMs = 2_000;

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
  const client = createS3Client(address, settings);
  const translate = (error: unknown) => translated(error, onFailure);
  const guarded = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw translate(error);
    });
  const remove = async (key: string): Promise<void> => {
    try {
      await (await client.send({ method: 'DELETE', key })).body.dump();
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  };
  const blobs: S3Blobs = {
    put: async (key, content, sizeBytesMax) => guardedContent(upload(client, checkKey(key), content, sizeBytesMax)),
    get: async (key) => guarded(download(client, checkKey(key), translate)),
    read: async (key) => buffer(await blobs.get(key)),
    delete: async (key) => guarded(remove(checkKey(key))),
    async *listOlder(before) {
      const isOld = (at: Date, aheadMs: number) => at.getTime() < before.getTime() + aheadMs - clockGrainMs;
      await abandonUploads(isOld);
      for await (const { entries, aheadMs } of objects(client, address.prefix, '')) {
        const keys = entries.filter(({ key, at }) => isKey(key) && isOld(at, aheadMs)).map(({ key }) => key);
        if (keys.length > 0) yield keys;
      }
    },
    async deleteOrganization(orgId) {
      await guarded(
        (async () => {
          for await (const { entries } of objects(client, address.prefix, `${checkKey(orgId)}/`)) {
            for (let index = 0; index < entries.length; index += deletesAtOnce) {
              await Promise.all(entries.slice(index, index + deletesAtOnce).map(({ key }) => remove(key)));
            }
          }
        })(),
      );
    },
    async holdsOrganizations() {
      for await (const { entries } of objects(client, address.prefix, 'org_')) return entries.length > 0;
      return false;
    },
    async probe() {
      const key = `parley-probe/${randomUUID()}`;
      try {
        await upload(client, key, Buffer.from('probe'), 5);
        await buffer(await download(client, key, (error) => error));
        await remove(key);
      } catch (error) {
        throw refusal(address.bucket, error);
      }
    },
    close: () => client.close(),
  };

  /** Errors of the content itself, such as a client that left, stay what they are. */
  function guardedContent<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      throw error instanceof ContentFailure ? error.cause : translate(error);
    });
  }

  /** Takes away the parts of uploads whose process died. Not every store lists them: then its own rules do that. */
  async function abandonUploads(isOld: (at: Date, aheadMs: number) => boolean): Promise<void> {
    try {
      for await (const { entries, aheadMs } of openUploads(client, address.prefix)) {
        for (const { key, id } of entries.filter(({ at }) => isOld(at, aheadMs))) {
          await (await client.send({ method: 'DELETE', key, query: { uploadId: id } })).body.dump();
        }
      }
    } catch (error) {
      const isUnknownThere = error instanceof S3Error && error.status === 501;
      if (!isUnknownThere) onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  }

  try {
    await blobs.holdsOrganizations();
  } catch (error) {
    await client.close();
    throw refusal(address.bucket, error);
  }
  return blobs;
}
