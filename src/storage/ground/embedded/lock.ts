import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartRefusal } from '../opening/start-refusal.ts';

/** Two processes on one folder lose rows silently, so the second one must not start. */
export class FolderInUseError extends StartRefusal {
  override readonly name = 'FolderInUseError';
}

/**
 * Takes a folder for this process alone. The lock is an open transaction of SQLite on an empty file: a lock of the operating system, so
 * it ends with the process however that dies, holds between containers that share the folder, and works on every platform.
 *
 * @returns the release.
 * @throws FolderInUseError naming the folder and what to do.
 */
export function lockFolder(folder: string): () => void {
  const ownerPath = join(folder, 'parley.pid');
  const lock = new DatabaseSync(join(folder, 'parley.lock'));
  try {
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new FolderInUseError(
      `The data folder ${folder} is in use by another Parley process${describeOwner(ownerPath)}. ` +
        'Stop that process, or give this one another folder with DATA_DIR. To use several cores, set PROCESSES; several instances need a PostgreSQL server: set DATABASE_URL.',
    );
  }
  noteOwner(ownerPath);
  let isHeld = true;
  return () => {
    if (isHeld) lock.close();
    isHeld = false;
  };
}

/** Only for the message to a second process, so a full disk may prevent it. */
function noteOwner(path: string): void {
  try {
    writeFileSync(path, `${process.pid}\n`);
  } catch {
    // The message names no owner then.
  }
}

function isBusy(error: unknown): boolean {
  const busy = 5;
  return error instanceof Error && 'errcode' in error && error.errcode === busy;
}

function describeOwner(path: string): string {
  try {
    return ` (pid ${Number.parseInt(readFileSync(path, 'utf8'), 10)})`;
  } catch {
    return '';
  }
}
