import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../../lib/files/write-whole.ts';
import { StartRefusal } from '../opening/start-refusal.ts';

/** What stands in `parley.json`, beside the database: whether there ever was one, and which. */
interface FolderNote {
  /** 2 while the data is being moved, and afterwards: an older Parley refuses it. */
  readonly format: 1 | 2;
  /** Null until the first start is complete. */
  readonly databaseId: string | null;
  /** The newest migration of the program that last opened the database. Absent in folders of older programs. */
  readonly migration?: string;
  /** The newest migration of the program that copied the database and has not applied all of its migrations yet. */
  readonly upgradingTo?: string;
  readonly moved?: MoveMark;
}

/** That the data is being moved to a server (`parley move`), or was. */
export interface MoveMark {
  readonly moveId: string;
  /** Where the rows and the files go, without passwords. Null: the files stay. */
  readonly to: string;
  readonly files: string | null;
  readonly isDone: boolean;
}

/** Without one of these PostgreSQL makes a new database or does not start. */
const centralFiles = ['PG_VERSION', 'base', 'global/pg_control', 'global/pg_filenode.map', 'pg_wal', 'pg_xact', 'pg_multixact'];

/**
 * Checks a data folder before its database is opened, so that one that has lost parts is never filled anew.
 *
 * @param isMoving  the data is opened to be moved.
 * @throws StartRefusal when files of the database are missing, the folder is of a newer Parley, or its data was moved.
 */
export function checkDataFolder(dataDir: string, isMoving = false): void {
  const note = readNote(dataDir);
  if (note?.moved !== undefined && !isMoving) throw new StartRefusal(movedReason(dataDir, note.moved));
  const database = join(dataDir, 'database');
  if (isFilled(database)) {
    const missing = centralFiles.filter((path) => !existsSync(join(database, path)));
    if (missing.length > 0) {
      throw new StartRefusal(
        `The database in ${database} lacks ${missing.join(', ')}, so it cannot be opened. Nothing was changed. ` +
          `Restore the data folder from a backup, or name another folder with DATA_DIR.`,
      );
    }
    return;
  }
  const traces = ['master.key', 'blobs'].filter((name) => existsSync(join(dataDir, name)) && hasContent(join(dataDir, name)));
  const wasComplete = note === undefined ? traces.length > 0 : note.databaseId !== null;
  if (wasComplete) {
    throw new StartRefusal(
      `The data folder ${dataDir} was in use before, but its database (${database}) is gone. Nothing was changed. ` +
        'Restore the data folder from a backup. To begin with an empty database, name another folder with DATA_DIR.',
    );
  }
  if (note === undefined) writeNote(dataDir, { format: 1, databaseId: null });
}

/**
 * Notes which database the folder has, at its first start; compares later.
 *
 * @throws StartRefusal when the folder has another database than it had.
 */
export function confirmDatabase(dataDir: string, databaseId: string): void {
  const notedId = readNote(dataDir)?.databaseId;
  if (notedId === databaseId) return;
  if (typeof notedId === 'string') {
    throw new StartRefusal(
      `The data folder ${dataDir} belongs to the database ${notedId}, but has the database ${databaseId} in it. ` +
        'Restore the whole data folder from one backup.',
    );
  }
  writeNote(dataDir, { ...(readNote(dataDir) ?? { format: 1 }), databaseId });
}

export function readMoveMark(dataDir: string): MoveMark | undefined {
  return readNote(dataDir)?.moved;
}

/** Marks the folder, so that nothing opens its database but a move. Undefined takes the mark away. */
export function setMoveMark(dataDir: string, nextMark: MoveMark | undefined): void {
  const { moved: _former, ...note } = readNote(dataDir) ?? { format: 1, databaseId: null };
  writeNote(dataDir, nextMark === undefined ? { ...note, format: 1 } : { ...note, format: 2, moved: nextMark });
}

function movedReason(dataDir: string, { to, files, isDone }: MoveMark): string {
  if (!isDone)
    return (
      `The data of ${dataDir} is being moved to ${to}, and the move has not ended. Nothing was changed. ` +
      'Repeat the command parley move, which goes on where it was, or give it up: parley move --undo.'
    );
  const place = files === null ? '' : `, its files to ${files}`;
  const settings = files === null ? 'DATABASE_URL' : 'DATABASE_URL and BLOB_URL';
  return (
    `The data of ${dataDir} was moved to ${to}${place}. Nothing was changed. Set ${settings} to these places. ` +
    'To use the folder again as it was before the move, without what was written since: parley move --undo.'
  );
}

/** The newest migration of the program that last opened the database; undefined when it is not noted. */
export function notedMigration(dataDir: string): string | undefined {
  return readNote(dataDir)?.migration;
}

/** Call it when all migrations are applied. */
export function noteMigration(dataDir: string, migration: string): void {
  const { upgradingTo, ...note } = readNote(dataDir) ?? { format: 1, databaseId: null };
  if (note.migration !== migration || upgradingTo !== undefined) writeNote(dataDir, { ...note, migration });
}

/** Call it when the copy from before an upgrade is there, and before the first migration. */
export function noteUpgrade(dataDir: string, upgradingTo: string): void {
  writeNote(dataDir, { ...(readNote(dataDir) ?? { format: 1, databaseId: null }), upgradingTo });
}

/** Whether an upgrade has begun and not ended: the database may have a part of its migrations. */
export function isUpgrading(dataDir: string): boolean {
  return readNote(dataDir)?.upgradingTo !== undefined;
}

/** Another database stands in the folder than the one that was noted: the next start looks for itself. */
export function forgetMigration(dataDir: string): void {
  const { migration: _former, upgradingTo: _begun, ...note } = readNote(dataDir) ?? { format: 1, databaseId: null };
  writeNote(dataDir, note);
}

function readNote(dataDir: string): FolderNote | undefined {
  const path = notePath(dataDir);
  if (!existsSync(path)) return undefined;
  const note = parse(readFileSync(path, 'utf8'));
  if (note?.format === 1 || (note?.format === 2 && note.moved !== undefined)) return note;
  throw new StartRefusal(
    `${path} cannot be read by this version of Parley. Start the version that made it, or restore the data folder from a backup.`,
  );
}

function parse(text: string): FolderNote | undefined {
  try {
    return JSON.parse(text) as FolderNote;
  } catch {
    return undefined;
  }
}

function writeNote(dataDir: string, note: FolderNote): void {
  writeWhole(notePath(dataDir), `${JSON.stringify(note)}\n`);
}

function notePath(dataDir: string): string {
  return join(dataDir, 'parley.json');
}

function isFilled(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length > 0;
}

/** A file, or a folder with something in it. */
function hasContent(path: string): boolean {
  try {
    return readdirSync(path).some((name) => !name.startsWith('.'));
  } catch {
    return true;
  }
}
