import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { packTar, type TarEntry, unpackTar } from 'modern-tar';
import { makeFolderSync } from '../../../lib/files/folders.ts';
import { migrationsFolder } from '../migrations/migrations-folder.ts';

/**
 * A database with its schema and without anything of an installation: no id, no key, no organization. It is made once for a program
 * (src/start/prepare-database.ts) and is one file, so that it is there complete or not at all. New data folders begin with a copy of it.
 */
const folder = fileURLToPath(new URL('../../../../.cache/database', import.meta.url));
const suffix = '.tar.zst';

/** Raise it when a prepared database is made in another way. */
const format = 2;
/** What the files of a database depend on, besides the migrations. */
const packages = ['@electric-sql/pglite', '@electric-sql/pglite-prepopulatedfs', 'pg-boss'] as const;

/** Where the prepared database of this program stands, or would stand: a database of other migrations or of another PostgreSQL has another name. */
export function preparedDatabasePath(): string {
  const { dependencies } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
  const hash = createHash('sha256').update(JSON.stringify([format, ...packages.map((name) => dependencies[name])]));
  for (const name of readdirSync(migrationsFolder)
    .filter((entry) => /^\d+_/.test(entry))
    .sort()) {
    const sql = readFileSync(join(migrationsFolder, name, 'migration.sql'));
    hash.update(JSON.stringify([name, sql.length])).update(sql);
  }
  return join(folder, `${hash.digest('hex').slice(0, 32)}${suffix}`);
}

/** A file of a database, or a folder, which has no data. */
interface DatabaseEntry {
  readonly name: string;
  readonly data: Uint8Array | undefined;
}

/**
 * The folders and files of a prepared database, each folder before what is in it. All at once and in this thread: several threads that make files in one
 * folder wait for each other, at twice the processor time.
 *
 * @throws Error for a file that is damaged.
 */
export async function readPreparedDatabase(path: string): Promise<readonly DatabaseEntry[]> {
  const entries = await unpackTar(zstdDecompressSync(readFileSync(path)), { strict: true });
  return entries.map(({ header: { name, type }, data = new Uint8Array() }) => ({
    name,
    data: type === 'directory' ? undefined : data,
  }));
}

/**
 * Keeps the files of a closed database as the prepared one of this program, and removes those of earlier programs. The same files give the same bytes.
 *
 * @param path  of `preparedDatabasePath`.
 */
export async function writePreparedDatabase(path: string, database: string): Promise<void> {
  makeFolderSync(dirname(path));
  const temporaryPath = `${path}.${randomUUID()}`;
  try {
    const archive = zstdCompressSync(await packTar(listEntries(database)), {
      params: { [constants.ZSTD_c_compressionLevel]: 12, [constants.ZSTD_c_checksumFlag]: 1 },
    });
    await writeFile(temporaryPath, archive, { flag: 'wx', mode: 0o644, flush: true });
  } catch (error) {
    rmSync(temporaryPath, { force: true });
    throw error;
  }
  renameSync(temporaryPath, path);
  for (const name of readdirSync(dirname(path)))
    if (name !== basename(path) && name.includes(suffix)) rmSync(join(dirname(path), name), { force: true });
}

/** All folders and files, in one order and without their times. */
function listEntries(database: string): TarEntry[] {
  const names = readdirSync(database, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => {
    const path = join(database, name);
    if (statSync(path).isDirectory()) return { header: { name, size: 0, type: 'directory', mode: 0o700, mtime } };
    const body = readFileSync(path);
    return { header: { name, size: body.length, type: 'file', mode: 0o600, mtime }, body };
  });
}

const mtime = new Date(0);
