import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { prepareJobTables } from '../../src/engine/jobs/jobs.ts';
import { displayValue } from '../../src/lib/text/display-value.ts';
import { loadSettings, type Settings } from '../../src/settings.ts';
import { databaseProblem } from '../../src/start/checks/database.ts';
import { parseBlobAddress } from '../../src/storage/blobs/address.ts';
import { StartRefusal } from '../../src/storage/ground/opening/start-refusal.ts';
import { checkMove, type MovePlan } from '../../src/storage/move/check.ts';
import { type MoveReport, move } from '../../src/storage/move/move.ts';
import { undoMove } from '../../src/storage/move/undo.ts';
import { masterKeyPath } from '../../src/storage/vault/master-keys.ts';
import type { Typed } from './arguments.ts';
import { Failure, failed, misused } from './failure.ts';
import { nothingHere } from './local.ts';
import type { Screen } from './output/screen.ts';
import { size } from './output/size.ts';
import { table } from './output/table.ts';

export const moveHelp = `parley move --to <DATABASE_URL> [--blobs <BLOB_URL>] [--check]

Copies the embedded database in DATA_DIR to an empty database of a PostgreSQL server, and its files to a bucket. Stop the service first.
Every row and every file is compared at the end. The folder is marked: from the beginning on nothing else opens its database. A move that
was interrupted goes on when the command is repeated.

  --to       the URL of the new database, as in DATABASE_URL. PGPASSWORD may hold the password
  --blobs    where the files go, as in BLOB_URL: s3://bucket or file:///shared/folder. Without it they stay where they are
  --check    says what would be moved, and changes nothing
  --undo     takes the mark away: the folder can be used again, without what was written to the new database

Example:
  parley move --to postgres://parley@db.example.com/parley --blobs s3://parley-files`;

/** `parley move`: what to print. @throws Failure */
export async function moveData({ words, options, switches }: Typed, env: NodeJS.ProcessEnv, screen: Screen): Promise<string> {
  if (switches.has('help')) return moveHelp;
  const surplus = [...words.slice(1), ...[...options.keys()].filter((name) => name !== 'to' && name !== 'blobs')];
  if (surplus.length > 0) throw misused(`move does not take "${surplus.join(' ')}". Type move --help to see an example.`);
  const settings: Settings = { ...loadSettings({ LOG_LEVEL: 'error', ...env }), DATABASE_URL: undefined };
  if (!existsSync(join(settings.DATA_DIR, 'database'))) throw nothingHere();
  const to = options.get('to')?.at(-1);
  const blobs = options.get('blobs')?.at(-1);
  try {
    if (switches.has('undo')) return undone(settings, await undoMove(settings));
    if (to === undefined) throw misused('move needs --to. Type move --help to see an example.');
    if (!/^postgres(ql)?:\/\//.test(to)) throw misused(`--to must be postgres://user:password@host:5432/database.`);
    if (blobs !== undefined) parseBlobAddress(blobs);
    if (switches.has('check')) return planned(await checkMove(settings, to), blobs);
    const report = await move({
      settings,
      to,
      blobs,
      prepareJobs: prepareJobTables,
      onProgress: (line) => screen.progress(line),
    });
    screen.progress('');
    return moved(settings, to, blobs, report);
  } catch (error) {
    screen.progress('');
    throw failureOf(error, to);
  }
}

function failureOf(error: unknown, to: string | undefined): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error;
  if (error instanceof StartRefusal) return failed(error.message);
  const problem = databaseProblem(error, { DATABASE_URL: to });
  const reason = problem === undefined ? error.message : [problem.message, problem.advice].join(' ').trim();
  return failed(`${reason}\nThe move has not ended. Repeat the command: it goes on where it was.`);
}

function planned({ tables, files, sizeBytes, targetProblem, hasMark }: MovePlan, blobs: string | undefined): string {
  const rows = tables
    .filter((one) => one.rows > 0)
    .map(({ name, rows, sizeBytes: bytes }) => ({ table: name, rows, size: size(bytes) }));
  return [
    table(rows),
    '',
    `${tables.reduce((sum, one) => sum + one.rows, 0)} rows, ${size(sizeBytes)}; ${files} files${blobs === undefined ? ', which stay where they are' : ''}.`,
    ...(hasMark ? ['A move of this folder has begun; it goes on where it was.'] : []),
    targetProblem === undefined
      ? 'The new database can be filled. Nothing was changed.'
      : `The new database cannot be filled: ${targetProblem}`,
  ].join('\n');
}

function moved(settings: Settings, to: string, blobs: string | undefined, { tables, files, withoutVectors }: MoveReport): string {
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  const key = settings.PARLEY_MASTER_KEY === undefined ? [`  PARLEY_MASTER_KEY_FILE=${resolve(masterKeyPath(settings))}`] : [];
  const place = blobs ?? settings.BLOB_URL;
  return [
    `Moved and compared: ${rows} rows in ${tables.length} tables${files === undefined ? '' : `, ${files.files} files (${size(files.sizeBytes)})`}.`,
    ...(withoutVectors.length === 0
      ? []
      : [
          'The server has no pgvector: vectors were left out. They are made anew once the extension "vector" is installed there.',
        ]),
    `The database in ${resolve(settings.DATA_DIR)} is as it was, and nothing opens it any more (parley move --undo takes that back).`,
    '',
    'Start Parley with these settings:',
    `  DATABASE_URL=${displayValue('DATABASE_URL', to)}`,
    ...(place === undefined ? [] : [`  BLOB_URL=${displayValue('BLOB_URL', place)}`]),
    ...key,
    ...(place === undefined
      ? ['', `The files stay in ${resolve(settings.DATA_DIR)}: more than one instance needs BLOB_URL (parley move --blobs).`]
      : []),
  ].join('\n');
}

function undone({ DATA_DIR }: Settings, to: string | undefined): string {
  if (to === undefined) return `The data of ${resolve(DATA_DIR)} was not moved; nothing was changed.`;
  return (
    `The folder ${resolve(DATA_DIR)} can be used again, as it was before the move. What was written to ${to} since is not in it. ` +
    'Before another move, make that database anew.'
  );
}
