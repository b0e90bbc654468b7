import { constants, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { newestMigration } from '../migrations/migrations-folder.ts';
import { measureFreeBytes } from '../opening/folders.ts';
import { StartRefusal } from '../opening/start-refusal.ts';
import { forgetMigration, isUpgrading, notedMigration, noteUpgrade } from './data-folder.ts';
import { lockFolder } from './lock.ts';
import { flushTree } from './new-database.ts';

/** What a start did before its migrations: kept a copy of the files of the database, or had no room for one. */
export type UpgradeCopy =
  | { readonly kind: 'kept'; readonly path: string; readonly sizeBytes: number }
  | { readonly kind: 'no room'; readonly sizeBytes: number; readonly freeBytes: number };

/** The copy of the files of the database, from before the last upgrade. */
export function upgradeCopyPath(dataDir: string): string {
  return join(dataDir, 'database.before-upgrade');
}

/** What the files of the database take. */
export function measureDatabase(dataDir: string): number {
  return measureSize(join(dataDir, 'database'));
}

/** What the copy of an existing database would take; undefined when the last program that opened it knew the same migrations. */
export function neededCopy(dataDir: string): { readonly sizeBytes: number } | undefined {
  const database = join(dataDir, 'database');
  if (!existsSync(database) || readdirSync(database).length === 0) return undefined;
  const migration = notedMigration(dataDir);
  const newest = newestMigration();
  // A database of a newer program is refused when it is opened.
  if (migration !== undefined && Number.parseInt(migration, 10) >= Number.parseInt(newest, 10)) return undefined;
  // A start that was killed among its migrations has made the copy: another one would be of a database that no version knows.
  if (isUpgrading(dataDir) && existsSync(upgradeCopyPath(dataDir))) return undefined;
  return { sizeBytes: measureDatabase(dataDir) };
}

/**
 * Copies the files of the database before a program with other migrations opens it. One copy is kept: the last one. It appears whole or not at all.
 * Call it while the folder is locked and its database closed.
 *
 * @param freeMinBytes  must stay free on the disk.
 */
export async function copyBeforeUpgrade(dataDir: string, freeMinBytes: number): Promise<UpgradeCopy | undefined> {
  const copyNeed = neededCopy(dataDir);
  if (copyNeed === undefined) return undefined;
  const { sizeBytes } = copyNeed;
  const path = upgradeCopyPath(dataDir);
  const temporaryPath = `${path}.unfinished`;
  rmSync(temporaryPath, { recursive: true, force: true });
  const hasRoom = () => measureFreeBytes(dataDir) >= sizeBytes + freeMinBytes;
  if (!hasRoom()) rmSync(path, { recursive: true, force: true });
  if (!hasRoom()) return { kind: 'no room', sizeBytes, freeBytes: measureFreeBytes(dataDir) };
  // Where the file system can, the copy shares the bytes until one of the two changes them.
  await cp(join(dataDir, 'database'), temporaryPath, { recursive: true, mode: constants.COPYFILE_FICLONE });
  await flushTree(temporaryPath);
  rmSync(path, { recursive: true, force: true });
  renameSync(temporaryPath, path);
  noteUpgrade(dataDir, newestMigration());
  return { kind: 'kept', path, sizeBytes };
}

/**
 * Puts the copy in the place of the database, which stays beside it. Can be repeated after a crash.
 *
 * @returns where the database of after the upgrade is now.
 * @throws StartRefusal without a copy, when an earlier database lies beside it already, or when a process uses the folder.
 */
export function putCopyBack(dataDir: string): string {
  const [database, copy] = [join(dataDir, 'database'), upgradeCopyPath(dataDir)];
  const aside = join(dataDir, 'database.after-upgrade');
  if (!existsSync(copy))
    throw new StartRefusal(`There is no copy from before an upgrade (${copy}). Restore the whole data folder from a backup.`);
  const unlock = lockFolder(dataDir);
  try {
    if (existsSync(database)) {
      if (existsSync(aside)) throw new StartRefusal(`${aside} is there already. Move it away or delete it, and repeat this.`);
      renameSync(database, aside);
    }
    renameSync(copy, database);
    forgetMigration(dataDir);
    return aside;
  } finally {
    unlock();
  }
}

function measureSize(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.reduce((sum, path) => sum + (statSync(join(folder, path), { throwIfNoEntry: false })?.size ?? 0), 0);
}
