import { createHash, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { access, open, opendir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { DomainError } from '../../entities/ground/errors.ts';
import { makeFolder } from '../../lib/files/folders.ts';
import { measureFreeBytes } from '../ground/opening/folders.ts';
import type { Blobs } from './blobs.ts';
import { checkKey, checkSize, isKey, toChunks } from './content.ts';

const mebibyte = 1024 * 1024;
const temporaryFolder = '.incoming';
const listedAtOnce = 500;
const blockBytes = 64 * 1024;

/**
 * Blobs as files of a folder. A blob is written to a temporary file, flushed to the disk and then renamed, so that a key names the whole blob or
 * nothing, also after a crash.
 *
 * @param freeMinBytes  a write fails with ENOSPC when the disk has less free space than this; the rest of the disk is for the database.
 */
export function createDiskBlobs(folder: string, freeMinBytes = 0): Blobs {
  const root = resolve(folder);
  const toPath = (key: string): string => join(root, checkKey(key));
  return {
    async put(key, content, sizeBytesMax) {
      const path = toPath(key);
      const temporaryPath = join(root, temporaryFolder, randomUUID());
      await makeFolder(dirname(temporaryPath));
      try {
        const fileFacts = await writeAndFlush(temporaryPath, content, sizeBytesMax, () => refuseFull(root, freeMinBytes));
        await makeFolder(dirname(path));
        await rename(temporaryPath, path);
        await flushFolder(dirname(path));
        return fileFacts;
      } catch (error) {
        await rm(temporaryPath, { force: true });
        throw error;
      }
    },
    async get(key) {
      const path = toPath(key);
      await access(path).catch(missing);
      return Readable.from(readBlocks(path), { objectMode: false, highWaterMark: blockBytes });
    },
    read: (key) => readFile(toPath(key)).catch(missing),
    delete: (key) => rm(toPath(key), { force: true }),
    async *listOlder(before) {
      for await (const path of filesBefore(join(root, temporaryFolder), before)) await rm(path, { force: true });
      let keys: string[] = [];
      for await (const path of filesBefore(root, before)) {
        const key = relative(root, path).split(sep).join('/');
        if (isKey(key)) keys.push(key);
        if (keys.length < listedAtOnce) continue;
        yield keys;
        keys = [];
      }
      if (keys.length > 0) yield keys;
    },
    deleteOrganization: (orgId) => rm(toPath(orgId), { force: true, recursive: true }),
    holdsOrganizations: async () => readdirSync(root).some((name) => name.startsWith('org_')),
    close: async () => {},
  };
}

/** Nothing is open before the first block is asked for: Node ends the process when it finds a file that somebody forgot to close. */
async function* readBlocks(path: string): AsyncGenerator<Buffer> {
  await using file = await open(path).catch(missing);
  for (;;) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(blockBytes) });
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Files below a folder that were last written before a moment; files deleted during the walk are skipped. */
async function* filesBefore(folder: string, before: Date): AsyncIterable<string> {
  const entries = await opendir(folder).catch(() => undefined);
  if (entries === undefined) return;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBefore(path, before);
    else if (((await stat(path).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY) < before.getTime()) yield path;
  }
}

/** @param checkRoom  called once for each MiB. */
async function writeAndFlush(path: string, content: Readable | Uint8Array, sizeBytesMax: number, checkRoom: () => void) {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let checkedBytes = -mebibyte;
  await using file = await open(path, 'wx', 0o600);
  for await (const chunk of toChunks(content)) {
    sizeBytes += chunk.length;
    checkSize(sizeBytes, sizeBytesMax);
    if (sizeBytes - checkedBytes >= mebibyte) {
      checkRoom();
      checkedBytes = sizeBytes;
    }
    hash.update(chunk);
    await file.writeFile(chunk);
  }
  await file.sync();
  return { sizeBytes, sha256: hash.digest('hex') };
}

function refuseFull(folder: string, freeMinBytes: number): void {
  if (measureFreeBytes(folder) < freeMinBytes)
    throw Object.assign(new Error('the disk of the blobs is full'), { code: 'ENOSPC' });
}

/** A new name survives a power failure only once its folder is flushed. Some platforms cannot flush folders. */
async function flushFolder(path: string): Promise<void> {
  try {
    await using folder = await open(path);
    await folder.sync();
  } catch (error) {
    if (process.platform !== 'win32') throw error;
  }
}

function missing(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
    throw new DomainError('NOT_FOUND', 'The content is gone');
  }
  throw error;
}
