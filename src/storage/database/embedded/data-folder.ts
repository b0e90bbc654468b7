import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../../lib/write-whole.ts';
import { StartRefusal } from '../start-refusal.ts';

/** What stands in `parley.json`, beside the database: whether there ever was one, and which. */
interface FolderNote {
  readonly format: 1;
  /** Null until the first start is complete. */
  readonly databaseId: string | null;
}

/** Without one of these PostgreSQL makes a new database or does not start. */
const centralFiles = ['PG_VERSION', 'base', 'global/pg_control', 'global/pg_filenode.map', 'pg_wal', 'pg_xact', 'pg_multixact'];

/**
 * Checks a data folder before its database is opened, so that one that has lost parts is never filled anew.
 *
 * @throws StartRefusal when files of the database are missing, or the folder is of a newer Parley.
 */
export function checkDataFolder(dataDir: string): void {
  const note = readNote(dataDir);
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
  const noted = readNote(dataDir)?.databaseId;
  if (noted === databaseId) return;
  if (typeof noted === 'string') {
    throw new StartRefusal(
      `The data folder ${dataDir} belongs to the database ${noted}, but has the database ${databaseId} in it. ` +
        'Restore the whole data folder from one backup.',
    );
  }
  writeNote(dataDir, { format: 1, databaseId });
}

function readNote(dataDir: string): FolderNote | undefined {
  const path = notePath(dataDir);
  if (!existsSync(path)) return undefined;
  const note = parse(readFileSync(path, 'utf8'));
  if (note?.format === 1) return note;
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
