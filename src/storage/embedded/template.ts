import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zstdDecompressSync } from 'node:zlib';

/** Where the prepared empty database for the installed PGlite is kept. Another version finds none and makes its database from nothing. */
export const templatePath = fileURLToPath(new URL(`./template-${pgliteVersion()}.tar.zst`, import.meta.url));

/**
 * Puts an empty database into `folder` unless one is there: unpacked from the template in a fraction of a second, or made by `makeNew`
 * in some seconds where no template fits. The folder appears complete or not at all, so a first start that is cut off can be repeated.
 *
 * @param makeNew  creates a database in a folder that does not exist yet, and closes it.
 */
export async function prepareDatabaseFolder(folder: string, makeNew: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  if (existsSync(templatePath)) unpack(zstdDecompressSync(readFileSync(templatePath)), unfinished);
  else await makeNew(unfinished);
  renameSync(unfinished, folder);
}

/** Unpacks a tar archive of plain files and folders. */
function unpack(archive: Buffer, folder: string): void {
  const blockSize = 512;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let offset = 0;
  while (offset + blockSize <= archive.length && archive[offset] !== 0) {
    const header = archive.subarray(offset, offset + blockSize);
    const path = join(folder, textAt(header, 345, 155), textAt(header, 0, 100));
    const size = Number.parseInt(textAt(header, 124, 12), 8);
    const isFolder = textAt(header, 156, 1) === '5';
    offset += blockSize;
    mkdirSync(isFolder ? path : dirname(path), { recursive: true, mode: 0o700 });
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
