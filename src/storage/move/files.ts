import { createHash } from 'node:crypto';
import type { Blobs } from '../blobs/blobs.ts';
import type { MovedFile, MoveProgress } from './progress.ts';

const atOnce = 8;
/** Every file is older. */
const always = new Date(8.64e15 / 2);

export interface FileCount {
  readonly files: number;
  readonly sizeBytes: number;
}

/** Copies every file that is not there yet, and compares each with its hash. @throws Error for one whose content differs from what was read. */
export async function copyFiles(
  source: Blobs,
  target: Blobs,
  progress: MoveProgress,
  onProgress: (count: FileCount) => void,
): Promise<FileCount> {
  let count: FileCount = { files: 0, sizeBytes: 0 };
  for await (const keys of source.listOlder(always)) {
    const there = await progress.files(keys);
    await each(keys, async (key) => {
      const file = there.get(key) ?? (await copyFile(source, target, key));
      if (!there.has(key)) await progress.noteFile(file);
      count = { files: count.files + 1, sizeBytes: count.sizeBytes + file.sizeBytes };
      onProgress(count);
    });
  }
  return count;
}

/** Reads every file of the target and compares it with the hash that the copy noted. @throws Error for one that differs. */
export async function compareFiles(
  source: Blobs,
  target: Blobs,
  progress: MoveProgress,
  onProgress: (count: FileCount) => void,
): Promise<FileCount> {
  let count: FileCount = { files: 0, sizeBytes: 0 };
  for await (const keys of source.listOlder(always)) {
    const notedFiles = await progress.files(keys);
    await each(keys, async (key) => {
      const expectedFile = notedFiles.get(key);
      const [original, copy] = await Promise.all([hashBlob(source, key), hashBlob(target, key)]);
      if (original.sha256 !== expectedFile?.sha256 || copy.sha256 !== original.sha256)
        throw new Error(`the file ${key} differs from its copy. Nothing is lost: the source is as it was`);
      count = { files: count.files + 1, sizeBytes: count.sizeBytes + copy.sizeBytes };
      onProgress(count);
    });
  }
  return count;
}

export async function countFiles(source: Blobs): Promise<number> {
  let files = 0;
  for await (const keys of source.listOlder(always)) files += keys.length;
  return files;
}

async function copyFile(source: Blobs, target: Blobs, key: string): Promise<MovedFile> {
  const content = await source.get(key);
  const { sizeBytes, sha256 } = await target.put(key, content, Number.MAX_SAFE_INTEGER);
  return { key, sizeBytes, sha256 };
}

async function hashBlob(blobs: Blobs, key: string): Promise<{ readonly sizeBytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of (await blobs.get(key)) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sizeBytes, sha256: hash.digest('hex') };
}

/** Several at a time. After a failure no further one begins. */
async function each(keys: readonly string[], work: (key: string) => Promise<void>): Promise<void> {
  const remainingKeys = keys.values();
  let isFailed = false;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const key of remainingKeys) {
        if (isFailed) return;
        try {
          await work(key);
        } catch (error) {
          isFailed = true;
          throw error;
        }
      }
    }),
  );
}
