import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const ownerOnly = 0o700;

/**
 * Makes a folder and its missing parents. Node's own `recursive` never returns where a folder exists but nothing can be made in it,
 * such as below /proc; this function tries each folder at most twice.
 *
 * @throws Error of the file system, with its code: ENOTDIR or EEXIST when a file is in the way.
 */
export function makeFolderSync(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  try {
    mkdirSync(path, ownerOnly);
  } catch (error) {
    if (readCode(error) !== 'ENOENT') throw error;
    makeFolderSync(dirname(path));
    mkdirSync(path, ownerOnly);
  }
}

/** The same without blocking. Concurrent calls may make the same folder. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, ownerOnly);
  } catch (error) {
    if (readCode(error) === 'ENOENT') {
      await makeFolder(dirname(path));
      await mkdir(path, ownerOnly).catch((again: unknown) => unlessFolder(again, path));
    } else await unlessFolder(error, path);
  }
}

async function unlessFolder(error: unknown, path: string): Promise<void> {
  const isFolder = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isFolder) throw error;
}

function readCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
