import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { unpackTar } from 'modern-tar/fs';
import { makeFolderSync } from '../../../lib/files/folders.ts';

/** What stands in a folder that had no database. */
export interface NewDatabase {
  /** Whether it has its schema, as the prepared database has; else it is empty. */
  readonly isPrepared: boolean;
  /** What is flushed of it: all of it. */
  readonly flushedPaths: readonly string[];
}

/**
 * Puts a new database into `folder` unless one is there: a copy of the prepared one, or else an empty one, unpacked from a package because making one
 * (`initdb`) takes PGlite three seconds. The folder appears complete or not at all, also after a power failure, so a first start that is cut off can be
 * repeated.
 *
 * @param preparedPath  of a prepared database; default: that of this program. Need not be there.
 * @returns undefined for a database that was there.
 */
export async function prepareDatabaseFolder(folder: string, preparedPath?: string): Promise<NewDatabase | undefined> {
  if (existsSync(folder) && readdirSync(folder).length > 0) return undefined;
  const temporaryFolder = `${folder}.unfinished`;
  const isPrepared = await unpackPrepared(temporaryFolder, preparedPath);
  if (!isPrepared) await unpackEmpty(temporaryFolder);
  await flushTree(temporaryFolder);
  renameSync(temporaryFolder, folder);
  await flushOne(dirname(folder));
  return { isPrepared, flushedPaths: listTree(folder) };
}

/** @returns false where no prepared database is there, or where its file cannot be read: a start goes on without it. */
async function unpackPrepared(folder: string, preparedPath: string | undefined): Promise<boolean> {
  const { preparedDatabasePath, readPreparedDatabase } = await import('./prepared-database.ts');
  const path = preparedPath ?? preparedDatabasePath();
  if (!existsSync(path)) return false;
  try {
    const entries = await readPreparedDatabase(path);
    makeEmptyFolder(folder);
    for (const { name, data } of entries) {
      if (data === undefined) mkdirSync(join(folder, name), 0o700);
      else writeFileSync(join(folder, name), data, { flag: 'wx', mode: 0o600 });
    }
    return true;
  } catch (error) {
    // The same disk: an empty database finds no room either.
    if (isFull(error)) throw error;
    return false;
  }
}

async function unpackEmpty(folder: string): Promise<void> {
  const { dataDir } = await import('@electric-sql/pglite-prepopulatedfs');
  const archive = await dataDir();
  makeEmptyFolder(folder);
  await pipeline(archive.stream(), createGunzip(), unpackTar(folder, { dmode: 0o700, fmode: 0o600 }));
}

function makeEmptyFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  makeFolderSync(folder);
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
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
