import { createReadStream, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createZstdDecompress } from 'node:zlib';
import { unpackTar } from 'modern-tar/fs';
import { makeFolderSync } from '../../../lib/files/folders.ts';

/**
 * Where the prepared empty database for the installed PGlite is kept. Another version finds none and makes its database from nothing, which
 * takes 11 s of CPU instead of 4: more than a first start may take. Reasons: docs/decisions/start.md.
 */
export const templatePath = fileURLToPath(new URL(`./template-${pgliteVersion()}.tar.zst`, import.meta.url));

/**
 * Puts an empty database into `folder` unless one is there: unpacked from the template in a fraction of a second, or made by `makeNew`
 * in some seconds where no template fits. The folder appears complete or not at all, also after a power failure, so a first start that is cut
 * off can be repeated.
 *
 * @param makeNew  creates a database in a folder that does not exist yet, and closes it.
 */
export async function prepareDatabaseFolder(folder: string, makeNew: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(folder) && readdirSync(folder).length > 0) return;
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  if (existsSync(templatePath)) await unpack(unfinished);
  else await makeNew(unfinished);
  await flushTree(unfinished);
  renameSync(unfinished, folder);
  await flushOne(dirname(folder));
}

async function unpack(folder: string): Promise<void> {
  makeFolderSync(folder);
  const files = unpackTar(folder, { dmode: 0o700, fmode: 0o600 });
  await pipeline(createReadStream(templatePath), createZstdDecompress(), files);
}

/** Flushes a folder with everything in it, several files at a time: a file system writes them down together. */
export async function flushTree(folder: string): Promise<void> {
  const paths = [folder, ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))];
  const left = paths.values();
  const work = async () => {
    for (const path of left) await flushOne(path);
  };
  await Promise.all(Array.from({ length: flushedAtOnce }, work));
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

function pgliteVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const { version } = JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')) as { version: string };
  return version;
}
