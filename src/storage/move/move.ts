// Raw SQL: PostgreSQL's own statistics, and tables that are named at run time.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Pool } from 'pg';
import { displayValue } from '../../lib/text/display-value.ts';
import type { Settings } from '../../settings.ts';
import { readBlobAddress } from '../blobs/address.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { openBlobs } from '../blobs/open.ts';
import { type MoveMark, noteMigration, readMoveMark, setMoveMark } from '../ground/embedded/data-folder.ts';
import { startEmbedded } from '../ground/embedded/embedded.ts';
import { migrate } from '../ground/migrations/migrate.ts';
import { newestMigration } from '../ground/migrations/migrations-folder.ts';
import { storedId, storeId } from '../ground/opening/installation.ts';
import { hasTable, openPool } from '../ground/opening/pool.ts';
import { checkServer } from '../ground/opening/server-check.ts';
import { markFolder } from '../ground/opening/shared-files.ts';
import { StartRefusal } from '../ground/opening/start-refusal.ts';
import { prepareVectors } from '../ground/vectors/vector-extension.ts';
import { makeVectorIndexes } from '../ground/vectors/vector-indexes.ts';
import { copyTable, readBack } from './copy-table.ts';
import { compareFiles, copyFiles, type FileCount } from './files.ts';
import { MoveProgress } from './progress.ts';
import { type MovedTable, makePartitions, readTables, setSequences } from './tables.ts';

export interface MoveOptions {
  /** Those of the folder that is moved: DATA_DIR, and BLOB_URL where it has one. */
  readonly settings: Settings;
  /** The URL of the database that gets the rows. */
  readonly to: string;
  /** Where the files go, as in BLOB_URL; undefined leaves them where they are. */
  readonly blobs: string | undefined;
  /** Makes the tables of the job queue, or brings them to this version. */
  readonly prepareJobs: (pool: Pool) => Promise<void>;
  readonly onProgress: (line: string) => void;
}

export interface MoveReport {
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  readonly files: FileCount | undefined;
  /** Names of tables that are left out, because the server lacks pgvector. */
  readonly withoutVectors: readonly string[];
}

/**
 * Copies an embedded database, and its files where a place for them is named, and compares every row and every byte. The folder is marked from the
 * beginning, so that no Parley changes it meanwhile or afterwards. A move that is killed goes on when it is repeated.
 *
 * @throws StartRefusal when the folder or the target cannot be used.
 */
export async function move(options: MoveOptions): Promise<MoveReport> {
  const { settings, to, onProgress } = options;
  const dataDir = resolve(settings.DATA_DIR);
  const target = openPool({ connectionString: to, max: 4, application_name: 'parley-move' }, { onLost: () => undefined });
  try {
    await checkServer(target);
    const progress = new MoveProgress(target);
    const filledMoveId = await progress.moveId();
    onProgress('opening the data folder');
    const server = await startEmbedded(dataDir, settings, failMove, { isMoving: true });
    const source = openPool({ ...server.connection, max: 2 }, { onLost: () => undefined });
    try {
      const mark = readMoveMark(dataDir);
      if (mark?.isDone === true) return await endAgain(mark, filledMoveId, progress);
      const moveId = mark?.moveId ?? randomUUID();
      const problem = await targetProblem(target, filledMoveId, moveId);
      if (problem !== undefined) throw new StartRefusal(`The new database cannot be filled: ${problem}`);
      await migrate(source);
      noteMigration(dataDir, newestMigration());
      const id = (await storedId(source)) ?? (await storeId(source, randomUUID()));
      const files = await openFiles(options, filledMoveId !== undefined);
      try {
        const moveView = {
          to: displayValue('DATABASE_URL', to),
          files: options.blobs === undefined ? null : displayValue('BLOB_URL', options.blobs),
        };
        setMoveMark(dataDir, { moveId, ...moveView, isDone: false });
        if (filledMoveId === undefined) await progress.begin(moveId);
        const report = await copyEverything(options, source, target, files, progress);
        const place = readBlobAddress({ ...settings, ...(options.blobs === undefined ? {} : { BLOB_URL: options.blobs }) });
        if (place.kind === 'folder') markFolder(resolve(place.path), id);
        setMoveMark(dataDir, { moveId, ...moveView, isDone: true });
        await progress.end();
        return report;
      } finally {
        await files?.source.close();
        await files?.target.close();
      }
    } finally {
      await source.end();
      await server.close();
    }
  } finally {
    await target.end();
  }
}

interface MovedFiles {
  readonly source: Blobs;
  readonly target: Blobs;
}

async function copyEverything(
  { prepareJobs, onProgress }: MoveOptions,
  source: Pool,
  target: Pool,
  files: MovedFiles | undefined,
  progress: MoveProgress,
): Promise<MoveReport> {
  onProgress('making the tables');
  await migrate(target);
  await prepareJobs(source);
  await prepareJobs(target);
  const tables = await readTables(source);
  const withoutVectors = await makeVectorTables(target, tables);
  await makePartitions(
    target,
    tables.filter(({ name }) => !withoutVectors.includes(name)),
  );
  const movedTables = tables.filter(({ name }) => !withoutVectors.includes(name));
  for (const [index, table] of movedTables.entries()) {
    if ((await progress.table(table.name)) !== undefined) continue;
    const line = (doneRows: number) =>
      `copying ${table.name} (table ${index + 1} of ${movedTables.length}): ${Math.floor(100 * doneRows)} %`;
    onProgress(line(0));
    await copyTable(
      source,
      target,
      table,
      (client, { rows, digest }) => progress.noteTable(client, table.name, rows, digest),
      (done) => onProgress(line(done)),
    );
  }
  await setSequences(source, target);
  if (await hasTable(target, 'chunk_embeddings')) {
    onProgress('building the indexes of vectors');
    await makeVectorIndexes(target);
  }
  if (files !== undefined)
    await copyFiles(files.source, files.target, progress, (count) => onProgress(`copying files: ${count.files}`));
  onProgress('gathering statistics');
  await target.query('ANALYZE');
  const counts: { name: string; rows: number }[] = [];
  for (const table of movedTables) {
    onProgress(`comparing ${table.name}`);
    counts.push({ name: table.name, rows: await compareTable(target, table, progress) });
  }
  const comparedFiles =
    files === undefined
      ? undefined
      : await compareFiles(files.source, files.target, progress, (count) => onProgress(`comparing files: ${count.files}`));
  return { tables: counts, files: comparedFiles, withoutVectors };
}

/** @returns the number of rows. @throws Error when the target has others than were read from the source. */
async function compareTable(target: Pool, table: MovedTable, progress: MoveProgress): Promise<number> {
  const expectedTable = await progress.table(table.name);
  const foundTable = await readBack(target, table);
  if (expectedTable?.rows !== foundTable.rows || expectedTable.digest !== foundTable.digest)
    throw new Error(
      `${table.name} has ${foundTable.rows} rows that are not the ${expectedTable?.rows} of the folder: something else writes to the new database`,
    );
  return foundTable.rows;
}

/** They say which vectors are there. Without them, a later start with pgvector makes all vectors anew. */
const vectorMarks = ['public.item_embeddings', 'public.source_embeddings'];

/**
 * Makes the tables that no migration makes: those of vectors, which need pgvector.
 *
 * @returns the names of those that the target cannot have, or shall not. @throws Error for a table that is missing for another reason.
 */
async function makeVectorTables(target: Pool, tables: readonly MovedTable[]): Promise<readonly string[]> {
  if ((await missingTables(target, tables)).length === 0) return [];
  const vectors = await prepareVectors(target);
  const missing = await missingTables(target, tables);
  if (missing.length > 0 && vectors.kind !== 'missing') throw new Error(`the new database lacks ${missing.join(', ')}`);
  return missing.length === 0 ? [] : [...missing, ...vectorMarks];
}

async function missingTables(target: Pool, tables: readonly MovedTable[]): Promise<readonly string[]> {
  const { rows } = await target.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL',
    [tables.map(({ name }) => name)],
  );
  return rows.map(({ name }) => name);
}

async function openFiles({ settings, blobs }: MoveOptions, isBegun: boolean): Promise<MovedFiles | undefined> {
  if (blobs === undefined || blobs === settings.BLOB_URL) return undefined;
  const source = await openBlobs(settings, () => undefined);
  const target = await openBlobs({ ...settings, BLOB_URL: blobs }, () => undefined);
  if (!isBegun && (await target.holdsOrganizations()))
    throw new StartRefusal(`${displayValue('BLOB_URL', blobs)} holds files of another Parley. Name an empty place.`);
  return { source, target };
}

/** Why a database cannot be filled: something is in it that this move has not copied. */
export async function targetProblem(
  target: Pool,
  filledMoveId: string | undefined,
  moveId: string | undefined,
): Promise<string | undefined> {
  if (filledMoveId !== undefined)
    return filledMoveId === moveId
      ? undefined
      : 'it holds a part of another move, or of one that was given up. Make it anew (dropdb, createdb), and repeat this.';
  if (!(await hasTable(target, 'tenants'))) return undefined;
  const isEmpty = (await target.query('SELECT FROM tenants LIMIT 1')).rowCount === 0;
  return isEmpty ? undefined : 'it is in use: an organization is in it. Name an empty one (createdb).';
}

/** All is copied; the process ended before it had said so in the target. */
async function endAgain(mark: MoveMark, filledMoveId: string | undefined, progress: MoveProgress): Promise<MoveReport> {
  if (filledMoveId !== mark.moveId) throw new StartRefusal(`This folder was moved to ${mark.to} before.`);
  await progress.end();
  return { tables: [], files: undefined, withoutVectors: [] };
}

function failMove(error: Error): never {
  throw error;
}
