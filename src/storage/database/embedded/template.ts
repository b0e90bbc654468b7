import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zstdDecompressSync } from 'node:zlib';
import { makeFolderSync } from '../../../lib/folders.ts';

/** Where the prepared empty database for the installed PGlite is kept. Another version finds none and makes its database from nothing. */
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
  if (existsSync(templatePath)) unpack(zstdDecompressSync(readFileSync(templatePath)), unfinished);
  else await makeNew(unfinished);
  await flush(unfinished);
  renameSync(unfinished, folder);
  await flushOne(dirname(folder));
}

/** Several at a time: a file system writes them down together. */
async function flush(folder: string): Promise<void> {
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

/** Unpacks a tar archive of plain files and folders. */
function unpack(archive: Buffer, folder: string): void {
  const blockSize = 512;
  makeFolderSync(folder);
  let offset = 0;
  while (offset + blockSize <= archive.length && archive[offset] !== 0) {
    const header = archive.subarray(offset, offset + blockSize);
    const path = join(folder, textAt(header, 345, 155), textAt(header, 0, 100));
    const size = Number.parseInt(textAt(header, 124, 12), 8);
    const isFolder = textAt(header, 156, 1) === '5';
    offset += blockSize;
    makeFolderSync(isFolder ? path : dirname(path));
    if (!isFolder) writeFileSync(path, archive.subarray(offset, offset + size), { mode: 0o600 });
    offset += Math.ceil(size / blockSize) * blockSize;
  }
}

function textAt(header: Buffer, offset: number, length: number): string {
  const field = header.toString('latin1', offset, offset + length);
  const end = field.indexOf('\0');
  return end === -1 ? field : field.slice(0, end);
}

function pgliteVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const { version } = JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')) as { version: string };
  return version;
}
