import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { unpackTar } from 'modern-tar/fs';
import { makeFolderSync } from '../../../lib/files/folders.ts';

/**
 * Puts an empty database into `folder` unless one is there. It is unpacked from a package, because making one (`initdb`) takes PGlite three seconds.
 * The folder appears complete or not at all, also after a power failure, so a first start that is cut off can be repeated.
 *
 * @returns undefined for a database that was there; else what is flushed of the new one: all of it.
 */
export async function prepareDatabaseFolder(folder: string): Promise<readonly string[] | undefined> {
  if (existsSync(folder) && readdirSync(folder).length > 0) return undefined;
  const temporaryFolder = `${folder}.unfinished`;
  rmSync(temporaryFolder, { recursive: true, force: true });
  makeFolderSync(temporaryFolder);
  const { dataDir } = await import('@electric-sql/pglite-prepopulatedfs');
  const archive = await dataDir();
  await pipeline(archive.stream(), createGunzip(), unpackTar(temporaryFolder, { dmode: 0o700, fmode: 0o600 }));
  await flushTree(temporaryFolder);
  renameSync(temporaryFolder, folder);
  await flushOne(dirname(folder));
  return listTree(folder);
}

/** Flushes a folder with everything in it, several files at a time: a file system writes them down together. */
export async function flushTree(folder: string): Promise<void> {
  const remainingPaths = listTree(folder).values();
  const work = async () => {
    for (const path of remainingPaths) await flushOne(path);
  };
  await Promise.all(Array.from({ length: flushedAtOnce }, work));
}

function listTree(folder: string): readonly string[] {
  return [folder, ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))];
}

async function flushOne(path: string): Promise<void> {
  try {
    await using file = await open(path);
    await file.sync();
  } catch (error) {
    // Windows flushes no folders, and no files that are only read.
    if (process.platform !== 'win32') throw error;
  }
}

const flushedAtOnce = 8;
